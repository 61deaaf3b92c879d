package lint

import (
	"fmt"
	"slices"

	"tocsin/internal/core/filter"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/fault"
)

// cover reports the incidents of a channel that no escalation rule matches: all of a severity, those of some contents, or
// those of some hours.
func (l *linter) cover(c *Channel, object fault.Ref, only []int64) {
	var never, ever []string
	for _, severity := range Severities {
		if slices.ContainsFunc(c.Rules, func(r Rule) bool { return l.mayMatch(r.Filter, severity) }) {
			ever = append(ever, severity)
		} else {
			never = append(never, severity)
		}
	}
	if len(never) > 0 {
		l.add(SeverityUncovered, object, only, sentence.New("l_uncovered", c.Name, never))
	}
	for _, severity := range ever {
		covered, proven := l.coveredAlways(c, severity)
		if covered && proven {
			continue
		}
		all := newSearch(filtersOf(c.Rules), OfIncident, severity, l.meter)
		if s, found := all.unmatched(); found {
			l.add(ConditionsUncovered, object, only, sentence.New("l_conditions", c.Name, []string{severity}, all.words(s)))
			continue
		}
		gap, found, sure := l.uncoveredHours(c, severity)
		switch {
		case found && !covered:
			l.add(HoursUncovered, object, only,
				sentence.New("l_hours", c.Name, stamp(gap.From), stamp(gap.Until), []string{severity}))
		case !sure:
			l.add(CoverUnproven, object, only, sentence.New("l_unproven", c.Name, []string{severity}))
		}
	}
}

// mayMatch reports whether a filter matches some incident of a severity. It is true where that cannot be decided.
func (l *linter) mayMatch(f filter.Filter, severity string) bool {
	if len(f) == 0 {
		return true
	}
	q := newSearch([]filter.Filter{f}, OfIncident, severity, l.meter)
	return q.matched() || !q.complete
}

// coveredAlways reports whether the rules without windows leave out no incident of a severity that can be found, and
// whether there is none.
func (l *linter) coveredAlways(c *Channel, severity string) (covered, proven bool) {
	always := slices.DeleteFunc(slices.Clone(c.Rules), func(r Rule) bool { return r.Windowed })
	if len(always) == 0 {
		return false, false
	}
	q := newSearch(filtersOf(always), OfIncident, severity, l.meter)
	_, found := q.unmatched()
	return !found, q.complete
}

func filtersOf(rules []Rule) (filters []filter.Filter) {
	for _, r := range rules {
		if len(r.Filter) == 0 {
			return []filter.Filter{nil} // it matches everything
		}
		filters = append(filters, r.Filter)
	}
	return filters
}

// maxSets bounds how many sets of rules that are active at the same time are searched.
const maxSets = 200

// uncoveredHours returns the first stretch until the horizon in which the active rules leave out an incident of a severity.
// sure is whether a stretch that is not found does not exist.
func (l *linter) uncoveredHours(c *Channel, severity string) (gap Span, found, sure bool) {
	sure = true
	marks := []int64{l.Now, l.Now + Horizon}
	for _, r := range c.Rules {
		for _, s := range r.Active {
			marks = append(marks, s.From, s.Until)
		}
	}
	slices.Sort(marks)
	marks = slices.Compact(marks)
	known := map[string]bool{} // whether a set of rules leaves out an incident
	for i := range len(marks) - 1 {
		from := marks[i]
		if from < l.Now || from >= l.Now+Horizon {
			continue
		}
		var active []Rule
		set := ""
		for n, r := range c.Rules {
			if !r.Windowed || slices.ContainsFunc(r.Active, func(s Span) bool { return s.From <= from && from < s.Until }) {
				active = append(active, r)
				set += fmt.Sprint(n, " ")
			}
		}
		left, have := known[set]
		if !have {
			if len(known) == maxSets {
				return Span{}, false, false
			}
			left = len(active) == 0
			if !left {
				q := newSearch(filtersOf(active), OfIncident, severity, l.meter)
				_, left = q.unmatched()
				sure = sure && q.complete
			}
			known[set] = left
		}
		if left {
			return Span{from, marks[i+1]}, true, true
		}
	}
	return Span{}, false, sure
}

// covers reports whether spans, which are in order, leave nothing out between two moments.
func covers(spans []Span, from, until int64) bool {
	for _, s := range spans {
		if s.From > from {
			return false
		}
		from = max(from, s.Until)
	}
	return from >= until
}
