package channel

import (
	"fmt"
	"slices"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/calendar"
	"tocsin/internal/filter"
	"tocsin/internal/object"
	"tocsin/internal/reference"
)

// filterWarnings names groups that can never match: two conditions on the same field that no value meets.
func filterWarnings(member string, f filter.Filter) (warnings []string) {
	for g, group := range f {
		for i, a := range group {
			for _, b := range group[:i] {
				if a.Key == b.Key && excludes(a, b) {
					warnings = append(warnings, fmt.Sprintf("%s[%d]: never matches, no %s meets both conditions on it", member, g, a.Key))
				}
			}
		}
	}
	return warnings
}

// excludes tells whether no value meets both conditions, as far as values without wildcards show.
func excludes(a, b filter.Condition) bool {
	if a.Oper == filter.NotIn {
		a, b = b, a
	}
	if a.Oper != filter.In || slices.ContainsFunc(append(slices.Clone(a.Vals), b.Vals...), special) {
		return false
	}
	return !slices.ContainsFunc(a.Vals, func(v string) bool { return slices.Contains(b.Vals, v) == (b.Oper == filter.In) })
}

// special tells whether a value of a condition stands for more than itself.
func special(v string) bool {
	return strings.ContainsAny(v, "*?/") || strings.HasPrefix(v, "cidr:") || strings.HasPrefix(v, "num:")
}

// windowWarnings refuses windows that name a calendar which does not exist, and names those that come on no
// day of the next year.
func windowWarnings(c *api.Call, windows []TimeFilter) (warnings []string, err error) {
	for i, w := range windows {
		if err := object.Need(c.Tx, c.Who.AccountID, fmt.Sprintf("time_filters[%d].cal_id", i), reference.To(reference.Calendar, w.calendar())); err != nil {
			return nil, err
		}
	}
	calendars, err := calendar.Load(c.Tx, c.Who.AccountID, calendarsOf(windows))
	for i, w := range windows {
		days, found := calendars[w.calendar()]
		comes := !found
		for day := 0; day < 366 && !comes; day++ {
			off, _ := days.Off(c.Now.AddDate(0, 0, day))
			comes = off == w.daysOff()
		}
		if !comes {
			warnings = append(warnings, fmt.Sprintf("time_filters[%d]: never comes true, the calendar has no such day in the next year", i))
		}
	}
	return warnings, err
}
