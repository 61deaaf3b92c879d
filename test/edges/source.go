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

// Source is a datasource that answers as Prometheus does, with a series for each rule. Whether that of a rule is too high is a
// function of time: it changes at moments that are set before they come.
type Source struct {
	mu    sync.Mutex
	flips [][]time.Time // the first one makes it too high
	asked [][]asked
}

// NewSource returns a datasource with series for so many rules.
func NewSource(rules int) *Source {
	return &Source{flips: make([][]time.Time, rules), asked: make([][]asked, rules)}
}

// asked is an answer that was given.
type asked struct {
	at    time.Time // when
	of    int64     // the moment that was asked about, Unix milliseconds
	query string
	high  bool
}

// Query is the query of a rule. The source takes those that contain it for queries of the rule too.
func Query(rule int) string { return fmt.Sprintf(`load{rule="%d"}`, rule) }

// Config returns the queries and checks of a rule. Half of the rules fire for a row, the other half for a value that is too high.
func Config(rule int) map[string]any {
	queries := []map[string]any{{"name": "A", "expr": Query(rule)}}
	if anyRow(rule) {
		return map[string]any{"queries": queries, "check_anydata": map[string]any{"enabled": true, "severity": "Critical"}}
	}
	return map[string]any{"queries": queries, "check_threshold": map[string]any{"enabled": true, "critical": "$A > 90"}}
}

// high reports whether the series of a rule is too high at a moment. The caller holds the lock.
func (s *Source) high(rule int, at time.Time) bool {
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
func (s *Source) ahead(rule int, at time.Time, high bool) bool {
	return slices.ContainsFunc(s.asked[rule], func(a asked) bool {
		return a.of == at.UnixMilli() && a.high == high && at.After(a.at) && at.Sub(a.at) < maxAhead
	})
}

// Plan adds moments at which the series of a rule changes. They are later than those before.
func (s *Source) Plan(rule int, at ...time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flips[rule] = append(s.flips[rule], at...)
}

// Open returns the rules whose series is too high at a moment.
func (s *Source) Open(at time.Time) (rules []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for rule := range s.flips {
		if s.high(rule, at) {
			rules = append(rules, rule)
		}
	}
	return rules
}

// Last returns the last change that is planned.
func (s *Source) Last() (at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, flips := range s.flips {
		if len(flips) > 0 && flips[len(flips)-1].After(at) {
			at = flips[len(flips)-1]
		}
	}
	return at
}

// FirstAsked returns when each rule was first asked after a moment; false: some were not.
func (s *Source) FirstAsked(after time.Time) (latest time.Time, all bool) {
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

// FirstAskedFor returns when a query of a rule was first asked after a moment; zero: it was not.
func (s *Source) FirstAskedFor(rule int, query string, after time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.asked[rule] {
		if a.query == query && a.at.After(after) {
			return a.at
		}
	}
	return time.Time{}
}

// MostMissed returns how many moments in a row of rules with an interval no one asked about, of the rule with the most. It looks
// at the moments from the last one before a moment on.
func (s *Source) MostMissed(since time.Time, every time.Duration) (most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, list := range s.asked {
		var moments []int64
		for _, a := range list {
			moments = append(moments, a.of)
		}
		slices.Sort(moments)
		for n := 1; n < len(moments); n++ {
			if moments[n] >= since.UnixMilli() {
				most = max(most, int((moments[n]-moments[n-1])/every.Milliseconds())-1)
			}
		}
	}
	return most
}

// ServeHTTP answers a query. A moment that is still to come is answered as the present, as Prometheus does.
func (s *Source) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	query := q.FormValue("query")
	_, text, _ := strings.Cut(query, `rule="`)
	text, _, _ = strings.Cut(text, `"`)
	rule, err := strconv.Atoi(text)
	seconds, wrong := strconv.ParseFloat(q.FormValue("time"), 64)
	if err != nil || wrong != nil || rule < 0 || rule >= len(s.flips) {
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
	s.asked[rule] = append(s.asked[rule], asked{now, of.UnixMilli(), query, high})
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
