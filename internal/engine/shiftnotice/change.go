package shiftnotice

import (
	"slices"

	"tocsin/internal/core/oncall"
)

// change is a moment at which a shift of the final schedule ends, or another begins, or both.
type change struct {
	at      int64         // Unix seconds
	out, in *oncall.Piece // the shift before, and the one from then on; nil: no one is on call
}

// next returns the first change after a moment; found is false when there is none within oncall.Horizon.
func next(s *oncall.Schedule, after int64) (c change, found bool) {
	now, then := s.At(after)
	switch {
	case now == nil && then == nil:
		return c, false
	case now == nil:
		return change{then.Start, nil, then}, true
	case then != nil && then.Start == now.End:
		return change{now.End, now, then}, true
	}
	return change{now.End, now, nil}, true
}

// incoming returns the persons who take over, also those who only change their role; each once.
func (c change) incoming() (ids []int64) {
	for m, id := range holders(c.in) {
		if !slices.Contains(ids, id) && !holds(c.out, m, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// outgoing returns the persons who are not on call any more; each once.
func (c change) outgoing() (ids []int64) {
	for _, id := range holders(c.out) {
		if !slices.Contains(ids, id) && !on(c.in, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// holders iterates over the roles and persons of a shift.
func holders(p *oncall.Piece) func(yield func(role, person int64) bool) {
	return func(yield func(role, person int64) bool) {
		if p == nil {
			return
		}
		for _, m := range p.Group.Members {
			for _, id := range m.PersonIDs {
				if !yield(m.RoleID, id) {
					return
				}
			}
		}
	}
}

// holds reports whether a person is on call in a role of a shift.
func holds(p *oncall.Piece, role, person int64) bool {
	for r, id := range holders(p) {
		if r == role && id == person {
			return true
		}
	}
	return false
}

// on reports whether a person is on call in a shift, in any role.
func on(p *oncall.Piece, person int64) bool {
	for _, id := range holders(p) {
		if id == person {
			return true
		}
	}
	return false
}

// personsOf returns the persons of a shift, each once.
func personsOf(p *oncall.Piece) []int64 { return change{in: p}.incoming() }

// ahead is a shift with the shifts that follow it without a gap, as far as they were needed.
type ahead struct {
	schedule *oncall.Schedule
	pieces   []*oncall.Piece
}

// maxAhead is how many shifts in a row are searched for the end of a person's time on call.
const maxAhead = 40

// until returns when a person who is on call in the first shift is not on call any more; 0 when that is not within
// maxAhead shifts.
func (a *ahead) until(person int64) int64 {
	for i := range maxAhead {
		last := a.pieces[i]
		if i+1 == len(a.pieces) {
			_, then := a.schedule.At(last.Start)
			if then == nil || then.Start != last.End {
				return last.End
			}
			a.pieces = append(a.pieces, then)
		}
		if !on(a.pieces[i+1], person) {
			return last.End
		}
	}
	return 0
}
