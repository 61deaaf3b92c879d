package lint

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/oncall"
	"tocsin/internal/platform/fault"
)

func load(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func group(persons ...int64) oncall.Group {
	return oncall.Group{Name: fmt.Sprint(persons), Members: []oncall.Member{{PersonIDs: persons}}}
}

// randomSchedule returns a schedule in which everything happens on whole minutes, and a moment.
func randomSchedule(t testing.TB, r *rand.Rand) (*oncall.Schedule, int64) {
	zones := []string{"UTC", "America/New_York", "Europe/London", "Asia/Shanghai", "Australia/Lord_Howe"}
	zone := func() *time.Location { return load(t, zones[r.IntN(len(zones))]) }
	now := time.Date(2026, time.Month(1+r.IntN(12)), 1+r.IntN(28), r.IntN(24), r.IntN(60), 0, 0, time.UTC).Unix()
	s := &oncall.Schedule{Zone: zone()}
	for range 1 + r.IntN(3) {
		l := oncall.Layer{Unit: oncall.Day, Value: 1 + r.IntN(3), Start: now - r.Int64N(400)*day/2, Zone: zone(), Groups: []oncall.Group{group(1), group(2)}}
		l.Start -= l.Start % 60
		if r.IntN(2) == 0 {
			l.Mask = oncall.Weekdays(r.IntN(128))
		}
		if r.IntN(2) == 0 {
			l.RestrictMode = oncall.RestrictDay
			l.Restrict = []oncall.Period{{Start: int64(r.IntN(24)) * 3600, End: int64(r.IntN(1440)) * 60}}
		}
		if r.IntN(3) == 0 {
			l.Groups = append(l.Groups, group())
		}
		if r.IntN(4) == 0 {
			l.Groups[0].Members[0].RoleID = 1
		}
		s.Layers = append(s.Layers, l)
	}
	if r.IntN(3) == 0 {
		from := now + r.Int64N(5*1440)*60
		s.Layers = append(s.Layers, oncall.Layer{Mode: oncall.Override, Start: from, End: from + (1+r.Int64N(2000))*60, Groups: []oncall.Group{group(3)}})
	}
	return s, now
}

// naiveHoles asks who is on call in each minute.
func naiveHoles(s *oncall.Schedule, roles []int64, from, until int64) (holes []Span) {
	for at := from; at < until; at += 60 {
		held := false
		for _, p := range s.Window(at, at+60).Final {
			for _, m := range p.Group.Members {
				held = held || len(m.PersonIDs) > 0 && (len(roles) == 0 || slices.Contains(roles, m.RoleID))
			}
		}
		if held {
			continue
		}
		if n := len(holes); n > 0 && holes[n-1].Until == at {
			holes[n-1].Until = at + 60
		} else {
			holes = append(holes, Span{at, at + 60})
		}
	}
	return holes
}

func TestHolesEqualScanOfMinutes(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for n := range uint64(15) {
		r := rand.New(rand.NewPCG(seed, n))
		s, now := randomSchedule(t, r)
		roles := [][]int64{nil, {0}, {1}, {0, 1}}[r.IntN(4)]
		until := now + 8*day
		if got, want := Holes(s, roles, now, until), naiveHoles(s, roles, now, until); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d case %d roles %v: %+v\n got %v\nwant %v", seed, n, roles, s.Layers, got, want)
		}
	}
}

// Each hole is in one pattern, and the stretches of a weekly pattern are at the same times of the wall clock.
func TestPatternsNameEachHoleOnce(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for n := range uint64(200) {
		s, now := randomSchedule(t, rand.New(rand.NewPCG(seed, n)))
		zone, holes := zoneOf(s), NextHoles(s, nil, now)
		var named []Span
		for _, p := range patterns(slices.Clone(holes), zone) {
			named = append(named, p.spans...)
			for _, h := range p.spans {
				from, first := time.Unix(h.From, 0).In(zone), time.Unix(p.spans[0].From, 0).In(zone)
				if len(p.days) > 0 && (from.Format("15:04:05") != first.Format("15:04:05") || !slices.Contains(p.days, from.Weekday())) {
					t.Errorf("seed %d case %d: %s is in %s", seed, n, from, p.words(zone, 0).English())
				}
			}
			if len(p.days) > 0 && len(p.spans) < minRepeats*len(p.days) {
				t.Errorf("seed %d case %d: %s", seed, n, p.words(zone, 0).English())
			}
		}
		slices.SortFunc(named, func(a, b Span) int { return int(a.From - b.From) })
		if !reflect.DeepEqual(named, holes) {
			t.Fatalf("seed %d case %d: %d holes are named, want %d", seed, n, len(named), len(holes))
		}
	}
}

