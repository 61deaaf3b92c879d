package lint

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"tocsin/internal/core/sentence"
)

// minRepeats is how many weeks in a row make a weekly pattern.
const minRepeats = 3

// pattern is one stretch of time, or stretches that come back every week at the same times of the wall clock.
type pattern struct {
	spans []Span         // in order
	days  []time.Weekday // on which they begin, in the order of the week; empty: the stretch does not come back
}

// patterns groups stretches, which are in order and do not overlap, by the week of a zone. Each stretch is in one group.
// Groups are in the order of their first stretches.
func patterns(spans []Span, zone *time.Location) (list []pattern) {
	type shape struct{ begins, lasts int64 } // wall-clock seconds of the week, and length on the wall clock
	var order []shape
	runs := map[shape][]pattern{}
	for _, s := range spans {
		from, until := wall(s.From, zone), wall(s.Until, zone)
		begins := from + 4*day // 1970-01-01 was a Thursday: the week begins on Sunday
		key := shape{begins % week, until - from}
		have := runs[key]
		if n := len(have); n > 0 {
			last := &have[n-1]
			if from-wall(last.spans[len(last.spans)-1].From, zone) == week {
				last.spans = append(last.spans, s)
				continue
			}
		} else {
			order = append(order, key)
		}
		runs[key] = append(have, pattern{spans: []Span{s}})
	}
	for _, key := range order {
		for _, run := range runs[key] {
			if len(run.spans) >= minRepeats {
				run.days = []time.Weekday{time.Weekday(key.begins / day)}
				list = append(list, run)
				continue
			}
			for _, s := range run.spans {
				list = append(list, pattern{spans: []Span{s}})
			}
		}
	}
	return byFirst(mergeDays(list, zone))
}

// mergeDays makes one pattern of those that begin at the same time of day, last equally long, and cover the same weeks.
func mergeDays(list []pattern, zone *time.Location) (merged []pattern) {
	type times struct{ begins, lasts int64 } // wall-clock seconds of the day, and length on the wall clock
	known := map[times][]int{}               // places in merged
	for _, p := range byFirst(list) {
		from := wall(p.spans[0].From, zone)
		key := times{from % day, wall(p.spans[0].Until, zone) - from}
		if len(p.days) == 0 || key.lasts > day {
			merged = append(merged, p)
			continue
		}
		i := slices.IndexFunc(known[key], func(i int) bool { return sameWeeks(merged[i], p) })
		if i < 0 {
			known[key] = append(known[key], len(merged))
			merged = append(merged, p)
			continue
		}
		m := &merged[known[key][i]]
		m.spans = append(m.spans, p.spans...)
		m.days = append(m.days, p.days...)
		slices.SortFunc(m.spans, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
		slices.Sort(m.days)
	}
	return merged
}

// sameWeeks reports whether two weekly patterns of different days cover the same weeks.
func sameWeeks(a, b pattern) bool {
	near := func(a, b Span) bool { return max(a.From-b.From, b.From-a.From) < week }
	return !slices.Contains(a.days, b.days[0]) && near(a.spans[0], b.spans[0]) &&
		near(a.spans[len(a.spans)-1], b.spans[len(b.spans)-1])
}

func byFirst(list []pattern) []pattern {
	slices.SortStableFunc(list, func(a, b pattern) int { return cmp.Compare(a.spans[0].From, b.spans[0].From) })
	return list
}

// wall returns the wall-clock time of a moment in seconds, as if every day had 86400 of them.
func wall(at int64, zone *time.Location) int64 {
	_, offset := time.Unix(at, 0).In(zone).Zone()
	return at + int64(offset)
}

// words returns when the pattern is, and how many more stretches there are. Times are on the wall clock of the zone.
func (p pattern) words(zone *time.Location, more int) sentence.Value {
	first, last := p.spans[0], p.spans[len(p.spans)-1]
	from, until := time.Unix(first.From, 0).In(zone), time.Unix(first.Until, 0).In(zone)
	if len(p.days) == 0 {
		if more > 0 {
			return sentence.New("l_from_more", from.Format(minute), until.Format(minute), more, zone)
		}
		return sentence.New("l_from", from.Format(minute), until.Format(minute), zone)
	}
	days := dayWords(p.days)
	at, to := from.Format("15:04"), until.Format("15:04")
	switch nextDay := from.Weekday() != until.Weekday(); {
	case nextDay && len(p.days) == 1:
		to = until.Weekday().String() + " " + to
	case nextDay && to != "00:00":
		to += " the next day"
	case to == "00:00":
		to = "24:00"
	}
	begin, end := from.Format(time.DateOnly), time.Unix(last.Until, 0).In(zone).Format(time.DateOnly)
	if more > 0 {
		return sentence.New("l_every_more", days, at, to, len(p.spans), begin, end, more, zone)
	}
	return sentence.New("l_every", days, at, to, len(p.spans), begin, end, zone)
}

const minute = "2006-01-02 15:04"

// dayWords returns the names of days of the week.
func dayWords(days []time.Weekday) string {
	if len(days) == 7 {
		return "day"
	}
	var names []string
	for _, d := range days {
		names = append(names, d.String())
	}
	return strings.Join(names[:len(names)-1], ", ") + map[bool]string{true: " and "}[len(names) > 1] + names[len(names)-1]
}
