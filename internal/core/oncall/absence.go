package oncall

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
)

// Presence is what absences changed in an entry (R25, R26). An entry that they did not change has none.
type Presence struct {
	TurnOf int     // index in Layer.Groups of the group whose turn it is; the entry's Group stands in for it where the two differ
	Absent []int64 // the persons of the entry's Group who are absent, sorted
	Group  Group   // the entry's Group without them

	key string // what changed, for comparing and caching: equal in all computations of a schedule
}

// MaxThinned bounds the work for one group: its persons times the absences among them. In a larger group, which has
// a hundred persons in one shift, absences do not count: to page an absent person is better than to page no one.
const MaxThinned = 100_000

// roster is what the absences mean for one rotation.
type roster struct {
	absentees [][]int64   // per group, the persons who are ever absent, sorted
	thin      [][]stretch // per group, when anyone is absent
	gone      [][]stretch // per group, when everyone is absent; never for a group without persons
	closed    []stretch   // when every group that has persons is gone
}

// awayTimes returns when each person is absent, sorted and united.
func awayTimes(absences []Absence) map[int64][]stretch {
	if len(absences) == 0 {
		return nil
	}
	away := map[int64][]stretch{}
	for _, a := range absences {
		if a.Start < a.End {
			away[a.PersonID] = append(away[a.PersonID], stretch{a.Start, a.End})
		}
	}
	for person, list := range away {
		away[person] = unite(list)
	}
	return away
}

// roster returns what the absences mean for a rotation; nil when no one in it is ever absent.
func (e *engine) roster(r *rotation) *roster {
	n := len(r.Groups)
	out := &roster{make([][]int64, n), make([][]stretch, n), make([][]stretch, n), nil}
	anyone := false
	first := true
	for i := range r.Groups {
		g := &r.Groups[i]
		if g.persons() == 0 {
			continue
		}
		if !e.crowded(g) {
			out.absentees[i], out.thin[i] = e.absentees(g)
		}
		if len(out.thin[i]) > 0 {
			anyone = true
			out.gone[i] = e.gone(g)
		}
		if first {
			out.closed, first = out.gone[i], false
		} else {
			out.closed, _ = split(out.closed, out.gone[i])
		}
	}
	if !anyone {
		return nil
	}
	return out
}

// crowded reports whether a group is too large for its absences to count.
func (e *engine) crowded(g *Group) bool {
	absences := 0
	for _, m := range g.Members {
		for _, person := range m.PersonIDs {
			absences += len(e.away[person])
		}
	}
	return absences*g.persons() > MaxThinned
}

// absentees returns the persons of a group who are ever absent, and when any of them is.
func (e *engine) absentees(g *Group) (persons []int64, when []stretch) {
	for _, m := range g.Members {
		for _, person := range m.PersonIDs {
			if len(e.away[person]) > 0 {
				persons = append(persons, person)
			}
		}
	}
	slices.Sort(persons)
	persons = slices.Compact(persons)
	for _, person := range persons {
		when = append(when, e.away[person]...)
	}
	return persons, unite(when)
}

// gone returns when everyone in a group is absent.
func (e *engine) gone(g *Group) []stretch {
	all := []stretch{{-forever, forever}}
	for _, m := range g.Members {
		for _, person := range m.PersonIDs {
			all, _ = split(all, e.away[person])
			if len(all) == 0 {
				return nil
			}
		}
	}
	return all
}

// split divides stretches into the parts within a list and those outside it. Both are sorted and disjoint.
func split(all, list []stretch) (in, out []stretch) {
	for _, s := range all {
		for _, x := range meeting(list, s) {
			if s.start < x.start {
				out = append(out, stretch{s.start, x.start})
				s.start = x.start
			}
			end := min(s.end, x.end)
			in = append(in, stretch{s.start, end})
			s.start = end
		}
		if s.start < s.end {
			out = append(out, s)
		}
	}
	return in, out
}

// meeting returns the part of a sorted and disjoint list that meets a stretch.
func meeting(list []stretch, s stretch) []stretch {
	from := sort.Search(len(list), func(i int) bool { return list[i].end > s.start })
	list = list[from:]
	return list[:sort.Search(len(list), func(i int) bool { return list[i].start >= s.end })]
}

