package oncall

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTwins: of two layers that differ in nothing but that one skips the days off of some calendars and the other is on
// only then, exactly one is on whenever the layer without calendars is.
func TestTwins(t *testing.T) {
	seed := time.Now().UnixNano() & 0xffffffff
	both := 0
	for n := range uint64(200) {
		c := randomCase(t, rand.New(rand.NewPCG(uint64(seed), n)))
		c.Absences, c.Covers = nil, nil
		plain := c.Layers[0]
		if plain.Mode == Override {
			continue
		}
		calendars := append(slices.Clone(plain.Skip), calendarOf(monToFri, Exception{c.from / day * day, c.from/day*day + 2*day, n%2 == 0}))
		plain.Skip, plain.Only = nil, nil
		skip, only := plain, plain
		skip.Skip, only.Only = calendars, calendars
		c.Layers = []Layer{plain, skip, only}
		got := c.Window(c.from, c.to).Layers
		stretches := func(list ...Entry) (out []stretch) {
			for _, e := range list {
				out = append(out, stretch{e.Start, e.End})
			}
			return unite(out)
		}
		in, _ := split(stretches(got[1]...), stretches(got[2]...))
		if len(in) > 0 {
			t.Fatalf("seed %d case %d: both are on in %v", seed, n, in)
		}
		if a, b := stretches(got[0]...), stretches(append(slices.Clone(got[1]), got[2]...)...); !slices.Equal(a, b) {
			t.Fatalf("seed %d case %d: together on in %v, without calendars in %v", seed, n, b, a)
		}
		if len(got[1]) > 0 && len(got[2]) > 0 {
			both++
		}
	}
	if both < 20 {
		t.Errorf("seed %d: only %d cases in which both twins are on", seed, both)
	}
}

// TestEveryoneAbsent: when no group has a person present no one stands in, whatever the choice, and the rotation goes on.
func TestEveryoneAbsent(t *testing.T) {
	const start = 1780272000
	s := &Schedule{Layers: []Layer{{Start: start, Unit: Day, Value: 1, Groups: groups("AB"), Fair: true}},
		Absences: []Absence{{'A', start + day, start + 2*day}, {'B', start + day, start + 2*day}}}
	for _, s.WhenAbsent = range []WhenAbsent{AbsentNext, AbsentGap} {
		if got, want := pieceWords(s.Window(start, start+3*day).Final), "A [1780272000,1780358400) B [1780444800,1780531200)"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		w := s.Why(start + day + 5)
		if l := w.Layers[0]; l.Reason != Absent || l.Turn != 1 || l.Group != 1 || !slices.Equal(l.Absences, []int{1}) || w.Piece != nil {
			t.Errorf("explained as %+v", l)
		}
	}
}

// TestStandInUsesNoTurn: a group that stands in has its own turns as before, and one without persons never stands in.
func TestStandInUsesNoTurn(t *testing.T) {
	const start = 1780272000
	list := groups("ABCD")
	list[1].Members = nil
	s := &Schedule{Layers: []Layer{{Start: start, Unit: Day, Value: 1, Groups: list}}, Absences: []Absence{{'A', start, start + day}}}
	want := "C [1780272000,1780358400) B [1780358400,1780444800) C [1780444800,1780531200) D [1780531200,1780617600) A [1780617600,1780704000)"
	if got := pieceWords(s.Window(start, start+5*day).Final); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	w := s.Why(start)
	if l := w.Layers[0]; l.Reason != OnCall || l.Group != 0 || l.Entry.Group != 2 || l.Presence.TurnOf != 0 || !slices.Equal(l.Absences, []int{0}) {
		t.Errorf("explained as %+v", l)
	}
	if words := strings.Join(w.Words(s), "\n"); !strings.Contains(words, `is in turn 0, of group "A", on`) || !strings.Contains(words, `no one in it is present, and group "C" stands in (R26)`) {
		t.Error(words)
	}
}

