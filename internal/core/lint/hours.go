package lint

import (
	"fmt"
	"time"

	"tocsin/internal/core/oncall"
	"tocsin/internal/core/sentence"
)

// hourProblems returns problems of a rotation that is on call at other hours than its numbers suggest: its days cut its
// hours, or its turns are in hours and drift when the clocks change. name is the layer's.
func hourProblems(l *oncall.Layer, name sentence.Value, schedule *time.Location, now int64) (all []problem) {
	zone := l.Zone
	if zone == nil {
		zone = schedule
	}
	if says := cutHours(l, name, zone); says != "" {
		all = append(all, problem{HoursCut, says})
	}
	if says := drift(l, name, zone, now); says != "" {
		all = append(all, problem{TurnsDrift, says})
	}
	return all
}

// cutHours returns a sentence about the first restricted hours within which the days of a mask or of calendars begin.
// Where a day is left out, such hours end early, and the rest of them begins a later day: under a plain mask from Monday
// to Friday the night of Friday ends at midnight, and Monday begins at midnight.
func cutHours(l *oncall.Layer, name sentence.Value, zone *time.Location) sentence.Value {
	dated := len(l.Skip)+len(l.Only) > 0
	if l.RestrictMode != oncall.RestrictDay || !l.Mask.Active() && !dated {
		return ""
	}
	var begins, covered int64 // the time of day at which a day begins; the length of all hours
	if l.Continuous {
		begins = (wall(l.Start, zone)%day + day) % day
	}
	for _, p := range l.Restrict {
		covered += lengthOf(p)
	}
	for _, p := range l.Restrict {
		end := p.Start + lengthOf(p)
		within := p.Start < begins && begins < end || begins+day < end
		switch {
		case !within || covered >= day:
		case begins == 0 && l.Mask.Active() && !dated:
			last, first := edges(l.Mask)
			return sentence.New("l_night_cut", name, hour(p.Start), hour(end), last, (last+1)%7, first, hour(end), hour(p.Start))
		default:
			return sentence.New("l_hours_cut", name, hour(begins), hour(p.Start), hour(end), hour(p.Start))
		}
	}
	return ""
}

// lengthOf returns how long a restricted period of a day lasts on the wall clock, in seconds.
func lengthOf(p oncall.Period) int64 {
	if p.End > p.Start {
		return p.End - p.Start
	}
	return p.End + day - p.Start
}

// edges returns the first day of a mask, from Monday on, that is followed by a day outside, and the first that follows one.
func edges(mask oncall.Weekdays) (last, first time.Weekday) {
	last, first = -1, -1
	for i := range 7 {
		day := time.Weekday((i + 1) % 7)
		if last < 0 && mask.Has(day) && !mask.Has((day+1)%7) {
			last = day
		}
		if first < 0 && mask.Has(day) && !mask.Has((day+6)%7) {
			first = day
		}
	}
	return last, first
}

// hour returns a time of day.
func hour(seconds int64) string {
	return fmt.Sprintf("%02d:%02d", seconds/3600%24, seconds/60%60)
}

// drift returns a sentence about turns in hours that change at other times of day after the next change of the clock.
func drift(l *oncall.Layer, name sentence.Value, zone *time.Location, now int64) sentence.Value {
	turn := int64(l.Value) * 3600
	if l.Unit != oncall.Hour || l.Mask.Active() && turn%day == 0 { // under a mask such turns are counted in days
		return ""
	}
	from := max(now, l.Start)
	for _, change := range changesOf([]*time.Location{zone}, from) {
		switch {
		case change.at <= from || l.End != 0 && change.at >= l.End || change.shift%turn == 0:
		case turn%day == 0:
			return sentence.New("l_drift_days", name, zone, time.Unix(change.at, 0).In(zone).Format(time.DateOnly))
		default:
			return sentence.New("l_drift_hours", name, zone, time.Unix(change.at, 0).In(zone).Format(time.DateOnly))
		}
	}
	return ""
}
