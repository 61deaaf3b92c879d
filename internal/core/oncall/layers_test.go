package oncall

import (
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"
)

// TestFourteenPeople has fourteen people, a day each, Monday to Friday: all
// serve, in order, because only masked days are counted (R11).
func TestFourteenPeople(t *testing.T) {
	s := &Schedule{Layers: []Layer{{Start: 1776009600, Unit: Day, Value: 1, Mask: monToFri, Groups: groups("ABCDEFGHIJKLMN")}}}
	entries := s.Window(1776009600, 1776009600+45*day).Layers[0]
	for i, e := range entries {
		if e.Group != i%14 {
			t.Fatalf("entry %d is group %d's, want %d", i, e.Group, i%14)
		}
	}
	if len(entries) < 28 {
		t.Fatalf("only %d entries", len(entries))
	}
}

// TestAddingPersonLater adds a fifth person at the end of a round, as a new
// layer after the old one. Nothing before that changes.
func TestAddingPersonLater(t *testing.T) {
	const start, change = 1776009600, 1776009600 + 8*week // two rounds of four
	old := Layer{Start: start, Unit: Week, Value: 1, Groups: groups("ABCD")}
	before := &Schedule{Layers: []Layer{old}}
	old.End = change
	after := &Schedule{Layers: []Layer{old, {Start: change, Unit: Week, Value: 1, Groups: groups("ABCDE")}}}
	if got, want := pieceWords(after.Window(start, change).Final), pieceWords(before.Window(start, change).Final); got != want {
		t.Errorf("before the change:\n got %s\nwant %s", got, want)
	}
	var next []int
	for _, p := range after.Window(change, change+5*week).Final {
		next = append(next, p.Index)
	}
	if !slices.Equal(next, []int{0, 1, 2, 3, 4}) {
		t.Errorf("after the change the groups are %v", next)
	}
}

// TestOverrideTie: of overrides of equal weight the later one counts (R19).
func TestOverrideTie(t *testing.T) {
	cover := func(weight int, letter string) Layer {
		return Layer{Mode: Override, Weight: weight, Start: 1776009600, End: 1776009600 + day, Groups: groups(letter)}
	}
	s := &Schedule{Layers: []Layer{cover(1, "X"), cover(1, "Y"), cover(0, "Z")}}
	final := s.Window(0, lastInstant).Final
	if pieceWords(final) != "Y [1776009600,1776096000)" || final[0].Weight != 1 || final[0].Rule != RuleOverride {
		t.Errorf("got %+v", final)
	}
}

