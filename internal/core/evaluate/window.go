package evaluate

import (
	"fmt"
	"time"

	"tocsin/internal/platform/fault"
)

// window is a Window in minutes of the day.
type window struct {
	days       [7]bool
	begin, end int // end before begin or at it: on the next day
}

// CheckWindows returns what is wrong with the hours of a rule, as a *FieldError.
func CheckWindows(windows []Window) error {
	_, err := parseWindows(windows)
	return err
}

func parseWindows(windows []Window) ([]window, error) {
	var all []window
	for n, given := range windows {
		var parsed window
		field := fmt.Sprintf("enabled_times[%d].", n)
		if len(given.Days) == 0 {
			return nil, &FieldError{field + "days", fault.NewClause("must have at least one day")}
		}
		for _, day := range given.Days {
			if day < 0 || day > 6 {
				return nil, &FieldError{field + "days", fault.NewClause("must be from 0, Sunday, to 6, Saturday, got %d", day)}
			}
			parsed.days[day] = true
		}
		begin, ok := minutes(given.Stime)
		if !ok || begin == 24*60 {
			return nil, &FieldError{field + "stime", fault.NewClause("must be a time from 00:00 to 23:59, got %.20q", given.Stime)}
		}
		end, ok := minutes(given.Etime)
		if !ok {
			return nil, &FieldError{field + "etime", fault.NewClause("must be a time from 00:00 to 24:00, got %.20q", given.Etime)}
		}
		if end == 23*60+59 {
			end = 24 * 60 // 23:59 is how the end of a day is written: the last minute belongs to it
		}
		parsed.begin = begin
		parsed.end = end
		all = append(all, parsed)
	}
	return all, nil
}

// minutes reads HH:MM.
func minutes(text string) (int, bool) {
	if text == "24:00" {
		return 24 * 60, true
	}
	t, err := time.Parse("15:04", text)
	return t.Hour()*60 + t.Minute(), err == nil && len(text) == 5
}

// within reports whether instances may begin at a moment.
func (w *Watch) within(at time.Time) bool {
	if len(w.windows) == 0 {
		return true
	}
	local := at.In(w.rule.Zone)
	now := local.Hour()*60 + local.Minute()
	today := local.Weekday()
	yesterday := (today + 6) % 7
	for _, window := range w.windows {
		overnight := window.end <= window.begin
		switch {
		case window.days[today] && now >= window.begin && (overnight || now < window.end):
			return true
		case overnight && window.days[yesterday] && now < window.end:
			return true
		}
	}
	return false
}
