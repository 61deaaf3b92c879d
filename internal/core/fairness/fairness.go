// Package fairness counts who was on call how long, and how much of it at night, at weekends and on holidays. It is pure:
// schedules, zones and holidays are arguments.
//
// It must never decide who is on call: it counts what core/oncall returns.
package fairness

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"tocsin/internal/core/oncall"
)

const day int64 = 86400

// Span is a stretch of time, [From, Until) in Unix seconds.
type Span struct{ From, Until int64 }

// Question is what is counted.
type Question struct {
	Schedules []*oncall.Schedule
	Roles     []int64 // only these; empty: all
	From      int64   // Unix seconds
	Until     int64
	Night     Span   // wall-clock seconds of the day; an end that is not after the start is on the next day
	Holidays  []Span // in order, not overlapping
	Zone      func(person int64) *time.Location
}

// Count is what one person had. Times are counted once, in however many schedules and roles the person was on call then.
type Count struct {
	PersonID int64
	Seconds  int64
	Night    int64 // seconds of Seconds, in the person's zone
	Weekend  int64 // seconds on Saturdays and Sundays, in the person's zone
	Holiday  int64
	Shifts   int64 // stretches in one role because of one group of one layer
	Longest  int64 // the longest time without a break, in seconds
}

// ErrTooMany is returned where the groups are too large, or the shifts too many, to be counted.
var ErrTooMany = errors.New("too many shifts")

// maxNamed bounds how often the timelines together may name persons, and maxWork how many pieces the layers may have. Real
// questions use a hundredth of both.
const (
	maxNamed = 1_000_000
	maxWork  = 1_000_000
	step     = 45 * day // of one computation, so that a year needs no more memory than a window of /schedule/info
)

// Persons counts for each person whom the schedules name, by person. Persons who were never on call count 0.
func Persons(q Question) ([]Count, error) {
	c := counter{Question: q, spans: map[int64][]Span{}, shifts: map[int64]int64{}, named: maxNamed, work: maxWork}
	for _, s := range q.Schedules {
		c.members(s)
		if err := c.schedule(s); err != nil {
			return nil, err
		}
	}
	zones := map[string]zoned{}
	var counts []Count
	for _, person := range slices.Sorted(maps.Keys(c.spans)) {
		zone := q.Zone(person)
		z, known := zones[zone.String()]
		if !known {
			z = zoned{nights(zone, q.Night, q.From, q.Until), weekends(zone, q.From, q.Until)}
			zones[zone.String()] = z
		}
		spans := united(c.spans[person])
		count := Count{PersonID: person, Shifts: c.shifts[person],
			Night: overlap(spans, z.nights), Weekend: overlap(spans, z.weekends), Holiday: overlap(spans, q.Holidays)}
		for _, s := range spans {
			count.Seconds += s.Until - s.From
			count.Longest = max(count.Longest, s.Until-s.From)
		}
		counts = append(counts, count)
	}
	return counts, nil
}

// zoned are the nights and weekends of a zone in the window of a question.
type zoned struct{ nights, weekends []Span }

// counter gathers when each person is on call.
type counter struct {
	Question
	spans       map[int64][]Span // by person, of one schedule after the other, each in order
	shifts      map[int64]int64  // by person
	named, work int              // what is left of maxNamed and maxWork
}

func (c *counter) wanted(role int64) bool { return len(c.Roles) == 0 || slices.Contains(c.Roles, role) }

// members adds the persons in the layers of a schedule.
func (c *counter) members(s *oncall.Schedule) {
	for i := range s.Layers {
		for _, g := range s.Layers[i].Groups {
			for _, m := range g.Members {
				for _, person := range m.PersonIDs {
					if c.wanted(m.RoleID) && c.spans[person] == nil {
						c.spans[person] = []Span{}
					}
				}
			}
		}
	}
}

// schedule adds the final timeline of a schedule.
func (c *counter) schedule(s *oncall.Schedule) error {
	type part struct{ person, role int64 }
	last := map[part]oncall.Shift{} // the shifts that reach the end of the step before
	for from := c.From; from < c.Until; from += step {
		until := min(from+step, c.Until)
		line := s.Window(from, until)
		for _, entries := range line.Layers {
			c.work -= len(entries)
		}
		for i := range line.Final {
			c.add(&line.Final[i])
		}
		if c.named < 0 || c.work < 0 {
			return ErrTooMany
		}
		open := map[part]oncall.Shift{}
		for _, h := range s.Shifts(line.Final) {
			key := part{h.PersonID, h.RoleID}
			before, goesOn := last[key]
			goesOn = goesOn && h.Start == from && before.Layer == h.Layer && before.Group == h.Group
			if c.wanted(h.RoleID) && !goesOn {
				c.shifts[h.PersonID]++
			}
			if h.End == until {
				open[key] = h
			}
		}
		last = open
	}
	return nil
}

// add adds the persons of a piece.
func (c *counter) add(p *oncall.Piece) {
	for _, m := range p.Group.Members {
		if c.named -= len(m.PersonIDs); c.named < 0 {
			return
		}
		if !c.wanted(m.RoleID) {
			continue
		}
		for _, person := range m.PersonIDs {
			c.spans[person] = extend(c.spans[person], Span{p.Start, p.End})
		}
	}
}

// extend appends a stretch to a list, or extends the last one if they touch.
func extend(list []Span, s Span) []Span {
	if n := len(list); n > 0 && s.From >= list[n-1].From && s.From <= list[n-1].Until {
		list[n-1].Until = max(list[n-1].Until, s.Until)
		return list
	}
	return append(list, s)
}

// united returns stretches in order, those that touch or overlap as one.
func united(spans []Span) (list []Span) {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	for _, s := range spans {
		list = extend(list, s)
	}
	return list
}

// overlap returns how many seconds two lists share. Both are in order and neither overlaps itself.
func overlap(a, b []Span) (seconds int64) {
	for len(a) > 0 && len(b) > 0 {
		if from, until := max(a[0].From, b[0].From), min(a[0].Until, b[0].Until); from < until {
			seconds += until - from
		}
		if a[0].Until < b[0].Until {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return seconds
}

// nights returns the nights of a zone that meet [from, until). A clock change can shorten a night or remove it, as it does
// restricted hours (docs/timeline.md R14): 02:59 to 03:45 has no length where 02:59 is 03:59.
func nights(zone *time.Location, night Span, from, until int64) (list []Span) {
	for at := oncall.NextDaily(zone, 0, from-2*day); at < until; {
		next := oncall.NextDaily(zone, 0, at)
		ends := at // the midnight before the night's end
		if night.Until <= night.From || night.Until == day {
			ends = next
		}
		s := Span{oncall.NextDaily(zone, night.From, at-1), oncall.NextDaily(zone, night.Until%day, ends-1)}
		if s.From < s.Until {
			list = append(list, s)
		}
		at = next
	}
	return united(list)
}

// weekends returns the Saturdays and Sundays of a zone that meet [from, until).
func weekends(zone *time.Location, from, until int64) (list []Span) {
	for at := oncall.NextDaily(zone, 0, from-2*day); at < until; {
		next := oncall.NextDaily(zone, 0, at)
		if d := time.Unix(at, 0).In(zone).Weekday(); d == time.Saturday || d == time.Sunday {
			list = extend(list, Span{at, next})
		}
		at = next
	}
	return list
}
