package channel

import (
	"slices"
	"time"

	"tocsin/internal/calendar"
	"tocsin/internal/configstore"
)

// TimeFilter is a recurring window: on days of the week, or on the days of a calendar.
type TimeFilter struct {
	Start  string  `json:"start" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"HH:MM" doc:"First minute, HH:MM in the account's time zone."`
	End    string  `json:"end" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"HH:MM" doc:"First minute after it, HH:MM; 23:59 is the day's end and still inside. Before start: on the next day."`
	Repeat []int   `json:"repeat" maxItems:"7" required:"false" doc:"Days on which it starts, 0 is Sunday and 6 Saturday; empty: every day."`
	CalID  *string `json:"cal_id,omitzero" maxLength:"64" doc:"The calendar on whose days it starts, in place of repeat."`
	IsOff  *bool   `json:"is_off,omitzero" doc:"It starts on the calendar's days off rather than its working days."`
}

// calendar returns the id of the calendar that the window names; empty: none.
func (w TimeFilter) calendar() string {
	if w.CalID == nil {
		return ""
	}
	return *w.CalID
}

// daysOff reports whether the window starts on the days off of its calendar rather than the working days.
func (w TimeFilter) daysOff() bool { return w.IsOff != nil && *w.IsOff }

const dayEnd = 24 * 60 // minutes

// Effective reports whether a silence rule is in force at now: it is enabled and now is in one of its
// windows (docs/api.md, 10, "Channel rules"). calendars holds the calendars that its windows name, by id.
func Effective(r SilenceRule, now time.Time, zone *time.Location, calendars map[string]*calendar.Days) bool {
	if r.Status != "enabled" {
		return false
	}
	if once := r.TimeFilter; once != nil {
		return once.StartTime <= now.Unix() && now.Unix() < once.EndTime
	}
	return InWindow(r.TimeFilters, now, zone, calendars)
}

// InWindow reports whether now is in one of the windows.
//
// A window reads only the local time of zone, or of the calendar that it names. An hour that the clocks skip
// is in no window. An hour that occurs twice is inside or outside both times. A window that names a calendar
// that does not exist has no days.
func InWindow(windows []TimeFilter, now time.Time, zone *time.Location, calendars map[string]*calendar.Days) bool {
	for _, w := range windows {
		if w.calendar() == "" {
			starts := func(local time.Time, back int) bool {
				return w.startsOn((local.Weekday() + 7 - time.Weekday(back)) % 7)
			}
			if w.covers(now.In(zone), starts) {
				return true
			}
		} else if days := calendars[w.calendar()]; days != nil {
			starts := func(local time.Time, back int) bool { return w.startsOnDayOf(days, local, back) }
			if w.covers(now.In(days.Zone()), starts) {
				return true
			}
		}
	}
	return false
}

// covers reports whether a local time is in the window. A window whose end is before its start continues after midnight and
// belongs to the day on which it started. starts reports whether a window starts back days before local's date.
func (w TimeFilter) covers(local time.Time, starts func(local time.Time, back int) bool) bool {
	start, end, ok := w.minutes()
	if !ok {
		return false
	}
	minute := 60*local.Hour() + local.Minute()
	if start < end {
		return start <= minute && minute < end && starts(local, 0)
	}
	return start <= minute && starts(local, 0) || minute < end && starts(local, 1)
}

func (w TimeFilter) startsOn(day time.Weekday) bool {
	return len(w.Repeat) == 0 || slices.Contains(w.Repeat, int(day))
}

// startsOnDayOf reports whether the window starts on the calendar's day so many days before local. It asks the
// calendar about noon, because some days have no midnight.
func (w TimeFilter) startsOnDayOf(days *calendar.Days, local time.Time, back int) bool {
	off, _ := days.Off(time.Date(local.Year(), local.Month(), local.Day()-back, 12, 0, 0, 0, days.Zone()))
	return off == w.daysOff()
}

// calendarsOf returns the ids of the calendars that the windows name; empty for a window without one.
func calendarsOf(windows []TimeFilter) (ids []string) {
	for _, w := range windows {
		ids = append(ids, w.calendar())
	}
	return ids
}

// minutes returns the window's bounds as minutes from midnight, the end exclusive. ok is false when one is
// malformed or both are equal.
func (w TimeFilter) minutes() (start, end int, ok bool) {
	start, startOK := minuteOf(w.Start)
	end, endOK := minuteOf(w.End)
	if end == dayEnd-1 {
		end = dayEnd
	}
	return start, end, startOK && endOK && start != end
}

// minuteOf parses exactly HH:MM and returns the minutes from midnight.
func minuteOf(clock string) (int, bool) {
	t, err := time.Parse("15:04", clock)
	return 60*t.Hour() + t.Minute(), err == nil && len(clock) == len("15:04")
}

func (w TimeFilter) check(at configstore.RecordPath) error {
	if _, ok := minuteOf(w.Start); !ok {
		return at.Invalid("start", "must be HH:MM, got %q", w.Start)
	}
	if _, ok := minuteOf(w.End); !ok {
		return at.Invalid("end", "must be HH:MM, got %q", w.End)
	}
	if _, _, ok := w.minutes(); !ok {
		return at.Invalid("end", "must differ from start, got %s for both; a whole day is 00:00 to 23:59", w.End)
	}
	if err := configstore.FirstError(
		atMost(at, "repeat", len(w.Repeat), 7),
		at.Length("cal_id", w.calendar(), 0, 64),
	); err != nil {
		return err
	}
	for i, day := range w.Repeat {
		if day < 0 || day > 6 {
			return at.Element("repeat", i).Invalid("", "must be from 0 to 6, got %d", day)
		}
	}
	if w.calendar() != "" && len(w.Repeat) > 0 {
		return at.Invalid("cal_id", "must be empty beside repeat, got %q", w.calendar())
	}
	return nil
}