// attended returns a rotation's entries after its absences: without the absent persons, and where no one of a group
// is present, of the group that stands in, or not at all (R25, R26).
func (e *engine) attended(r *rotation, list []Entry) []Entry {
	if r.roster == nil {
		return list
	}
	out := make([]Entry, 0, len(list))
	for _, x := range list {
		whole := stretch{x.Start, x.End}
		if len(meeting(r.roster.thin[x.Group], whole)) == 0 {
			out = append(out, x)
			continue
		}
		first := len(out)
		gone, present := split([]stretch{whole}, r.roster.gone[x.Group])
		for _, s := range present {
			out = e.serve(out, r, x, s, x.Group)
		}
		if e.WhenAbsent == AbsentNext {
			out = e.standIn(out, r, x, gone)
		}
		slices.SortFunc(out[first:], func(a, b Entry) int { return cmp.Compare(a.Start, b.Start) })
	}
	return out
}

// standIn appends the entries of the groups that take parts of an entry in which its own group is gone: of the groups
// of the next turns, in order, the first that has a person present (R26). Turns are not used up by this.
func (e *engine) standIn(out []Entry, r *rotation, x Entry, left []stretch) []Entry {
	// Without the time in which no group can, the search ends: n groups in a row
	// of turns, or twice as many where the order shifts, are all of them.
	_, left = split(left, r.roster.closed)
	for k := x.Turn + 1; len(left) > 0; k++ {
		g := r.group(k)
		if r.Groups[g].persons() == 0 {
			continue
		}
		var free []stretch
		left, free = split(left, r.roster.gone[g])
		for _, s := range free {
			out = e.serve(out, r, x, s, g)
		}
	}
	return out
}

// serve appends the entries of a group in a part of an entry, one for every set of absent persons.
func (e *engine) serve(out []Entry, r *rotation, x Entry, s stretch, group int) []Entry {
	type bound struct {
		at     int64
		person int64
		leaves bool
	}
	var bounds []bound
	for _, person := range r.roster.absentees[group] {
		for _, away := range meeting(e.away[person], s) {
			bounds = append(bounds, bound{max(away.start, s.start), person, true}, bound{away.end, person, false})
		}
	}
	slices.SortFunc(bounds, func(a, b bound) int { return cmp.Compare(a.at, b.at) })
	var absent []int64
	for at := s.start; at < s.end; {
		for len(bounds) > 0 && bounds[0].at <= at {
			i, found := slices.BinarySearch(absent, bounds[0].person)
			if bounds[0].leaves && !found {
				absent = slices.Insert(absent, i, bounds[0].person)
			} else if !bounds[0].leaves && found {
				absent = slices.Delete(absent, i, i+1)
			}
			bounds = bounds[1:]
		}
		next := s.end
		if len(bounds) > 0 {
			next = min(next, bounds[0].at)
		}
		piece := x
		piece.Start = at
		piece.End = next
		piece.Group = group
		piece.presence = e.presence(r, x.Group, group, absent)
		if at != x.Start {
			piece.StartBy = CauseAbsence
		}
		if next != x.End {
			piece.EndBy = CauseAbsence
		}
		out = append(out, piece)
		at = next
	}
	return out
}

// presence returns the number of the change that absences make in an entry; 0 for none. Equal changes have the same.
func (e *engine) presence(r *rotation, turnOf, group int, absent []int64) int32 {
	if turnOf == group && len(absent) == 0 {
		return 0
	}
	key := make([]byte, 0, 64)
	for _, n := range []int{r.index, turnOf, group} {
		key = binary.AppendUvarint(key, uint64(n))
	}
	for _, person := range absent {
		key = binary.AppendVarint(key, person)
	}
	n, found := e.known[string(key)]
	if !found {
		e.presences = append(e.presences, &Presence{turnOf, slices.Clone(absent), r.Groups[group].without(absent), string(key)})
		if e.known == nil {
			e.known = map[string]int32{}
		}
		n = int32(len(e.presences))
		e.known[string(key)] = n
	}
	return n
}

// presenceOf returns the change with a number; nil for 0.
func (e *engine) presenceOf(n int32) *Presence {
	if n == 0 {
		return nil
	}
	return e.presences[n-1]
}

// without returns the group without the persons of a sorted list, and without the roles that no one has then.
func (g *Group) without(absent []int64) Group {
	if len(absent) == 0 {
		return *g
	}
	out := Group{Name: g.Name}
	for _, m := range g.Members {
		var persons []int64
		for _, person := range m.PersonIDs {
			if _, away := slices.BinarySearch(absent, person); !away {
				persons = append(persons, person)
			}
		}
		if len(persons) > 0 || len(m.PersonIDs) == 0 {
			out.Members = append(out.Members, Member{m.RoleID, persons})
		}
	}
	return out
}
