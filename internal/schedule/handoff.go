package schedule

import (
	"slices"
	"time"

	"tocsin/internal/platform/db"
)

// Handoff is a moment at which other persons are on call than before.
type Handoff struct {
	At       int64   // Unix seconds
	From, To []int64 // persons; empty: no one is on call
}

// Handoffs returns the handoffs of a schedule between two moments (Unix seconds), in order, with the schedule's name. found
// is false when the account has no such schedule. zone is the account's.
func Handoffs(tx *db.Tx, account, schedule, from, until int64, zone *time.Location) (list []Handoff, name string, found bool, err error) {
	s, err := find(tx, account, schedule)
	if err != nil || s == nil {
		return nil, "", false, err
	}
	e, err := s.engine(zone)
	if err != nil {
		return nil, s.Name, true, err
	}
	end, before := from-1, []int64{}
	change := func(at int64, now []int64) {
		if at > from && at < until && !slices.Equal(before, now) {
			list = append(list, Handoff{at, before, now})
		}
		before = now
	}
	for _, piece := range e.Window(from-1, until).Final { // who was on call just before belongs to the first handoff
		if piece.Start > end {
			change(end, []int64{})
		}
		persons := []int64{}
		for _, m := range piece.Group.Members {
			persons = append(persons, m.PersonIDs...)
		}
		persons = distinct(persons)
		slices.Sort(persons)
		change(piece.Start, persons)
		end = piece.End
	}
	change(end, []int64{})
	return list, s.Name, true, nil
}
