package channel

import (
	"fmt"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/calendar"
	"tocsin/internal/configstore"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/lint"
)

// writtenWarnings is lint.FilterWarnings with paths in the shape in which the filter was written.
func writtenWarnings(member string, w filter.Written, s lint.Subject) []string {
	if !w.Flat() {
		return lint.FilterWarnings(member, w.Value, s)
	}
	return lint.GroupWarnings(member, w.Value[0], s)
}

// mutingWarnings is lint.FilterWarnings for a rule that keeps alerts from becoming incidents. effect is what becomes of them.
func mutingWarnings(f filter.Filter, effect string) (warnings []string) {
	warnings = lint.FilterWarnings("filters", f, lint.OfAlert)
	if lint.Everything(f, lint.OfAlert) {
		warnings = append(warnings, "filters: matches every alert of the channel, so all of them are "+effect)
	}
	return warnings
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
