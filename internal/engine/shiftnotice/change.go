package shiftnotice

import (
	"slices"

	"tocsin/internal/core/oncall"
)

// change is a moment at which a stretch of the final timeline ends, or another begins, or both.
type change struct {
	at      int64         // Unix seconds
	out, in *oncall.Piece // who was on call before, and is from then on; nil: nobody
}

// next is the first change after a moment; found is false when there is none within oncall.Horizon.
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

// comers are those who take over, be it in another role than before; each once.
func (c change) comers() (ids []int64) {
	for m, id := range holders(c.in) {
		if !slices.Contains(ids, id) && !holds(c.out, m, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// goers are those who are not on call any more; each once.
func (c change) goers() (ids []int64) {
	for _, id := range holders(c.out) {
		if !slices.Contains(ids, id) && !on(c.in, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// holders goes through the roles and persons of a piece.
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

func holds(p *oncall.Piece, role, person int64) bool {
	for r, id := range holders(p) {
		if r == role && id == person {
			return true
		}
	}
	return false
}

// on tells whether somebody is on call in a piece, in whatever role.
func on(p *oncall.Piece, person int64) bool {
	for _, id := range holders(p) {
		if id == person {
			return true
		}
	}
	return false
}

// everybody of a piece, each once.
func everybody(p *oncall.Piece) []int64 { return change{in: p}.comers() }

// ahead is a piece with those that follow it without a gap, as far as they were asked for.
type ahead struct {
	schedule *oncall.Schedule
	pieces   []*oncall.Piece
}

// maxAhead is how many turns in a row are looked at for the end of somebody's time on call.
const maxAhead = 40

// until is when a person who is on call in the first piece is not any more; 0: not within maxAhead turns.
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
