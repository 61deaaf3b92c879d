package evaluate

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// The model decides from the whole list of answers that were known: it counts nothing, but scans the list at each step. It
// shares no code with the watch but the types of rules and answers.

// term is a condition of a random rule, which evaluates itself.
type term struct {
	op          string // of a comparison, or and, or, not
	query       string
	number      float64
	left, right *term
}

func (t *term) String() string {
	switch t.op {
	case "":
		return ""
	case "not":
		return "not (" + t.left.String() + ")"
	case "and", "or":
		return "(" + t.left.String() + ") " + t.op + " (" + t.right.String() + ")"
	}
	return fmt.Sprintf("$%s %s %v", t.query, t.op, t.number)
}

// holds returns 1 for true, -1 for false and 0 for a missing value.
func (t *term) holds(values map[string]float64) int {
	switch t.op {
	case "not":
		return -t.left.holds(values)
	case "and":
		return min(t.left.holds(values), t.right.holds(values))
	case "or":
		return max(t.left.holds(values), t.right.holds(values))
	}
	v, ok := values[t.query]
	if !ok || math.IsNaN(v) {
		return 0
	}
	if t.op == ">" && v > t.number || t.op == "<=" && v <= t.number {
		return 1
	}
	return -1
}

// modelRule is a random rule with its conditions in the form of the model.
type modelRule struct {
	Rule
	exprs    [4]*term // by severity, Info 1 to Critical 3
	recovery *term
}

// entry is the result of one known answer for an instance.
type entry struct {
	at        int64
	severity  int
	absent    bool
	recovered bool
}

type modelOpen struct {
	severity int
	since    int64
	sent     int64
	repeats  int64
	missing  int64 // of one that was adopted: since when it counts as missing
}

// model is the list of answers so far, with what has begun and not ended.
type model struct {
	entries map[string][]entry
	open    map[string]modelOpen
	base    map[string]string // of nodata: the queries that had the series
	config  Config            // that the last known answer was judged by
	judged  bool
	since   int64
}

func (m *model) clone() *model {
	c := *m
	c.entries = map[string][]entry{}
	for id, list := range m.entries {
		c.entries[id] = slices.Clone(list)
	}
	c.open = maps.Clone(m.open)
	c.base = maps.Clone(m.base)
	return &c
}

// adopt goes on with an older list, and with what is open now.
func (m *model) adopt(now *model) {
	for id, was := range m.open {
		if is, ok := now.open[id]; !ok || is.severity != was.severity || is.since != was.since {
			delete(m.entries, id)
			delete(m.open, id)
		}
	}
	for id, is := range now.open {
		if _, ok := m.open[id]; !ok {
			delete(m.entries, id)
			m.open[id] = modelOpen{severity: is.severity, since: is.since, sent: is.since, missing: is.since}
			if strings.HasPrefix(id, CheckNodata) && m.base[id] == "" {
				m.base[id] = " "
			}
		}
	}
}

// last reports whether there are n last entries of which all are so.
func last(list []entry, n int, so func(entry) bool) bool {
	if len(list) < n {
		return false
	}
	for _, e := range list[len(list)-n:] {
		if !so(e) {
			return false
		}
	}
	return true
}

// known is an answer as the model sees it: per label set and query a value, NaN for a row without one.
type known map[string]map[string]float64

// signals returns the entries of an answer for one check, by label set. Recovery by query is left to recovered.
func (m *model) signals(r *modelRule, check string, at int64, rows known) map[string]entry {
	all := map[string]entry{}
	for set, values := range rows {
		switch check {
		case CheckThreshold:
			e := entry{at: at}
			for s := 3; s > 0 && e.severity == 0; s-- {
				if r.exprs[s] == nil {
					continue
				}
				switch r.exprs[s].holds(values) {
				case 1:
					e.severity = s
				case 0:
					e.absent = true
				}
			}
			mode := r.Config.CheckThreshold.Recovery.Mode
			if e.severity > 0 {
				e.absent = false
			}
			if e.severity == 0 && !e.absent {
				e.recovered = mode == "" || mode == "invert" || mode == "threshold" && r.recovery.holds(values) == 1
			}
			all[set] = e
		case CheckAnydata:
			all[set] = entry{at: at, severity: int(severityOf(r.Config.CheckAnydata.Severity))}
		case CheckNodata:
			has := ""
			for _, q := range slices.Sorted(maps.Keys(values)) {
				if !math.IsNaN(values[q]) {
					has += q
				}
			}
			id := check + "/" + set
			whole := has != ""
			for _, q := range strings.TrimSpace(m.base[id]) {
				whole = whole && strings.ContainsRune(has, q)
			}
			switch {
			case whole:
				all[set] = entry{at: at, recovered: true}
			case m.base[id] != "":
				all[set] = entry{at: at, severity: int(severityOf(r.Config.CheckNodata.Severity))}
			}
			if has != "" && (whole || m.base[id] != "") {
				for _, q := range has {
					if !strings.ContainsRune(m.base[id], q) {
						m.base[id] += string(q)
					}
				}
			}
		}
	}
	for id := range m.union() {
		name, set, _ := strings.Cut(id, "/")
		if _, ok := all[set]; ok || name != check {
			continue
		}
		switch check {
		case CheckThreshold:
			all[set] = entry{at: at, absent: true}
		case CheckAnydata:
			all[set] = entry{at: at, absent: true, recovered: r.Config.CheckAnydata.Recovery.Mode != "ql"}
		case CheckNodata:
			if m.base[id] != "" {
				all[set] = entry{at: at, severity: int(severityOf(r.Config.CheckNodata.Severity))}
			}
		}
	}
	return all
}