// TestStack checks stacked layers: heaviest first, then stored order; people
// once per role, a name once; index and weight of the first (R20).
func TestStack(t *testing.T) {
	layer := func(weight int, g Group) Layer {
		return Layer{Weight: weight, Start: 1776009600, Unit: Day, Value: 1, Groups: []Group{{Name: "other"}, g}}
	}
	s := &Schedule{Layers: []Layer{
		layer(0, Group{Name: "ops", Members: []Member{{RoleID: 0, PersonIDs: []int64{1, 2}}, {RoleID: 7, PersonIDs: []int64{9}}}}),
		layer(5, Group{Name: "dev", Members: []Member{{RoleID: 1, PersonIDs: []int64{3}}, {RoleID: 0, PersonIDs: []int64{2, 4}}}}),
		layer(0, Group{Name: "ops", Members: []Member{{RoleID: 0, PersonIDs: []int64{4, 5}}}}),
	}}
	got := s.Window(1776009600+day, 1776009600+2*day).Final
	want := []Piece{{
		Start: 1776009600 + day, End: 1776009600 + 2*day, Index: 1, Weight: 5, Rule: RuleStacked,
		Group: Group{Name: "dev+ops", Members: []Member{
			{RoleID: 1, PersonIDs: []int64{3}}, {RoleID: 0, PersonIDs: []int64{2, 4, 1, 5}}, {RoleID: 7, PersonIDs: []int64{9}}}},
		Sources: []Source{{Layer: 1, Turn: 1, Group: 1}, {Layer: 0, Turn: 1, Group: 1}, {Layer: 2, Turn: 1, Group: 1}},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

// TestSameGroupTwice: different turns are not joined even if one group serves both (R16).
func TestSameGroupTwice(t *testing.T) {
	s := &Schedule{Layers: []Layer{{Start: 1776009600, Unit: Day, Value: 1, Groups: groups("A")}}}
	if got := pieceWords(s.Window(1776009600, 1776009600+2*day).Final); got != "A [1776009600,1776096000) A [1776096000,1776182400)" {
		t.Error(got)
	}
}

// TestCauses checks the cause of every edge.
func TestCauses(t *testing.T) {
	const start, end = 1780574400, 1780999200 // Thursday 2026-06-04 12:00 to Tuesday 10:00 UTC
	s := &Schedule{Layers: []Layer{{Start: start, End: end, Unit: Hour, Value: 30, Mask: monToFri, Groups: groups("AB"),
		RestrictMode: RestrictDay, Restrict: []Period{{3600, 86400}}}}}
	got := ""
	for _, e := range s.Window(start-day, end+day).Layers[0] {
		got += time.Unix(e.Start, 0).UTC().Format("Mon 15:04 ") + e.StartBy.String() + time.Unix(e.End, 0).UTC().Format(", Mon 15:04 ") + e.EndBy.String() + "\n"
	}
	want := `Thu 12:00 layer, Fri 00:00 restriction
Fri 01:00 restriction, Fri 18:00 turn
Fri 18:00 turn, Sat 00:00 mask
Mon 01:00 restriction, Mon 06:00 turn
Mon 06:00 turn, Tue 00:00 restriction
Tue 01:00 restriction, Tue 10:00 layer
`
	if got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	e := s.Window(start+60, start+120).Layers[0][0]
	if e.StartBy != CauseWindow || e.EndBy != CauseWindow {
		t.Errorf("in a minute's window: %v, %v", e.StartBy, e.EndBy)
	}
}

// TestInvalidLayer: a layer that does not pass its check is treated as absent; the others are computed.
func TestInvalidLayer(t *testing.T) {
	good := Layer{Start: 1776009600, Unit: Day, Value: 1, Groups: groups("A")}
	for _, bad := range []Layer{
		{}, {Start: 1776009600}, {Start: 1776009600, Unit: Day, Groups: groups("A")},
		{Start: 1776009600, Unit: Day, Value: 1}, {Start: -5, Unit: Day, Value: 1, Groups: groups("A")},
		{Start: 1 << 62, Unit: Month, Value: 30, Groups: groups("A")},
		{Mode: Override, Start: 1776009600, Groups: groups("A")},
		{Start: 1776009600, Unit: Day, Value: 1, Mask: 1 << 7, Groups: groups("A")},
		{Mode: 9, Start: 1776009600, Unit: Day, Value: 1, Groups: groups("A")},
	} {
		s := &Schedule{Layers: []Layer{bad, good}}
		tl := s.Window(1776009600, 1776009600+day)
		if len(tl.Layers) != 2 || tl.Layers[0] != nil || pieceWords(tl.Final) != "A [1776009600,1776096000)" {
			t.Errorf("%+v: got %+v", bad, tl)
		}
		if current, _ := s.At(1776009600); current == nil || s.Why(1776009600).Layers[0].Reason != Invalid {
			t.Errorf("%+v: at: %+v", bad, current)
		}
	}
}

// TestEmptyWindows: a window without length, or beyond all time, is empty.
func TestEmptyWindows(t *testing.T) {
	s := &Schedule{Layers: []Layer{{Start: 1, Unit: Hour, Value: 1, Groups: groups("A")}}}
	for _, w := range [][2]int64{{5, 5}, {9, 5}, {-1 << 63, 1}, {lastInstant, 1<<63 - 1}, {1<<63 - 1, -1 << 63}} {
		if tl := s.Window(w[0], w[1]); len(tl.Layers) != 1 || len(tl.Layers[0]) != 0 || len(tl.Final) != 0 {
			t.Errorf("%v: %+v", w, tl)
		}
	}
}

// TestOrder: rotations are shown before overrides, each in stored order (R16).
func TestOrder(t *testing.T) {
	s := &Schedule{Layers: []Layer{{Mode: Override}, {}, {Mode: Override}, {}}}
	if got := s.Order(); !slices.Equal(got, []int{1, 3, 0, 2}) {
		t.Error(got)
	}
}

// TestConcurrentUse uses one schedule from many goroutines at once, for the
// race detector.
func TestConcurrentUse(t *testing.T) {
	s := &Schedule{Zone: location(t, "Africa/Casablanca"), Layers: []Layer{
		{Start: 1600000000, Unit: Day, Value: 1, Mask: monToFri, Groups: groups("ABC")},
		{Start: 1600000000, Unit: Week, Value: 1, Groups: groups("XY")},
	}}
	want := pieceWords(s.Window(1776009600, 1776009600+4*week).Final)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s.At(1776009600)
			s.Why(1776009600)
			if got := pieceWords(s.Window(1776009600, 1776009600+4*week).Final); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	all.Wait()
}
