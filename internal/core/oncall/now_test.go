package oncall

import "testing"

// nowAndNext formats what At returns, "-" for no piece.
func nowAndNext(s *Schedule, now int64) string {
	current, next := s.At(now)
	out := "-"
	if current != nil {
		out = pieceWords([]Piece{*current})
	}
	if next == nil {
		return out + " then -"
	}
	return out + " then " + pieceWords([]Piece{*next})
}

func TestNow(t *testing.T) {
	const s0 int64 = 1780272000 // 2026-06-01 00:00 UTC, a Monday
	daily := Layer{Start: s0, Unit: Day, Value: 1, Groups: groups("AB")}
	cover := Layer{Mode: Override, Start: s0 + 3600, End: s0 + 3600 + 300*366*day, Groups: groups("Z")}
	within := cover
	within.Weight = 1
	within.Groups = groups("Y")
	within.Start = s0 + 10*day
	within.End = s0 + 11*day
	single := func(l Layer) *Schedule { return &Schedule{Layers: []Layer{l}} }
	for _, x := range []struct {
		name string
		s    *Schedule
		now  int64
		want string
	}{
		{"no layers", &Schedule{}, s0, "- then -"},
		{"before the start", single(daily), s0 - 1, "- then A [1780272000,1780358400)"},
		{"at the start", single(daily), s0, "A [1780272000,1780358400) then B [1780358400,1780444800)"},
		{"in the last second", single(daily), s0 + day - 1, "A [1780272000,1780358400) then B [1780358400,1780444800)"},
		{"at the handoff", single(daily), s0 + day, "B [1780358400,1780444800) then A [1780444800,1780531200)"},
		{"within the horizon", single(daily), s0 - 400*day + 1, "- then A [1780272000,1780358400)"},
		{"beyond the horizon", single(daily), s0 - 400*day, "- then -"},
		{"a negative now", single(daily), -1 << 62, "- then -"},
		{"after the end of time", single(daily), 1 << 62, "- then -"},
		{"the last turn", func() *Schedule { l := daily; l.End = s0 + day + 60; return single(l) }(), s0 + day + 5,
			"B [1780358400,1780358460) then -"},
		{"turns of thirty months", func() *Schedule { l := daily; l.Unit, l.Value = Month, 30; return single(l) }(), s0 + 500*day,
			"A [1780272000,1859241600) then B [1859241600,1938038400)"},
		{"an override of 300 years", &Schedule{Layers: []Layer{daily, cover}}, s0 + 90000*day,
			"Z [1780275600,11266995600) then A [11266995600,11267078400)"},
		{"an override in an override", &Schedule{Layers: []Layer{daily, cover, within}}, s0 + 9*day,
			"Z [1780275600,1781136000) then Y [1781136000,1781222400)"},
		{"after it", &Schedule{Layers: []Layer{daily, cover, within}}, s0 + 12*day,
			"Z [1781222400,11266995600) then A [11266995600,11267078400)"},
		{"the rotation before an override", &Schedule{Layers: []Layer{daily, cover, within}}, s0 + 1,
			"A [1780272000,1780275600) then Z [1780275600,1781136000)"},
		{"a second's override", &Schedule{Layers: []Layer{daily, {Mode: Override, Start: s0 + 60, End: s0 + 61, Groups: groups("Z")}}}, s0 + 5,
			"A [1780272000,1780272060) then Z [1780272060,1780272061)"},
		{"a layer that covers nothing", func() *Schedule {
			l := daily
			l.RestrictMode, l.Restrict = RestrictDay, []Period{{86400, 0}}
			return single(l)
		}(), s0 + day, "- then -"},
	} {
		if err := x.s.Check(); err != nil {
			t.Fatalf("%s: %v", x.name, err)
		}
		if got := nowAndNext(x.s, x.now); got != x.want {
			t.Errorf("%s:\n got %s\nwant %s", x.name, got, x.want)
		}
	}
}

// TestPreempted checks that the turns an override replaces are named: in a
// window all of them, at one moment those it replaces then.
func TestPreempted(t *testing.T) {
	s := &Schedule{Zone: location(t, "Asia/Shanghai"), Layers: examples[8].layers} // W7
	if examples[8].name != "W7" {
		t.Fatal("the examples have moved")
	}
	check := func(what string, got []Source, want ...Source) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: got %v, want %v", what, got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: got %v, want %v", what, got, want)
			}
		}
	}
	a, b := Source{Layer: 0, Turn: 0, Group: 0}, Source{Layer: 0, Turn: 1, Group: 1}
	check("window", s.Window(1776042000, 1776301200).Final[1].Preempted, a, b)
	current, _ := s.At(1776150000)
	check("late in the override", current.Preempted, b)
	_, next := s.At(1776042000)
	check("at its start", next.Preempted, a)
	check("not an override", s.Window(1776042000, 1776301200).Final[0].Preempted)
}
