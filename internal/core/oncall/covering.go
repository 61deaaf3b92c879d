package oncall

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// replaces reports whether a cover replaces a person in a role. No one is replaced by themselves.
func (c *Cover) replaces(role, person int64) bool {
	switch {
	case person == c.By:
		return false
	case c.PersonID == 0:
		return role == c.RoleID
	default:
		return person == c.PersonID && (c.RoleID == AnyRole || role == c.RoleID)
	}
}

// coverBounds returns the instants in (from, to) at which a cover begins or ends, sorted, each once.
func (e *engine) coverBounds(from, to int64) []int64 {
	var bounds []int64
	for i := range e.Covers {
		c := &e.Covers[i]
		if c.Start >= c.End {
			continue
		}
		for _, at := range [...]int64{c.Start, c.End} {
			if from < at && at < to {
				bounds = append(bounds, at)
			}
		}
	}
	slices.Sort(bounds)
	return slices.Compact(bounds)
}

// coverSteps walks through the bounds of covers in order of time.
type coverSteps struct {
	engine  *engine
	bounds  []int64 // those still ahead
	current *covering
	known   bool // current holds until the next bound
}

// next returns the first bound after an instant, or the end of time.
func (s *coverSteps) next(after int64) int64 {
	for len(s.bounds) > 0 && s.bounds[0] <= after {
		s.bounds, s.known = s.bounds[1:], false
	}
	if len(s.bounds) > 0 {
		return s.bounds[0]
	}
	return math.MaxInt64
}

// at returns the covers in force at an instant, for which next was called; nil for none, or where they are not wanted.
func (s *coverSteps) at(at int64, wanted bool) *covering {
	if s.engine == nil || !wanted {
		return nil
	}
	if !s.known {
		s.current, s.known = s.engine.coveringAt(at), true
	}
	return s.current
}

// covering is the covers in force at one instant, indexed so that the next one that replaces a person is found without
// asking all of them.
type covering struct {
	covers   []Cover
	byPerson map[int64][]int // indexes in covers of those that replace a person, ascending
	byRole   map[int64][]int // likewise of those that replace everyone in a role

	results map[covered]int64 // who is on call in the end where a cover replaced anyone
	path    []int             // scratch space of follow
}

// covered is a cover that took effect in a role.
type covered struct {
	role  int64
	cover int
}

// coveringAt returns the covers in force at an instant; nil when there are none.
func (e *engine) coveringAt(at int64) *covering {
	var v *covering
	for _, i := range e.inForce(at) {
		if v == nil {
			v = e.noCovering()
		}
		v.add(i)
	}
	return v
}

// inForce returns the indexes of the covers that count at an instant: the first MaxTogether of those in force.
func (s *Schedule) inForce(at int64) (list []int) {
	for i := range s.Covers {
		if c := &s.Covers[i]; c.Start <= at && at < c.End && len(list) < MaxTogether {
			list = append(list, i)
		}
	}
	return list
}

// together returns the highest number of covers that are in force at one instant, and the first such instant.
func (s *Schedule) together() (at int64, most int) {
	var starts, ends []int64
	for _, c := range s.Covers {
		starts, ends = append(starts, c.Start), append(ends, c.End)
	}
	slices.Sort(starts)
	slices.Sort(ends)
	over := 0
	for i, start := range starts {
		for ends[over] <= start {
			over++
		}
		if n := i + 1 - over; n > most {
			at, most = start, n
		}
	}
	return at, most
}

// noCovering returns a covering without covers.
func (s *Schedule) noCovering() *covering {
	return &covering{covers: s.Covers, byPerson: map[int64][]int{}, byRole: map[int64][]int{}, results: map[covered]int64{}}
}

// add adds a cover after those before it.
func (v *covering) add(i int) {
	if c := &v.covers[i]; c.PersonID == 0 {
		v.byRole[c.RoleID] = append(v.byRole[c.RoleID], i)
	} else {
		v.byPerson[c.PersonID] = append(v.byPerson[c.PersonID], i)
	}
}