func (m *model) union() map[string]bool {
	all := map[string]bool{}
	for id := range m.open {
		all[id] = true
	}
	for id := range m.entries {
		all[id] = true
	}
	for id := range m.base {
		all[id] = true
	}
	return all
}

// move is a transition as the model and the watch are compared.
type move struct {
	id       string
	to       To
	from     int
	severity int
}

func (v move) String() string { return fmt.Sprintf("%s %s %d-%d", v.id, v.to, v.from, v.severity) }

// counts returns how often a check of the rule must hold; 0: the check is off.
func (rule *modelRule) counts(check string) (begin, end int) {
	var c Counts
	switch check {
	case CheckThreshold:
		if rule.Config.CheckThreshold != nil {
			c = rule.Config.CheckThreshold.Counts
		}
	case CheckAnydata:
		if rule.Config.CheckAnydata != nil {
			c = rule.Config.CheckAnydata.Counts
		}
	case CheckNodata:
		if rule.Config.CheckNodata != nil {
			c = rule.Config.CheckNodata.Counts
		}
	}
	if !c.Enabled {
		return 0, 0
	}
	return int(max(c.AlertingCheckTimes, 1)), int(max(c.RecoveryCheckTimes, 1))
}

// step returns the transitions of a known answer. answer returns what the recovery query of an instance returned: 1 a row,
// 0 none, -1 it failed; it is asked for all that may have recovered.
func (m *model) step(r *modelRule, at int64, rows known, answer func(id string) int) []move {
	changed, asksOther := false, false
	if m.judged {
		a, b := m.config, r.Config
		a.UnknownAfterSeconds = 0
		b.UnknownAfterSeconds = 0
		changed = fmt.Sprint(flat(a)) != fmt.Sprint(flat(b))
		asksOther = fmt.Sprint(a.Queries) != fmt.Sprint(b.Queries)
	}
	if asksOther {
		for id := range m.base {
			m.base[id] = " "
		}
	}
	var moves []move
	for _, check := range []string{CheckAnydata, CheckNodata, CheckThreshold} {
		begin, end := r.counts(check)
		if begin == 0 {
			for id := range m.union() {
				if strings.HasPrefix(id, check) {
					if o, ok := m.open[id]; ok {
						moves = append(moves, move{id, Closed, o.severity, o.severity})
					}
					m.forget(id)
				}
			}
			continue
		}
		signals := m.signals(r, check, at, rows)
		for _, set := range slices.Sorted(maps.Keys(signals)) {
			id := check + "/" + set
			_, inRows := rows[set]
			left := changed && !inRows
			if check == CheckNodata {
				left = asksOther && !hasValue(rows[set])
			}
			o, open := m.open[id]
			if left && (open || check == CheckNodata) {
				if open {
					moves = append(moves, move{id, Closed, o.severity, o.severity})
				}
				m.forget(id)
				continue
			}
			e := signals[set]
			if open && m.asks(r, check, e, inRows) {
				a := answer(id)
				if a < 0 {
					continue
				}
				e.recovered = a > 0
			}
			m.entries[id] = append(m.entries[id], e)
			if to, severity := m.decide(r, check, id, begin, end); to != "" {
				moves = append(moves, move{id, to, o.severity, severity})
			}
		}
	}
	m.config = r.Config
	m.judged = true
	return moves
}

// flat returns a configuration with what its pointers point to.
func flat(c Config) []any {
	var all []any
	all = append(all, c.Queries)
	if c.CheckThreshold != nil {
		all = append(all, *c.CheckThreshold)
	}
	if c.CheckAnydata != nil {
		all = append(all, *c.CheckAnydata)
	}
	if c.CheckNodata != nil {
		all = append(all, *c.CheckNodata)
	}
	return all
}

