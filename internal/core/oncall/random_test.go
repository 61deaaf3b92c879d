package oncall

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"
)

// TestAgainstModel compares the engine with the model on random schedules in
// random zones, in windows that are mostly around a change of the clock.
//
// The usual run takes a few hundred cases. TOCSIN_TIMELINE_CASES sets their
// number and TOCSIN_TIMELINE_SEED the seed, which is printed; a failure names
// its case, and TOCSIN_TIMELINE_CASE=n runs that one alone.
func TestAgainstModel(t *testing.T) {
	cases := setting(t, "TOCSIN_TIMELINE_CASES", 300)
	seed := setting(t, "TOCSIN_TIMELINE_SEED", time.Now().UnixNano()&0xffffffff)
	only := setting(t, "TOCSIN_TIMELINE_CASE", -1)
	t.Logf("seed %d, %d cases", seed, cases)
	for n := range cases {
		if only >= 0 && n != only {
			continue
		}
		c := randomCase(t, rand.New(rand.NewPCG(uint64(seed), uint64(n))))
		if !c.agrees(t) || !c.holds(t) || !c.explains(t) {
			t.Fatalf("seed %d case %d: %s", seed, n, c)
		}
	}
}

func setting(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// testCase is one random schedule and window. In a case of a coarse grain
// everything happens on whole minutes, so that a walk by minutes misses nothing.
type testCase struct {
	*Schedule
	from, to int64
	grain    int64 // 1 or 60 seconds
	now      int64
}

func (c testCase) String() string {
	text := fmt.Sprintf("window %d..%d now %d zone %v", c.from, c.to, c.now, c.Zone)
	for i, l := range c.Layers {
		text += fmt.Sprintf("\n layers[%d] %+v", i, l)
		for _, c := range append(slices.Clone(l.Skip), l.Only...) {
			text += fmt.Sprintf(" %p: %+v", c, *c)
		}
	}
	text += fmt.Sprintf("\n covers %+v absences %+v when absent %d", c.Covers, c.Absences, c.WhenAbsent)
	return text
}

func randomCase(t testing.TB, r *rand.Rand) testCase {
	zone := randomZone(r)
	c := testCase{Schedule: &Schedule{Zone: location(t, zone)}}
	centre := 86400*40 + r.Int64N(70*365*86400)
	if all := changes(t, zone); len(all) > 0 && r.IntN(10) < 8 {
		centre = max(all[r.IntN(len(all))], 86400*40)
	}
	c.grain = 60
	if r.IntN(4) == 0 || centre < 3*365*86400 { // offsets had seconds until 1972
		c.grain = 1
		c.from = centre - r.Int64N(3*3600)
		c.to = c.from + 1 + r.Int64N(3*3600)
	} else {
		c.from = centre - r.Int64N(5*86400)
		c.to = c.from + 1 + r.Int64N(9*86400)
	}
	c.now = c.from + r.Int64N(c.to-c.from)
	for range 1 + r.IntN(4) {
		l := randomLayer(t, r, c, centre)
		l.Start = (l.Start + c.grain - 1) / c.grain * c.grain
		l.End = (l.End + c.grain - 1) / c.grain * c.grain
		l.Handoff = l.Handoff / c.grain * c.grain
		for i, p := range l.Restrict {
			l.Restrict[i] = Period{p.Start / c.grain * c.grain, p.End / c.grain * c.grain}
		}
		c.Layers = append(c.Layers, l)
	}
	c.randomExceptions(r)
	return c
}

// randomExceptions adds covers and absences near the window, and calendars to layers.
func (c *testCase) randomExceptions(r *rand.Rand) {
	period := func() (start, end int64) {
		start = c.from - 86400 + r.Int64N(c.to-c.from+2*86400)
		start = max(1, round(r, start)/c.grain) * c.grain
		return start, start + c.grain*(1+r.Int64N(3*86400/c.grain))
	}
	if r.IntN(2) == 0 {
		for range 1 + r.IntN(8) {
			start, end := period()
			if r.IntN(4) == 0 && len(c.Absences) > 0 { // one after the other
				last := c.Absences[len(c.Absences)-1]
				start, end = last.End, last.End+end-start
			}
			c.Absences = append(c.Absences, Absence{1 + r.Int64N(5), start, end})
		}
		c.WhenAbsent = WhenAbsent(r.IntN(2))
	}
	if r.IntN(2) == 0 {
		for i := range 1 + r.IntN(6) {
			start, end := period()
			cover := Cover{ID: int64(i), Start: start, End: end, PersonID: r.Int64N(6), RoleID: r.Int64N(4) - 1, By: 1 + r.Int64N(7)}
			if cover.PersonID != cover.By && (cover.PersonID != 0 || cover.RoleID != AnyRole) {
				c.Covers = append(c.Covers, cover)
			}
		}
	}
	var calendars []*Calendar
	for range 1 + r.IntN(3) {
		var exceptions []Exception
		for range r.IntN(6) {
			first := c.from/86400*86400 + (r.Int64N(16)-5)*86400
			exceptions = append(exceptions, Exception{first, first + 86400*r.Int64N(6), r.IntN(2) == 0})
		}
		calendars = append(calendars, calendarOf(Weekdays(r.IntN(128)), exceptions...))
	}
	for i := range c.Layers {
		if r.IntN(3) == 0 {
			c.Layers[i].Skip = calendars[:r.IntN(len(calendars)+1)]
		}
		if r.IntN(4) == 0 {
			c.Layers[i].Only = calendars[r.IntN(len(calendars)+1):]
		}
	}
}

func randomZone(r *rand.Rand) string {
	if r.IntN(3) == 0 {
		return namedZones[r.IntN(len(namedZones))]
	}
	return allZones[r.IntN(len(allZones))]
}

func randomLayer(t testing.TB, r *rand.Rand, c testCase, centre int64) Layer {
	l := Layer{Name: "layer", Weight: r.IntN(4) - 1, Groups: randomGroups(r)}
	loc := c.Zone
	if r.IntN(4) == 0 {
		l.Zone = location(t, randomZone(r))
		loc = l.Zone
	}
	if r.IntN(4) == 0 {
		l.Mode = Override
		l.Start = max(1, round(r, c.from-86400+r.Int64N(c.to-c.from+86400)))
		l.End = l.Start + c.grain + r.Int64N(c.to-c.from+3*86400)
		return l
	}
	l.Unit = Unit(1 + r.IntN(4))
	values := map[Unit][]int{Hour: {1, 2, 3, 6, 8, 12, 24}, Day: {1, 2, 3, 7, 14}, Week: {1, 2, 3}, Month: {1, 2, 3, 12}}[l.Unit]
	l.Value = values[r.IntN(len(values))]
	if r.IntN(4) == 0 {
		l.Value = 1 + r.IntN(30)
	}
	age := []int64{3 * 86400, 60 * 86400, 400 * 86400, 3650 * 86400}[r.IntN(4)]
	l.Start = c.to - r.Int64N(age)
	switch r.IntN(3) {
	case 0:
		l.Start = round(r, l.Start)
	case 1: // at the time of day at which the clock changes
		l.Start = centre - (centre-l.Start)/86400*86400 + r.Int64N(10800) - 5400
	}
	l.Start = max(1, l.Start)
	if r.IntN(4) == 0 {
		l.End = max(l.Start, c.from) + c.grain + r.Int64N(5*86400)
	}
	local := func(unit int64) int64 { // what the wall shows when the clock changes, give or take
		n := wallClock(loc, centre).Unix() + 3*86400 + round(r, r.Int64N(4*3600)) - 2*3600
		return (n%unit + unit) % unit
	}
	if r.IntN(2) == 0 {
		l.Handoff = r.Int64N(168) * 3600
		if r.IntN(2) == 0 {
			l.Handoff = local(7 * 86400)
		}
	}
	l.RestrictMode = RestrictMode(r.IntN(3))
	if l.RestrictMode != RestrictNone {
		unit := map[RestrictMode]int64{RestrictDay: 86400, RestrictWeek: 7 * 86400}[l.RestrictMode]
		edge := func() int64 {
			switch r.IntN(4) {
			case 0:
				return round(r, r.Int64N(unit+1))
			case 1:
				return []int64{0, unit}[r.IntN(2)]
			default:
				if l.RestrictMode == RestrictDay {
					return (local(unit) - 3*86400%unit + unit) % unit
				}
				return local(unit)
			}
		}
		for range r.IntN(4) {
			p := Period{edge(), edge()}
			if r.IntN(10) == 0 {
				p.End = p.Start
			}
			l.Restrict = append(l.Restrict, p)
		}
	}
	if r.IntN(2) == 0 {
		l.Mask = Weekdays(r.IntN(128))
	}
	l.Continuous = r.IntN(2) == 0
	l.Fair = r.IntN(3) == 0
	return l
}

// round moves an instant or offset to a whole half hour, usually.
func round(r *rand.Rand, n int64) int64 {
	if r.IntN(4) == 0 {
		return n
	}
	return n - n%1800
}

func randomGroups(r *rand.Rand) []Group {
	out := groups("ABCDEF"[:1+r.IntN(6)])
	for i := range out {
		for range r.IntN(3) {
			out[i].Members = append(out[i].Members, Member{RoleID: r.Int64N(3), PersonIDs: []int64{1 + r.Int64N(5), 1 + r.Int64N(5)}})
		}
	}
	return out
}

// core returns a timeline without what only the engine reports.
func core(tl Timeline) modelTimeline {
	out := modelTimeline{Layers: make([][]modelEntry, len(tl.Layers))}
	for i, list := range tl.Layers {
		for _, e := range list {
			p := tl.Presence(&e).core()
			e.StartBy = 0
			e.EndBy = 0
			e.presence = 0
			out.Layers[i] = append(out.Layers[i], modelEntry{e, p})
		}
	}
	for _, p := range tl.Final {
		p.Preempted = nil
		if p.Changes != nil {
			var presences []*Presence
			for _, x := range p.Changes.Presences {
				presences = append(presences, x.core())
			}
			p.Changes = &Changes{presences, p.Changes.Covers}
		}
		out.Final = append(out.Final, p)
	}
	return out
}

func (p *Presence) core() *Presence {
	if p == nil {
		return nil
	}
	return &Presence{TurnOf: p.TurnOf, Absent: p.Absent, Group: p.Group}
}

// agrees reports whether the engine and the model return the same timeline.
func (c testCase) agrees(t *testing.T) bool {
	t.Helper()
	if err := c.Check(); err != nil {
		t.Errorf("a random schedule is not acceptable: %v", err)
		return false
	}
	got, want := core(c.Window(c.from, c.to)), naive(t, c.Schedule, c.from, c.to, c.grain)
	for i := range c.Layers {
		if !reflect.DeepEqual(got.Layers[i], want.Layers[i]) {
			t.Errorf("layer %d:\n  engine %+v\n   model %+v", i, got.Layers[i], want.Layers[i])
			return false
		}
	}
	if !reflect.DeepEqual(got.Final, want.Final) {
		t.Errorf("final:\n  engine %+v\n   model %+v", got.Final, want.Final)
		return false
	}
	return true
}
