package lint

import (
	"slices"
	"time"

	"tocsin/internal/core/oncall"
)

// ScheduleHorizon is how far ahead the holes of schedules are looked for, in seconds.
const ScheduleHorizon = 90 * day

const (
	day  int64 = 86400
	week int64 = 7 * day
)

// Holes returns when no person is on call between two moments (Unix seconds) with one of the roles, in order; no roles:
// with any.
func Holes(s *oncall.Schedule, roles []int64, from, until int64) (holes []Span) {
	return holesOf(s.Window(from, until).Final, roles, from, until)
}

// NextHoles returns the holes that begin within ScheduleHorizon of a moment. They end after it if the schedule is covered
// again within a week.
func NextHoles(s *oncall.Schedule, roles []int64, now int64) []Span {
	return nextHoles(s.Window(now, now+seen).Final, roles, now, now)
}

// End returns from when (Unix seconds) no one is on call in a schedule, as far ahead as NextHoles looks. ends is false when
// a person is on call at that horizon. A schedule with too many shifts is not checked.
func End(s *oncall.Schedule, now int64) (from int64, ends bool) {
	if dense(s) {
		return 0, false
	}
	holes := NextHoles(s, nil, now)
	if len(holes) == 0 || holes[len(holes)-1].Until < now+seen {
		return 0, false
	}
	return holes[len(holes)-1].From, true
}

// seen is how far ahead NextHoles looks, in seconds, so that the last of several holes is as long as the others.
const seen = ScheduleHorizon + 8*day

// nextHoles is NextHoles from a moment on, with the pieces of a window of seen seconds from now.
func nextHoles(pieces []oncall.Piece, roles []int64, from, now int64) []Span {
	first := slices.IndexFunc(pieces, func(p oncall.Piece) bool { return p.End > from })
	if first < 0 {
		first = len(pieces)
	}
	holes := holesOf(pieces[first:], roles, from, now+seen)
	return slices.DeleteFunc(holes, func(h Span) bool { return h.From >= now+ScheduleHorizon })
}

// holesOf returns the holes between the pieces of a window.
func holesOf(pieces []oncall.Piece, roles []int64, from, until int64) (holes []Span) {
	covered := from
	for i := range pieces {
		if !holds(&pieces[i].Group, roles) {
			continue
		}
		if pieces[i].Start > covered {
			holes = append(holes, Span{covered, pieces[i].Start})
		}
		covered = pieces[i].End
	}
	if covered < until {
		holes = append(holes, Span{covered, until})
	}
	return holes
}

// holds reports whether a group has a person with one of the roles; no roles: with any.
func holds(g *oncall.Group, roles []int64) bool {
	return slices.ContainsFunc(g.Members, func(m oncall.Member) bool {
		return len(m.PersonIDs) > 0 && (len(roles) == 0 || slices.Contains(roles, m.RoleID))
	})
}

// zoneOf returns the zone in which the times of a schedule are written.
func zoneOf(s *oncall.Schedule) *time.Location {
	if s.Zone == nil {
		return time.UTC
	}
	return s.Zone
}

// clockChange is a change of the clock of a zone.
type clockChange struct {
	zone  *time.Location
	at    int64 // Unix seconds
	shift int64 // by how many seconds, without its sign
}

// zonesOf returns the zones that the rotations of a schedule follow, each once.
func zonesOf(s *oncall.Schedule) (zones []*time.Location) {
	for i := range s.Layers {
		zone := s.Layers[i].Zone
		if zone == nil {
			zone = zoneOf(s)
		}
		known := slices.ContainsFunc(zones, func(z *time.Location) bool { return z.String() == zone.String() })
		if s.Layers[i].Mode == oncall.Rotation && !known {
			zones = append(zones, zone)
		}
	}
	return zones
}

// changesOf returns the clock changes of zones around a moment, in order. Only the ends of time.Time.ZoneBounds are used:
// its starts are the beginning of the year where a yearly rule describes the zone.
func changesOf(zones []*time.Location, around int64) (changes []clockChange) {
	for _, zone := range zones {
		for at := time.Unix(around-400*day, 0).In(zone); at.Unix() < around+400*day; {
			_, end := at.ZoneBounds()
			if end.IsZero() {
				break
			}
			if !end.After(at) { // the last day of a leap year under a yearly rule
				at = at.Add(24 * time.Hour)
				continue
			}
			_, before := at.Zone()
			_, after := end.In(zone).Zone()
			if before != after {
				changes = append(changes, clockChange{zone, end.Unix(), int64(max(after-before, before-after))})
			}
			at = end.In(zone)
		}
	}
	slices.SortFunc(changes, func(a, b clockChange) int { return int(a.at - b.at) })
	return changes
}

// clockHole returns the change of the clock with which a hole comes, or goes: the hole is as long as the change, and in
// the week on the other side of the change the same time and what is next to it are covered. found is false for all other
// holes. Only schedules with layers in several zones have such holes.
func clockHole(s *oncall.Schedule, roles []int64, hole Span) (change clockChange, comes, found bool) {
	zones := zonesOf(s)
	if len(zones) < 2 {
		return change, false, false
	}
	length := hole.Until - hole.From
	covered := func(weeks, margin int64) bool {
		return len(Holes(s, roles, hole.From+weeks*week-margin, hole.Until+weeks*week+margin)) == 0
	}
	changes := slices.DeleteFunc(changesOf(zones, hole.From), func(c clockChange) bool { return c.shift != length })
	for _, c := range slices.Backward(changes) {
		if c.at > hole.From {
			continue
		}
		weeks := (hole.From-c.at)/week + 1 // before the hole, the same time of the week is before the change
		if !covered(1-weeks, 0) && covered(-weeks, length) {
			return c, true, true
		}
	}
	for _, c := range changes {
		if c.at <= hole.From {
			continue
		}
		weeks := (c.at-hole.From-1)/week + 1
		if !covered(weeks-1, 0) && covered(weeks, length) {
			return c, false, true
		}
	}
	return change, false, false
}

// maxShifts bounds how many shifts a schedule may have in 90 days to be checked, because the check holds up others.
const maxShifts = 50_000

// dense reports whether a schedule may have more than maxShifts shifts until seen. It counts the turns and the restricted
// periods.
func dense(s *oncall.Schedule) bool {
	var each int64 // of a day
	for i := range s.Layers {
		l := &s.Layers[i]
		if l.Mode == oncall.Override {
			continue
		}
		each++
		if l.Unit == oncall.Hour {
			each += 24 / int64(l.Value)
		}
		if l.RestrictMode != oncall.RestrictNone {
			each += int64(len(l.Restrict))
		}
	}
	return each*seen/day > maxShifts
}