// check returns the sentences of the findings, with their codes.
func check(s *oncall.Schedule, now string) (list []string) {
	at, err := time.Parse(time.DateOnly, now)
	if err != nil {
		panic(err)
	}
	checked := &Schedule{Ref: fault.Ref{Kind: "schedule", ID: "1", Name: "S"}, Pages: true, Timeline: s, Names: map[int64]string{1: "Ann"}}
	for _, f := range OfSchedule(checked, at.Unix()) {
		list = append(list, string(f.Code)+": "+strings.TrimPrefix(f.Sentence.English(), `schedule "S": `))
	}
	return list
}

func restricted(zone *time.Location, from, until int64, persons ...int64) oncall.Layer {
	return oncall.Layer{Zone: zone, Unit: oncall.Day, Value: 1, Start: 1700000000, Groups: []oncall.Group{group(persons...)},
		RestrictMode: oncall.RestrictDay, Restrict: []oncall.Period{{Start: from * 3600, End: until * 3600}}}
}

// New York and Singapore meet at 00:00 UTC in winter only: in summer there is an hour without anyone.
func TestHolesOfClockChangeAreNamed(t *testing.T) {
	sun := func() *oncall.Schedule {
		return &oncall.Schedule{Zone: time.UTC, Layers: []oncall.Layer{
			restricted(load(t, "Asia/Singapore"), 8, 16, 1),    // 00:00 to 08:00 UTC
			restricted(load(t, "Europe/London"), 8, 16, 2),     // 08:00 to 16:00 UTC in winter
			restricted(load(t, "America/New_York"), 11, 19, 3), // 16:00 to 24:00 UTC in winter
		}}
	}
	for _, c := range []struct {
		now  string
		want []string
	}{
		{"2026-02-01", []string{
			"clock_change_gap: no one is on call every day 23:00 to 24:00, 55 times from 2026-03-08 to 2026-05-02 (UTC); " +
				"the hole comes with the clock change of America/New_York on 2026-03-08"}},
		{"2026-06-01", []string{"clock_change_gap: no one is on call every day 23:00 to 24:00, 90 times from 2026-06-01 to 2026-08-30 (UTC); " +
			"the hole comes with the clock change of America/New_York on 2026-03-08"}},
		{"2026-11-10", nil},
	} {
		got := check(sun(), c.now)
		got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "on_call_twice") })
		if len(c.want) != len(got) {
			t.Fatalf("%s: got %q", c.now, got)
		}
		for i, want := range c.want {
			if !strings.HasPrefix(got[i], want) {
				t.Errorf("%s: got %q, want %q", c.now, got[i], want)
			}
		}
	}
	hour := &oncall.Schedule{Zone: time.UTC, Layers: []oncall.Layer{restricted(load(t, "Europe/London"), 9, 8, 1), restricted(load(t, "Asia/Singapore"), 0, 1, 2)}}
	for _, text := range check(hour, "2026-05-01") {
		if strings.HasPrefix(text, "clock_change_gap") {
			t.Errorf("a hole of all the year is blamed on the clock: %s", text)
		}
	}
}

