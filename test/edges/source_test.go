package edges

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ruleCount is how many rules are evaluated, each on a series of its own.
const ruleCount = 2000

// every is the interval of the rules.
const every = 5 * time.Second

// source is a datasource that answers as Prometheus does. Whether the series of a rule is too high is a function of time:
// it changes at moments that are set before they come.
type source struct {
	mu    sync.Mutex
	flips [ruleCount][]time.Time // the first one makes it too high
	asked [ruleCount][]asked
}

// asked is an answer that was given.
type asked struct {
	at   time.Time // when
	of   int64     // the moment that was asked about, Unix milliseconds
	high bool
}

// high reports whether the series of a rule is too high at a moment. The caller holds the lock.
func (s *source) high(rule int, at time.Time) bool {
	n := 0
	for _, flip := range s.flips[rule] {
		if !flip.After(at) {
			n++
		}
	}
	return n%2 == 1
}

// maxAhead is how far ahead of the source an edge asks at most. An edge takes the time of the server, which it knows to half of
// the time that a reply takes.
const maxAhead = 250 * time.Millisecond

// ahead reports whether the source was asked about a moment a little before it came, and answered so. The caller holds the lock.
func (s *source) ahead(rule int, at time.Time, high bool) bool {
	return slices.ContainsFunc(s.asked[rule], func(a asked) bool {
		return a.of == at.UnixMilli() && a.high == high && at.After(a.at) && at.Sub(a.at) < maxAhead
	})
}

// plan adds moments at which the series of a rule changes. They are later than those before.
func (s *source) plan(rule int, at ...time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flips[rule] = append(s.flips[rule], at...)
}

// open returns the rules whose series is too high at a moment.
func (s *source) open(at time.Time) (rules []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for rule := range ruleCount {
		if s.high(rule, at) {
			rules = append(rules, rule)
		}
	}
	return rules
}

// last returns the last change that is planned.
func (s *source) last() (at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, flips := range s.flips {
		if len(flips) > 0 && flips[len(flips)-1].After(at) {
			at = flips[len(flips)-1]
		}
	}
	return at
}

// firstAsked returns when each rule was first asked after a moment; false: some were not.
func (s *source) firstAsked(after time.Time) (latest time.Time, all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, list := range s.asked {
		n := slices.IndexFunc(list, func(a asked) bool { return a.at.After(after) })
		if n < 0 {
			return latest, false
		}
		if list[n].at.After(latest) {
			latest = list[n].at
		}
	}
	return latest, true
}

// ServeHTTP answers a query. Half of the rules fire for a row, the other half for a value that is too high. A moment that is
// still to come is answered as the present, as Prometheus does.
func (s *source) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	_, text, _ := strings.Cut(q.FormValue("query"), `rule="`)
	text, _, _ = strings.Cut(text, `"`)
	rule, err := strconv.Atoi(text)
	seconds, wrong := strconv.ParseFloat(q.FormValue("time"), 64)
	if err != nil || wrong != nil || rule < 0 || rule >= ruleCount {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	now, of := time.Now(), time.UnixMilli(int64(seconds*1000+0.5))
	about := of
	if of.After(now) {
		about = now
	}
	s.mu.Lock()
	high := s.high(rule, about)
	s.asked[rule] = append(s.asked[rule], asked{now, of.UnixMilli(), high})
	s.mu.Unlock()
	value, row := 12, !anyRow(rule) || high
	if high {
		value = 97
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[`)
	if row {
		fmt.Fprintf(w, `{"metric":{"rule":"%d"},"value":[%d,"%d"]}`, rule, about.Unix(), value)
	}
	fmt.Fprint(w, `]}}`)
}

// anyRow reports whether a rule fires for a row, whatever its value.
func anyRow(rule int) bool { return rule%2 == 1 }