// next returns the first cover from the i-th on that replaces a person in a role; none if there is no such cover.
func (v *covering) next(i int, role, person int64) int {
	first := none
	for _, list := range [...][]int{v.byPerson[person], v.byRole[role]} {
		for _, j := range list[sort.SearchInts(list, i):] {
			if v.covers[j].replaces(role, person) {
				first = min(first, j)
				break
			}
		}
	}
	return first
}

// none is more than any index of a cover.
const none = int(^uint(0) >> 1)

// follow returns who is on call in place of a person in a role, after all covers in their order. Results are kept by
// cover, so that no chain of covers is followed twice.
func (v *covering) follow(role, person int64) int64 {
	v.path = v.path[:0]
	for i := v.next(0, role, person); i != none; i = v.next(i+1, role, person) {
		if result, known := v.results[covered{role, i}]; known {
			person = result
			break
		}
		v.path = append(v.path, i)
		person = v.covers[i].By
	}
	for _, i := range v.path {
		v.results[covered{role, i}] = person
	}
	return person
}

// apply returns a group after the covers, and the indexes of those that changed it, ascending; none when no cover did.
// In a group that covers change each person is once in a role, at the first place.
func (v *covering) apply(g *Group) (out Group, used []int) {
	if v == nil {
		return *g, nil
	}
	clear(v.results)
	out = Group{Name: g.Name, Members: make([]Member, 0, len(g.Members))}
	seen := map[Holder]bool{}
	for _, m := range g.Members {
		persons := make([]int64, 0, len(m.PersonIDs))
		for _, person := range m.PersonIDs {
			h := Holder{m.RoleID, v.follow(m.RoleID, person)}
			if !seen[h] {
				seen[h] = true
				persons = append(persons, h.PersonID)
			}
		}
		if len(persons) > 0 || len(m.PersonIDs) == 0 {
			out.Members = append(out.Members, Member{m.RoleID, persons})
		}
	}
	if len(v.results) == 0 {
		return *g, nil
	}
	for c := range v.results {
		used = append(used, c.cover)
	}
	slices.Sort(used)
	return out, slices.Compact(used)
}

// coverEdges narrows bounds, within which a piece's sources are on call, to the stretch around t in which the same
// covers change its group.
func (e *engine) coverEdges(p *Piece, t int64, bounds stretch) stretch {
	if len(e.Covers) == 0 {
		return bounds
	}
	base := e.base(p)
	same := func(at int64) bool {
		_, used := e.coveringAt(at).apply(&base)
		return slices.Equal(used, p.Covers())
	}
	at := e.coverBounds(bounds.start, bounds.end)
	after := sort.Search(len(at), func(i int) bool { return at[i] > t })
	for _, bound := range at[after:] {
		if !same(bound) {
			bounds.end = bound
			break
		}
	}
	for i := after - 1; i >= 0; i-- {
		before := bounds.start
		if i > 0 {
			before = at[i-1]
		}
		if !same(before) {
			bounds.start = at[i]
			break
		}
	}
	return bounds
}

// Replaced is what a cover in force does at an instant.
type Replaced struct {
	Cover   int      // index in Schedule.Covers
	Holders []Holder // whom it replaces, by role and person; none: it has no effect, because they are not on call then
}

// Holder is a person in an on-call role.
type Holder struct{ RoleID, PersonID int64 }

// replaced returns what each cover in force at an instant does to a group, in their order.
func (e *engine) replaced(g *Group, at int64) []Replaced {
	held := map[Holder]bool{}
	for _, m := range g.Members {
		for _, person := range m.PersonIDs {
			held[Holder{m.RoleID, person}] = true
		}
	}
	var out []Replaced
	for _, i := range e.inForce(at) {
		c, r := &e.Covers[i], Replaced{Cover: i}
		for h := range held {
			if c.replaces(h.RoleID, h.PersonID) {
				r.Holders = append(r.Holders, h)
			}
		}
		for _, h := range r.Holders {
			delete(held, h)
			held[Holder{h.RoleID, c.By}] = true
		}
		slices.SortFunc(r.Holders, func(a, b Holder) int {
			return cmp.Or(cmp.Compare(a.RoleID, b.RoleID), cmp.Compare(a.PersonID, b.PersonID))
		})
		out = append(out, r)
	}
	return out
}