func TestOneDayPerSentence(t *testing.T) {
	l := restricted(nil, 9, 18, 1)
	l.Mask = 0b0111110
	got := check(&oncall.Schedule{Zone: load(t, "Asia/Shanghai"), Layers: []oncall.Layer{l}}, "2026-04-13")
	want := []string{
		"on_call_gap: no one is on call from 2026-04-13 08:00 to 2026-04-13 09:00 (Asia/Shanghai)",
		"on_call_gap: no one is on call every Monday, Tuesday, Wednesday and Thursday 18:00 to 09:00 the next day, 52 times from 2026-04-13 to 2026-07-10 (Asia/Shanghai)",
		"on_call_gap: no one is on call every Friday 18:00 to Monday 09:00, 13 times from 2026-04-17 to 2026-07-13 (Asia/Shanghai)",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Holes without a pattern are many; the first are named and the others counted.
func TestManyHolesAreCounted(t *testing.T) {
	s := &oncall.Schedule{Zone: time.UTC}
	start := time.Date(2026, 4, 13, 0, 0, 0, 0, time.UTC).Unix()
	for i := range int64(60) {
		s.Layers = append(s.Layers, oncall.Layer{Mode: oncall.Override, Start: start + i*day + i*60, End: start + i*day + i*60 + 3600, Groups: []oncall.Group{group(1)}})
	}
	got := check(s, "2026-04-13")
	if len(got) != maxShown+1 || !strings.Contains(got[maxShown], "more such holes") {
		t.Errorf("got %d: %s", len(got), strings.Join(got, "\n"))
	}
}

func TestPersonsOnCallTwice(t *testing.T) {
	both := oncall.Layer{Unit: oncall.Day, Value: 1, Start: 1700000000, Groups: []oncall.Group{{Name: "A", Members: []oncall.Member{
		{RoleID: 0, PersonIDs: []int64{1, 2}}, {RoleID: 1, PersonIDs: []int64{1}}}}}}
	got := check(&oncall.Schedule{Zone: time.UTC, Layers: []oncall.Layer{both}}, "2026-04-13")
	if len(got) != 1 || !strings.HasPrefix(got[0], "on_call_twice: Ann is on call twice at once, as primary and backup: from 2026-04-13 00:00") {
		t.Errorf("%q", got)
	}
	crowd := both
	crowd.Unit = oncall.Hour
	crowd.Value = 1
	crowd.Groups = []oncall.Group{group(make([]int64, 9000)...)}
	got = check(&oncall.Schedule{Layers: []oncall.Layer{crowd}}, "2026-04-13")
	if len(got) != 1 || !strings.Contains(got[0], "too large") {
		t.Errorf("%q", got)
	}
}

// What is checked of a schedule that is just small enough to be checked, with a hole after each of its periods.
func BenchmarkOfSchedule(b *testing.B) {
	s := &oncall.Schedule{Zone: load(b, "America/New_York")}
	for i := range int64(50) {
		l := oncall.Layer{Unit: oncall.Day, Value: 1, Start: 1600000000, Groups: []oncall.Group{group(i), group(i + 1)}, RestrictMode: oncall.RestrictDay}
		for p := range int64(9) {
			l.Restrict = append(l.Restrict, oncall.Period{Start: p*9000 + i*60, End: p*9000 + i*60 + 30})
		}
		s.Layers = append(s.Layers, l)
	}
	for b.Loop() {
		OfSchedule(&Schedule{Pages: true, Timeline: s}, 1776052800)
	}
}

// The list of the account has the holes of a step once for each schedule and roles, and what else is wrong with schedules.
func TestAccountsListHasSchedules(t *testing.T) {
	l := restricted(nil, 0, 24, 1)
	l.Mask, l.Fair = 0b0111110, true
	s := &oncall.Schedule{Zone: time.UTC, Layers: []oncall.Layer{l}}
	now, object := time.Date(2026, 4, 13, 0, 0, 0, 0, time.UTC).Unix(), fault.Ref{Kind: "schedule", ID: "1", Name: "S"}
	step := Step{Pages: true, Parts: []Part{{Ref: object, Persons: []int64{1}, Gaps: NextHoles(s, nil, now), Timeline: s}}}
	found := Check(Config{Now: now, Zone: time.UTC, Mail: true, Channels: []Channel{{ID: 1, Name: "C", Rules: []Rule{{Steps: []Step{step, step}}}}},
		Schedules: []Schedule{{Ref: object, Timeline: s}}})
	var got []string
	for _, f := range found {
		if f.Object.Kind == "schedule" {
			got = append(got, string(f.Code)+": "+f.Sentence.English())
		}
	}
	want := []string{`on_call_gap: schedule "S": no one is on call every Saturday 00:00 to Monday 00:00, 13 times from 2026-04-18 to 2026-07-13 (UTC)`,
		`value_without_effect: schedule "S": layers[0].fair_rotation needs three groups to be of use: two serve twice in a row, one serves always (R13)`}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// A person in two schedules at once is found, also beside a schedule that is too large to look at.
func TestPersonsInTwoSchedules(t *testing.T) {
	of := func(name string, l oncall.Layer) Schedule {
		return Schedule{Ref: fault.Ref{Kind: "schedule", ID: name, Name: name}, Timeline: &oncall.Schedule{Zone: time.UTC, Layers: []oncall.Layer{l}}, Names: map[int64]string{1: "Ann"}}
	}
	crowd := restricted(nil, 0, 24, make([]int64, 9000)...)
	crowd.Unit = oncall.Hour
	found, complete := Across([]Schedule{of("A", restricted(nil, 8, 16, 1)), of("B", restricted(nil, 15, 20, 1)), of("C", restricted(nil, 20, 24, 1)), of("D", crowd)}, 1776038400, time.UTC)
	if complete || len(found) != 1 || !strings.HasPrefix(found[0].Sentence.English(), `Ann is on call in schedules "A" and "B" at once: every day 15:00 to 16:00, `) {
		t.Errorf("complete %t: %v", complete, found)
	}
}
