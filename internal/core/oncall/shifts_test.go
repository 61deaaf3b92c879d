package oncall

import (
	"cmp"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// TestDiffAgainstModel changes random schedules at random and compares what is gained and lost with the
// model, which determines at every grain of the window who is on call before and after.
func TestDiffAgainstModel(t *testing.T) {
	cases := setting(t, "TOCSIN_TIMELINE_CASES", 300) / 10
	seed := setting(t, "TOCSIN_TIMELINE_SEED", time.Now().UnixNano()&0xffffffff)
	t.Logf("seed %d, %d cases", seed, cases)
	changed := 0
	for n := range cases {
		r := rand.New(rand.NewPCG(uint64(seed), uint64(n)))
		c := randomCase(t, r)
		after := c.changed(r)
		if after.Check() != nil {
			continue
		}
		changed++
		shifts := func(s *Schedule) []Shift { return s.Shifts(s.Window(c.from, c.to).Final) }
		before := shifts(c.Schedule)
		gained, lost := Diff(before, shifts(after))
		model := func(in, notIn *Schedule) []Shift { return c.sampled(t, in, notIn) }
		if got, want := unlabelled(gained), model(after, c.Schedule); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d case %d: gained %v, want %v\nbefore %s\nafter %+v", seed, n, got, want, c, after.Layers)
		}
		if got, want := unlabelled(lost), model(c.Schedule, after); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d case %d: lost %v, want %v\nbefore %s\nafter %+v", seed, n, got, want, c, after.Layers)
		}
		if gained, lost := Diff(before, shifts(c.Schedule)); gained != nil || lost != nil {
			t.Fatalf("seed %d case %d: nothing changed, gained %v, lost %v", seed, n, gained, lost)
		}
		c.checkSources(t, before)
	}
	if changed < int(cases)/2 {
		t.Errorf("seed %d: only %d of %d changes were acceptable", seed, changed, cases)
	}
}

// changed returns the schedule with a change of the kinds that people make.
func (c testCase) changed(r *rand.Rand) *Schedule {
	copied := *c.Schedule
	s := &copied
	s.Layers = slices.Clone(c.Layers)
	i := r.IntN(len(s.Layers))
	l := &s.Layers[i]
	switch r.IntN(9) {
	case 0:
		s.Layers = slices.Delete(s.Layers, i, i+1)
	case 1:
		l.Groups = randomGroups(r)
	case 2:
		l.Weight = r.IntN(4) - 1
	case 3:
		l.Start += c.grain * (1 + r.Int64N(2000))
	case 4:
		l.Groups = slices.Clone(l.Groups)
		slices.Reverse(l.Groups)
	case 5:
		s.Zone = time.UTC
	case 6:
		s.Covers = s.Covers[:len(s.Covers)/2]
	case 7:
		s.Absences = s.Absences[:len(s.Absences)/2]
	case 8:
		s.WhenAbsent = 1 - s.WhenAbsent
	}
	return s
}

// sampled returns who is on call by the model in one schedule and not in the other, at every grain.
func (c testCase) sampled(t *testing.T, in, notIn *Schedule) []Shift {
	t.Helper()
	there, gone := c.holders(t, in), c.holders(t, notIn)
	var list []Shift
	for _, person := range []int64{1, 2, 3, 4, 5, 6, 7, 'A', 'B', 'C', 'D', 'E', 'F'} { // all that randomGroups and covers use
		for role := range int64(3) {
			h := Holder{role, person}
			for at := c.from; at < c.to; {
				next := min((at/c.grain+1)*c.grain, c.to)
				if there[at][h] && !gone[at][h] {
					if n := len(list); n > 0 && list[n-1].PersonID == person && list[n-1].RoleID == role && list[n-1].End == at {
						list[n-1].End = next
					} else {
						list = append(list, Shift{PersonID: person, RoleID: role, Start: at, End: next})
					}
				}
				at = next
			}
		}
	}
	return list
}

// holders returns who is on call by the model from every grain of the window to the next.
func (c testCase) holders(t *testing.T, s *Schedule) map[int64]map[Holder]bool {
	t.Helper()
	final, all := naive(t, s, c.from, c.to, c.grain).Final, map[int64]map[Holder]bool{}
	for at := c.from; at < c.to; at = (at/c.grain + 1) * c.grain {
		now := map[Holder]bool{}
		for _, p := range final {
			if p.Start <= at && at < p.End {
				for _, m := range p.Group.Members {
					for _, person := range m.PersonIDs {
						now[Holder{m.RoleID, person}] = true
					}
				}
			}
		}
		all[at] = now
	}
	return all
}

// unlabelled clears the layer and group of shifts and joins those that touch.
func unlabelled(shifts []Shift) (joined []Shift) {
	for _, s := range shifts {
		s.Layer, s.Group = 0, 0
		if n := len(joined); n > 0 && joined[n-1].holding(s) == 0 && joined[n-1].End == s.Start {
			joined[n-1].End = s.End
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}

// checkSources checks that shifts are sorted, and that each comes from a group that is on call then, with that person
// or with one whom that person covers.
func (c testCase) checkSources(t *testing.T, shifts []Shift) {
	t.Helper()
	if !slices.IsSortedFunc(shifts, func(a, b Shift) int { return cmp.Or(a.holding(b), cmp.Compare(a.Start, b.Start)) }) {
		t.Fatalf("not in order: %v", shifts)
	}
	final := c.Window(c.from, c.to).Final
	for _, s := range shifts {
		for at := s.Start; at < s.End; {
			i := slices.IndexFunc(final, func(p Piece) bool { return p.Start <= at && at < p.End })
			from := slices.IndexFunc(final[i].Sources, func(o Source) bool { return o.Layer == s.Layer && o.Group == s.Group })
			named := slices.ContainsFunc(c.Layers[s.Layer].Groups[s.Group].Members, func(m Member) bool {
				return m.RoleID == s.RoleID && slices.Contains(m.PersonIDs, s.PersonID)
			})
			covers := slices.ContainsFunc(final[i].Covers(), func(i int) bool { return c.Covers[i].By == s.PersonID })
			if from < 0 || !named && !covers {
				t.Fatalf("%+v does not come from piece %+v", s, final[i])
			}
			at = final[i].End
		}
	}
}

func TestDiffOfExchange(t *testing.T) {
	of := func(people ...int64) []Group {
		var out []Group
		for _, p := range people {
			out = append(out, Group{Members: []Member{{PersonIDs: []int64{p}}}})
		}
		return out
	}
	daily := func(groups []Group) *Schedule {
		return &Schedule{Layers: []Layer{{Start: 86400 * 10, Unit: Day, Value: 1, Groups: groups}}}
	}
	shifts := func(s *Schedule) []Shift { return s.Shifts(s.Window(86400*10, 86400*12).Final) }
	gained, lost := Diff(shifts(daily(of(1, 2))), shifts(daily(of(2, 2))))
	if want := []Shift{{PersonID: 2, Start: 86400 * 10, End: 86400 * 11}}; !reflect.DeepEqual(gained, want) {
		t.Errorf("gained %+v", gained)
	}
	if want := []Shift{{PersonID: 1, Start: 86400 * 10, End: 86400 * 11}}; !reflect.DeepEqual(lost, want) {
		t.Errorf("lost %+v", lost)
	}
}
