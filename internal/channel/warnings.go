package channel

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/calendar"
	"tocsin/internal/configstore"
	"tocsin/internal/core/filter"
)

// filterWarnings returns a warning for each group that can never match, with the field of which no value meets
// all conditions. Values that match more than themselves, such as wildcards, are ignored.
func filterWarnings(member string, f filter.Filter) (warnings []string) {
	for g, group := range f {
		var keys []string // in the order of their first condition
		byKey := map[string][]filter.Condition{}
		for _, c := range group {
			if byKey[c.Key] == nil {
				keys = append(keys, c.Key)
			}
			byKey[c.Key] = append(byKey[c.Key], c)
		}
		for _, key := range keys {
			if excluded(byKey[key]) {
				warnings = append(warnings, fmt.Sprintf("%s[%d]: never matches, no %s meets all conditions on it", member, g, key))
			}
		}
	}
	return warnings
}

// excluded reports whether no value meets all of the conditions, as far as values without wildcards show: each
// value that one condition wants is excluded by another.
func excluded(all []filter.Condition) bool {
	var left map[string]bool // the values that meet the conditions so far; nil: any
	for _, c := range all {
		if c.Oper != filter.In || slices.ContainsFunc(c.Vals, special) {
			continue
		}
		wanted := map[string]bool{}
		for _, v := range c.Vals {
			wanted[v] = left == nil || left[v]
		}
		maps.DeleteFunc(wanted, func(_ string, in bool) bool { return !in })
		left = wanted
	}
	if left == nil {
		return false
	}
	for _, c := range all {
		if c.Oper == filter.NotIn {
			for _, v := range c.Vals {
				delete(left, v)
			}
		}
	}
	return len(left) == 0
}

// special reports whether a value of a condition matches more than itself.
func special(v string) bool {
	return strings.ContainsAny(v, "*?/") || strings.HasPrefix(v, "cidr:") || strings.HasPrefix(v, "num:")
}

// windowWarnings rejects windows that name a calendar that does not exist. It returns a warning for each window
// that starts on no day of the next year.
func windowWarnings(c *api.Call, windows []TimeFilter) (warnings []string, err error) {
	for i, w := range windows {
		at := fmt.Sprintf("time_filters[%d].cal_id", i)
		if err := configstore.Need(c.Tx, c.Who.AccountID, at, configstore.RefTo(configstore.Calendar, w.calendar())); err != nil {
			return nil, err
		}
	}
	calendars, err := calendar.Load(c.Tx, c.Who.AccountID, calendarsOf(windows))
	type kind struct {
		calendar string
		off      bool
	}
	never := map[kind]bool{} // windows of one kind start on the same days
	for i, w := range windows {
		k := kind{w.calendar(), w.daysOff()}
		if _, known := never[k]; !known {
			never[k] = neverStarts(calendars[k.calendar], k.off, c.Now)
		}
		if never[k] {
			warnings = append(warnings,
				fmt.Sprintf("time_filters[%d]: never starts, the calendar has no such day in the next year", i))
		}
	}
	return warnings, err
}

// neverStarts reports whether a calendar has no day off, or no working day, in the 366 days from now. It is
// false for a calendar that does not exist.
func neverStarts(days *calendar.Days, off bool, now time.Time) bool {
	for day := 0; day < 366 && days != nil; day++ {
		if is, _ := days.Off(now.AddDate(0, 0, day)); is == off {
			return false
		}
	}
	return days != nil
}
