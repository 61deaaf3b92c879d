package channel

import (
	"time"

	"tocsin/internal/check"
)

// TimeFilter is a window that comes again: on days of the week, or on the days of a calendar.
type TimeFilter struct {
	Start  string `json:"start" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"HH:MM" doc:"First minute, HH:MM in the account's time zone."`
	End    string `json:"end" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"HH:MM" doc:"First minute after it, HH:MM; 23:59 is the day's end and still inside. Before start: on the next day."`
	Repeat []int  `json:"repeat" doc:"Days on which it starts, 0 is Sunday and 6 Saturday; empty: every day."`
	CalID  string `json:"cal_id,omitzero" doc:"The calendar whose days it comes on, in place of repeat."`
	IsOff  bool   `json:"is_off,omitzero" doc:"It comes on the calendar's days off rather than its working days."`
}

const dayEnd = 24 * 60 // minutes

// Effective tells whether a silence rule is in force at now: it is enabled and now is in one of its
// windows (docs/api.md, 10, "Channel rules").
//
// Recurring windows read the clock on the wall of zone and nothing else: an hour that the clocks skip is
// in no window, an hour that comes twice is in or out of it twice. A window that names a calendar which
// does not exist has no days.
func Effective(r SilenceRule, now time.Time, zone *time.Location) bool {
	if r.Status != "enabled" {
		return false
	}
	if once := r.TimeFilter; once != nil {
		return once.StartTime <= now.Unix() && now.Unix() < once.EndTime
	}
	wall := now.In(zone)
	for _, w := range r.TimeFilters {
		if w.covers(wall.Weekday(), 60*wall.Hour()+wall.Minute()) {
			return true
		}
	}
	return false
}

// covers tells whether the window holds a minute of a weekday, counted from midnight. One whose end is
// before its start goes on after midnight and belongs to the day on which it started.
func (w TimeFilter) covers(day time.Weekday, minute int) bool {
	start, end, ok := w.minutes()
	if !ok || w.CalID != "" {
		return false
	}
	if start < end {
		return w.startsOn(day) && start <= minute && minute < end
	}
	return w.startsOn(day) && start <= minute || w.startsOn((day+6)%7) && minute < end
}

func (w TimeFilter) startsOn(day time.Weekday) bool {
	for _, d := range w.Repeat {
		if d == int(day) {
			return true
		}
	}
	return len(w.Repeat) == 0
}

// minutes gives the window's bounds as minutes from midnight, the end exclusive; they differ.
func (w TimeFilter) minutes() (start, end int, ok bool) {
	start, startOK := minuteOf(w.Start)
	end, endOK := minuteOf(w.End)
	if end == dayEnd-1 {
		end = dayEnd
	}
	return start, end, startOK && endOK && start != end
}

// minuteOf reads exactly HH:MM.
func minuteOf(clock string) (int, bool) {
	t, err := time.Parse("15:04", clock)
	return 60*t.Hour() + t.Minute(), err == nil && len(clock) == len("15:04")
}

func (w TimeFilter) check(at check.At) error {
	if _, ok := minuteOf(w.Start); !ok {
		return at.Invalid("start", "must be HH:MM, got %q", w.Start)
	}
	if _, ok := minuteOf(w.End); !ok {
		return at.Invalid("end", "must be HH:MM, got %q", w.End)
	}
	if _, _, ok := w.minutes(); !ok {
		return at.Invalid("end", "must differ from start, got %s for both; a whole day is 00:00 to 23:59", w.End)
	}
	for i, day := range w.Repeat {
		if day < 0 || day > 6 {
			return at.Element("repeat", i).Invalid("", "must be from 0 to 6, got %d", day)
		}
	}
	if w.CalID != "" && len(w.Repeat) > 0 {
		return at.Invalid("cal_id", "must be empty beside repeat, got %q", w.CalID)
	}
	return nil
}
