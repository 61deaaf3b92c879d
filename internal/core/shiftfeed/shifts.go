// Package shiftfeed turns on-call schedules into iCalendar feeds: which shifts a feed has, how often each has changed, and
// the text. It is pure: the schedules, the moment and what was sent before are arguments.
//
// It must never let a name become a line of the calendar, nor let the sequence number of an event go down.
package shiftfeed

import (
	"cmp"
	"slices"

	"tocsin/internal/core/oncall"
)

const day int64 = 86400

// The window of a feed around the beginning of a day, in seconds.
const (
	Past   = 30 * day
	Future = 180 * day
)

// maxEvents is how many events a feed has at most. Of more, the latest are left out.
const maxEvents = 5000

// maxNamed bounds how often the pieces of one schedule may name persons before the rest is left out.
const maxNamed = 500_000

// Shift is one person's time in one role because of one turn.
type Shift struct {
	PersonID, RoleID int64
	Start, End       int64  // Unix seconds, with their true bounds, which no window has clipped
	Group            string // the name of the group at the start
}

// Shifts returns the shifts of the final timeline that meet [from, until), by start, at most maxEvents. only is the
// person whose shifts are wanted; 0: those of all.
func Shifts(s *oncall.Schedule, from, until, only int64) (shifts []Shift) {
	for _, pad := range []int64{45 * day, 180 * day, 950 * day} { // the longest turn has 30 months
		window := [2]int64{max(from-pad, 1), until + pad}
		shifts = within(join(s.Window(window[0], window[1]).Final, s, only), from, until)
		if !slices.ContainsFunc(shifts, func(h Shift) bool { return h.Start == window[0] || h.End == window[1] }) {
			return shifts
		}
		trueBounds(s, shifts, window)
	}
	return shifts
}

// within returns the shifts that meet [from, until), at most maxEvents.
func within(shifts []Shift, from, until int64) []Shift {
	shifts = slices.DeleteFunc(shifts, func(h Shift) bool { return h.End <= from || h.Start >= until })
	return shifts[:min(len(shifts), maxEvents)]
}

// trueBounds replaces the bounds of shifts that a window has clipped by those of the piece there. It is for overrides
// that last for years.
func trueBounds(s *oncall.Schedule, shifts []Shift, window [2]int64) {
	first, _ := s.At(window[0])
	last, _ := s.At(window[1] - 1)
	for i := range shifts {
		if h := &shifts[i]; h.Start == window[0] && first != nil {
			h.Start = first.Start
		}
		if h := &shifts[i]; h.End == window[1] && last != nil {
			h.End = last.End
		}
	}
}

// holder is a person in a role.
type holder struct{ person, role int64 }

// run is the last shift of a holder with the turn that it comes from.
type run struct {
	shift int
	turn  oncall.Source
}

// join returns the shifts in pieces of a schedule, by start. Pieces that touch are one shift of a person and role if they
// come from the same turn.
func join(pieces []oncall.Piece, s *oncall.Schedule, only int64) (shifts []Shift) {
	runs, left := map[holder]run{}, maxNamed
	for i := range pieces {
		p := &pieces[i]
		for _, m := range p.Group.Members {
			if left -= len(m.PersonIDs); left < 0 {
				return shifts
			}
			for _, person := range m.PersonIDs {
				if only != 0 && person != only {
					continue
				}
				h := holder{person, m.RoleID}
				turn := turnOf(p, s, h)
				r, known := runs[h]
				switch {
				case known && shifts[r.shift].End == p.End: // named twice in the role
				case known && shifts[r.shift].End == p.Start && r.turn == turn:
					shifts[r.shift].End = p.End
				default:
					runs[h] = run{len(shifts), turn}
					shifts = append(shifts, Shift{person, m.RoleID, p.Start, p.End, p.Group.Name})
				}
			}
		}
	}
	return shifts
}

// turnOf returns the first turn of a piece, in order of precedence, whose configured group has a person in a role; the
// first of all if none has, as of a person who covers for another.
func turnOf(p *oncall.Piece, s *oncall.Schedule, h holder) oncall.Source {
	for _, source := range p.Sources {
		holds := func(m oncall.Member) bool { return m.RoleID == h.role && slices.Contains(m.PersonIDs, h.person) }
		if len(p.Sources) > 1 && slices.ContainsFunc(s.Layers[source.Layer].Groups[source.Group].Members, holds) {
			return source
		}
	}
	return p.Sources[0]
}

// First returns the first events of a feed by start, at most maxEvents.
func First(events []Event) []Event {
	slices.SortFunc(events, func(a, b Event) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.UID, b.UID)) })
	return events[:min(len(events), maxEvents)]
}