// TestCoverWords: the explanation names whom a cover replaces, or states that it has no effect.
func TestCoverWords(t *testing.T) {
	const start = 1780272000
	s := &Schedule{Layers: []Layer{{Start: start, End: start + day, Unit: Day, Value: 1, Groups: groups("A")}}, Covers: []Cover{
		{ID: 7, Start: start, End: start + 2*day, PersonID: 'A', RoleID: AnyRole, By: 'X'},
		{ID: 8, Start: start, End: start + 2*day, PersonID: 'A', RoleID: AnyRole, By: 'Y'},
	}}
	words := s.Why(start).Words(s)
	if words[2] != "cover 7 puts person 88 on call in place of person 65 (R24)." || words[3] != "cover 8 by person 89 has no effect: no one whom it covers is on call (R24)." {
		t.Errorf("%q", words)
	}
	if w := s.Why(start + day); w.Piece != nil || len(w.Covers) != 2 || w.Covers[0].Holders != nil {
		t.Errorf("a cover of a gap: %+v", w)
	}
}

// TestExceptionBounds: what cannot be a cover or an absence is refused with its path, its bound and what came.
func TestExceptionBounds(t *testing.T) {
	cover := Cover{Start: 5, End: 9, PersonID: 1, RoleID: AnyRole, By: 2}
	with := func(change func(c *Cover)) Schedule {
		c := cover
		change(&c)
		return Schedule{Covers: []Cover{cover, c}}
	}
	many := slices.Repeat([]Cover{cover}, 100)
	if err := (&Schedule{Covers: append(many, Cover{Start: 9, End: 10, PersonID: 1, RoleID: AnyRole, By: 2})}).Check(); err != nil {
		t.Errorf("a hundred covers and one after them: %v", err)
	}
	for want, s := range map[string]Schedule{
		"overrides must be 100 at most at one moment, got 101 at 5":              {Covers: append(many, cover)},
		"overrides must be 1000 at most, got 1001":                               {Covers: slices.Repeat([]Cover{cover}, 1001)},
		"absences must be 10000 at most, got 10001":                              {Absences: slices.Repeat([]Absence{{1, 5, 9}}, 10001)},
		"absences[0].end must be after start 9, got 9":                           {Absences: []Absence{{1, 9, 9}}},
		"when_absent must be 0 or 1, got 2":                                      {WhenAbsent: 2},
		"overrides[1].start must be 1 to 253402300799, got 0":                    with(func(c *Cover) { c.Start = 0 }),
		"overrides[1].end must be after start 5 and at most 253402300799, got 5": with(func(c *Cover) { c.End = 5 }),
		"overrides[1].by must be at least 1, got 0":                              with(func(c *Cover) { c.By = 0 }),
		"overrides[1].by must not be the covered person 1":                       with(func(c *Cover) { c.By = 1 }),
		"overrides[1].person_id is required without role_id":                     with(func(c *Cover) { c.PersonID = 0 }),
		"layers[0].skip_cal_ids must be 20 at most, got 21":                      {Layers: []Layer{{Start: 1, Unit: Day, Value: 1, Groups: groups("A"), Skip: slices.Repeat([]*Calendar{christmas}, 21)}}},
		"layers[0].only_cal_ids must be 20 at most, got 21":                      {Layers: []Layer{{Start: 1, Unit: Day, Value: 1, Groups: groups("A"), Only: slices.Repeat([]*Calendar{christmas}, 21)}}},
	} {
		err := s.Check()
		var invalid *ConfigError
		if !errors.As(err, &invalid) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestCrowd: in a group of very many persons and absences none of them counts, so that no one goes unpaged for want of
// arithmetic, and a warning states it.
func TestCrowd(t *testing.T) {
	s := crowd(1, 1000, 1000)
	if piece, _ := s.At(benchFrom + 20*day); piece == nil || piece.Group.persons() != 1000 {
		t.Errorf("on call are %+v", piece)
	}
	if warnings := s.Warnings(); len(warnings) != 1 || !strings.Contains(warnings[0].English(), "layers[0].groups[0] names too many persons") {
		t.Errorf("warnings %q", warnings)
	}
}

// TestManyCoversAtOnce: covers beyond the bound do not count, so that the persons whom they would replace stay on call.
func TestManyCoversAtOnce(t *testing.T) {
	s := &Schedule{Layers: []Layer{{Start: 100, Unit: Week, Value: 1, Groups: groups("A")}}}
	for i := range int64(MaxTogether + 1) {
		s.Covers = append(s.Covers, Cover{Start: 200, End: 300, PersonID: 'A' + i, RoleID: AnyRole, By: 'A' + i + 1})
	}
	piece, _ := s.At(250)
	if got := piece.Group.Members[0].PersonIDs; !slices.Equal(got, []int64{'A' + MaxTogether}) || len(piece.Covers()) != MaxTogether {
		t.Errorf("on call are %v by %d covers", got, len(piece.Covers()))
	}
}

// crowd is a schedule with many groups, persons and absences.
func crowd(groups, inGroup, absences int) *Schedule {
	r := rand.New(rand.NewPCG(1, 2))
	s := &Schedule{Layers: []Layer{{Start: benchFrom - 30*day, Unit: Hour, Value: 1}}}
	person := int64(1)
	for range groups {
		g := Group{Members: []Member{{}}}
		for range inGroup {
			g.Members[0].PersonIDs = append(g.Members[0].PersonIDs, person)
			person++
		}
		s.Layers[0].Groups = append(s.Layers[0].Groups, g)
	}
	for range absences {
		start := benchFrom + r.Int64N(45*day)
		s.Absences = append(s.Absences, Absence{1 + r.Int64N(person-1), start, start + 1 + r.Int64N(20*day)})
	}
	return s
}

// BenchmarkAbsences: the cost grows with what the window holds, also where nearly everyone is absent.
func BenchmarkAbsences(b *testing.B) {
	gone := crowd(1000, 1, 0)
	for i := range int64(999) { // only the last one is there
		gone.Absences = append(gone.Absences, Absence{i + 1, 1, lastInstant})
	}
	none := crowd(1000, 1, 0)
	for i := range int64(1000) {
		none.Absences = append(none.Absences, Absence{i + 1, 1, lastInstant})
	}
	for _, x := range []struct {
		name string
		s    *Schedule
	}{
		{"groups=10,persons=3,absences=50", crowd(10, 3, 50)},
		{"groups=1000,persons=10,absences=1000", crowd(1000, 10, 1000)},
		{"groups=1000,persons=10,absences=10000", crowd(1000, 10, 10000)},
		{"groups=1000,one_present", gone}, {"groups=1000,no_one_present", none},
		{"groups=1,persons=5000,absences=10000", crowd(1, 5000, 10000)},
		{"groups=1,persons=100,absences=10000", crowd(1, 100, 10000)},
	} {
		b.Run("window/"+x.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x.s.Window(benchFrom, benchTo)
			}
		})
		b.Run("at/"+x.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x.s.At(benchFrom + 20*day)
			}
		})
	}
}

// BenchmarkCovers: the worst that Check lets pass, every cover of the same person at the same time, or a chain of all.
func BenchmarkCovers(b *testing.B) {
	for _, persons := range []int{3, 5000} {
		chain, same := crowd(1, persons, 0), crowd(1, persons, 0)
		for i := range int64(MaxCovers) {
			start, end := benchFrom+i*600, benchTo-i*600
			chain.Covers = append(chain.Covers, Cover{Start: start, End: end, PersonID: 1 + i, RoleID: AnyRole, By: 2 + i})
			same.Covers = append(same.Covers, Cover{Start: start, End: end, By: 1 + i%2})
		}
		for name, s := range map[string]*Schedule{"chain": chain, "role": same} {
			b.Run(fmt.Sprintf("window/%s,persons=%d", name, persons), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.Window(benchFrom, benchTo)
				}
			})
			b.Run(fmt.Sprintf("at/%s,persons=%d", name, persons), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.At(benchFrom + 20*day)
				}
			})
		}
	}
}
