package oncall

import (
	"cmp"
	"slices"
)

// Shift is a stretch of time in which one person is on call in one role, because of one group of one layer.
// Where several groups contain the person, it is the first of them in order of precedence. Of a person who covers
// others it is the group of the first of them.
type Shift struct {
	PersonID, RoleID int64
	Start, End       int64 // Unix seconds, [Start, End)
	Layer            int   // index in Schedule.Layers
	Group            int   // index in Layer.Groups
}

// Shifts returns the shifts in final pieces of the schedule, sorted by person, role and start. Shifts of one
// person in one role do not overlap, and those that touch differ in their layer or group.
func (s *Schedule) Shifts(pieces []Piece) []Shift {
	var shifts []Shift
	last := map[Holder]int{} // per holder, the index of the last shift so far
	for i := range pieces {
		p := &pieces[i]
		s.eachHolder(p, func(h Holder, from Source) {
			if j, ok := last[h]; ok && shifts[j].End == p.Start && shifts[j].Layer == from.Layer && shifts[j].Group == from.Group {
				shifts[j].End = p.End
				return
			}
			last[h] = len(shifts)
			shifts = append(shifts, Shift{h.PersonID, h.RoleID, p.Start, p.End, from.Layer, from.Group})
		})
	}
	slices.SortFunc(shifts, func(a, b Shift) int { return cmp.Or(a.holding(b), cmp.Compare(a.Start, b.Start)) })
	return shifts
}

// eachHolder calls do for everyone on call in a piece, once in each role, with the source that they are on call for.
func (s *Schedule) eachHolder(p *Piece, do func(h Holder, from Source)) {
	seen := map[Holder]bool{}
	var covers *covering
	if list := p.Covers(); len(list) > 0 {
		covers = s.noCovering()
		for _, c := range list {
			covers.add(c)
		}
	}
	for i, source := range p.Sources {
		for _, m := range s.serving(source, p.Presence(i)).Members {
			for _, person := range m.PersonIDs {
				h := Holder{m.RoleID, person}
				if covers != nil {
					h.PersonID = covers.follow(m.RoleID, person)
				}
				if !seen[h] {
					seen[h] = true
					do(h, source)
				}
			}
		}
	}
}

// holding compares two shifts by their person and role.
func (a Shift) holding(b Shift) int {
	return cmp.Or(cmp.Compare(a.PersonID, b.PersonID), cmp.Compare(a.RoleID, b.RoleID))
}

// Diff returns the differences between two lists of Shifts. Gained are the times in which a person is on call in
// a role after and not before, with the layers and groups of after. Lost are the times before and not after,
// with the layers and groups of before. Both are sorted as Shifts sorts. A person who is on call because of
// another layer or group than before has neither gained nor lost.
func Diff(before, after []Shift) (gained, lost []Shift) {
	return without(after, before), without(before, after)
}

// without returns the parts of shifts during which others has no shift of the same person in the same role.
// Both lists are sorted as Shifts sorts, so that one pass over each is enough.
func without(shifts, others []Shift) []Shift {
	var left []Shift
	for _, s := range shifts {
		for len(others) > 0 && (others[0].holding(s) < 0 || others[0].holding(s) == 0 && others[0].End <= s.Start) {
			others = others[1:]
		}
		for _, o := range others {
			if o.holding(s) != 0 || o.Start >= s.End {
				break
			}
			if s.Start < o.Start {
				head := s
				head.End = o.Start
				left = append(left, head)
			}
			s.Start = o.End
		}
		if s.Start < s.End {
			left = append(left, s)
		}
	}
	return left
}
