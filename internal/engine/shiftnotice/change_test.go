package shiftnotice

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tocsin/internal/core/oncall"
)

const hour, begin = 3600, 1767225600 // 1 January 2026, 00:00 UTC

// holder is a person in a role.
type holder struct{ role, person int64 }

// TestChangesEqualHourlyModel compares the changes, one after the other, with the persons on call in each hour. Between
// two changes no person changes, and the incoming and outgoing persons are the difference.
func TestChangesEqualHourlyModel(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for n := range 60 {
		s := hourlySchedule(random)
		now := func(at int64) map[holder]bool {
			p, _ := s.At(at)
			set := map[holder]bool{}
			for role, person := range holders(p) {
				set[holder{role, person}] = true
			}
			return set
		}
		at := int64(begin - hour)
		c, found := next(s, at)
		for before := now(at); at < begin+8*24*hour; {
			at += hour
			after := now(at)
			incoming, outgoing := differ(after, before, false), differ(before, after, true)
			var gotIncoming, gotOutgoing []int64
			if found && c.at == at {
				gotIncoming, gotOutgoing = slices.Sorted(slices.Values(c.incoming())), slices.Sorted(slices.Values(c.outgoing()))
				c, found = next(s, at)
			}
			if found && c.at <= at {
				t.Fatalf("seed %d, %d: the change at %d does not come after %d", seed, n, c.at, at)
			}
			if !slices.Equal(incoming, gotIncoming) || !slices.Equal(outgoing, gotOutgoing) {
				t.Fatalf("seed %d, %d: at %d come %v and go %v, want %v and %v", seed, n, at, gotIncoming, gotOutgoing, incoming, outgoing)
			}
			before = after
		}
	}
}

// differ returns the persons who hold a role in a that they do not hold in b; with wholly, those who hold none in b.
func differ(a, b map[holder]bool, wholly bool) (ids []int64) {
	for h := range a {
		stays := b[h]
		for o := range maps.Keys(b) {
			stays = stays || wholly && o.person == h.person
		}
		if !stays && !slices.Contains(ids, h.person) {
			ids = append(ids, h.person)
		}
	}
	slices.Sort(ids)
	return ids
}

// hourlySchedule returns a random schedule whose shifts all begin on the hour.
func hourlySchedule(random *rand.Rand) *oncall.Schedule {
	s := &oncall.Schedule{Zone: time.UTC}
	group := func() oncall.Group {
		g := oncall.Group{Name: fmt.Sprint(random.IntN(9))}
		for range 1 + random.IntN(2) {
			g.Members = append(g.Members, oncall.Member{RoleID: random.Int64N(2), PersonIDs: []int64{1 + random.Int64N(4)}})
		}
		return g
	}
	for range 1 + random.IntN(2) {
		l := oncall.Layer{Start: begin + hour*random.Int64N(48), Unit: oncall.Hour, Value: 1 + random.IntN(30)}
		for range 1 + random.IntN(3) {
			l.Groups = append(l.Groups, group())
		}
		if random.IntN(2) == 0 {
			l.RestrictMode = oncall.RestrictDay
			l.Restrict = []oncall.Period{{Start: hour * random.Int64N(24), End: hour * random.Int64N(24)}}
		}
		s.Layers = append(s.Layers, l)
	}
	if random.IntN(2) == 0 {
		from := begin + hour*random.Int64N(100)
		s.Layers = append(s.Layers, oncall.Layer{Mode: oncall.Override, Start: from, End: from + hour*(1+random.Int64N(20)), Groups: []oncall.Group{group()}})
	}
	return s
}

// TestUntilJoinsAdjacentShifts follows a person through shifts without a gap between them.
func TestUntilJoinsAdjacentShifts(t *testing.T) {
	t.Parallel()
	who := func(ids ...int64) oncall.Group {
		return oncall.Group{Members: []oncall.Member{{PersonIDs: ids}}}
	}
	s := &oncall.Schedule{Layers: []oncall.Layer{{Start: begin, Unit: oncall.Day, Value: 1, Groups: []oncall.Group{who(1, 9), who(1, 2, 9), who(3, 9)}}}}
	first, _ := s.At(begin)
	turn := ahead{s, []*oncall.Piece{first}}
	if got := turn.until(1); got != begin+2*24*hour {
		t.Errorf("person 1 is on call until %d", got)
	}
	if got := turn.until(9); got != 0 {
		t.Errorf("the end of an endless shift is %d", got)
	}
}