func hasValue(values map[string]float64) bool {
	for _, v := range values {
		if !math.IsNaN(v) {
			return true
		}
	}
	return false
}

func (m *model) asks(r *modelRule, check string, e entry, inRows bool) bool {
	switch check {
	case CheckThreshold:
		return r.Config.CheckThreshold.Recovery.Mode == "ql" && inRows && e.severity == 0 && !e.absent
	case CheckAnydata:
		return r.Config.CheckAnydata.Recovery.Mode == "ql" && !inRows
	}
	return false
}

func (m *model) forget(id string) {
	delete(m.open, id)
	delete(m.entries, id)
	delete(m.base, id)
}

// missingSince returns since when a series of nodata has been missing; 0: it is not.
func (m *model) missingSince(id string) int64 {
	list := m.entries[id]
	since := m.open[id].missing
	for n := len(list) - 1; n >= 0; n-- {
		if list[n].severity == 0 {
			return since
		}
		if m.open[id].missing == 0 {
			since = list[n].at
		}
	}
	return since
}

// decide returns the transition of an instance after its last entry, and applies it.
func (m *model) decide(r *modelRule, check, id string, begin, end int) (To, int) {
	list := m.entries[id]
	now := list[len(list)-1]
	o, open := m.open[id]
	reached := func(above int) int {
		for s := 3; s > above; s-- {
			if last(list, begin, func(e entry) bool { return !e.absent && e.severity >= s }) {
				return s
			}
		}
		return 0
	}
	if !open {
		if s := reached(0); s > 0 {
			if !r.allowed(now.at) {
				return "", 0
			}
			m.open[id] = modelOpen{severity: s, since: now.at, sent: now.at}
			return Begin, s
		}
		if since := m.missingSince(id); check == CheckNodata && since > 0 && now.at-since >= 7*86400_000 {
			m.forget(id)
		}
		return "", 0
	}
	if check == CheckNodata && now.severity == 0 {
		o.missing = 0
		m.open[id] = o
	}
	over := func(to To) (To, int) {
		delete(m.open, id)
		delete(m.entries, id)
		if to == Closed {
			m.forget(id)
		}
		return to, o.severity
	}
	if last(list, end, func(e entry) bool { return e.recovered }) {
		return over(Recovered)
	}
	if check == CheckThreshold && r.Config.CheckThreshold.Missing != "keep" &&
		last(list, max(end, 2), func(e entry) bool { return e.absent }) {
		return over(Gone)
	}
	if check == CheckNodata && r.Config.CheckNodata.ResolveTimeout > 0 {
		if since := m.missingSince(id); since > 0 && now.at-since >= r.Config.CheckNodata.ResolveTimeout*1000 {
			return over(Closed)
		}
	}
	become := func(to To, severity int) (To, int) {
		o.severity = severity
		o.sent = now.at
		if to == Repeat {
			o.repeats++
		}
		m.open[id] = o
		return to, severity
	}
	if s := reached(o.severity); s > 0 {
		return become(Rise, s)
	}
	if last(list, end, func(e entry) bool { return !e.absent && e.severity < o.severity }) {
		highest := 0
		for _, e := range list[len(list)-end:] {
			highest = max(highest, e.severity)
		}
		if highest > 0 {
			return become(Fall, highest)
		}
	}
	interval := r.RepeatInterval.Milliseconds()
	if interval > 0 && now.at-o.sent >= interval && (r.RepeatTotal == 0 || o.repeats < r.RepeatTotal) {
		return become(Repeat, o.severity)
	}
	return "", 0
}

// allowed reports whether instances may begin, by the dates of the windows.
func (rule *modelRule) allowed(at int64) bool {
	moment := time.UnixMilli(at).In(rule.Zone)
	for _, window := range rule.Windows {
		for _, back := range []int{0, 1} {
			day := moment.AddDate(0, 0, -back)
			if !slices.Contains(window.Days, int64(day.Weekday())) {
				continue
			}
			date := func(hhmm string, days int) time.Time {
				var hour, minute int
				_, _ = fmt.Sscanf(hhmm, "%d:%d", &hour, &minute)
				return time.Date(day.Year(), day.Month(), day.Day()+days, hour, minute, 0, 0, rule.Zone)
			}
			from, to := date(window.Stime, 0), date(window.Etime, 0)
			if !to.After(from) {
				to = date(window.Etime, 1)
			}
			if !moment.Before(from) && moment.Before(to) {
				return true
			}
		}
	}
	return len(rule.Windows) == 0
}

// pick returns one of several values.
func pick[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }
