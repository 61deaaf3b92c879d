package schedule

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/oncall"
	"tocsin/internal/person"
)

// excepted returns a schedule in UTC whose engine has a cover and an absence: Ann with backup Bob, then Cid with backup
// Dan, a day each; Cid is absent on the second day, and Eve covers Ann for an hour on the first.
func excepted(t *testing.T) (*stored, *oncall.Schedule) {
	t.Helper()
	const start = 1780272000
	pair := func(name string, primary, backup int64) Group {
		return Group{GroupName: name, Name: name, Members: []Member{{0, []int64{primary}}, {1, []int64{backup}}}}
	}
	s := &stored{Name: "Prod", Layers: []LayerConfig{{LayerName: "Day", LayerStart: start, RotationUnit: "day", RotationValue: 1,
		Groups: []Group{pair("one", 1, 2), pair("two", 3, 4), pair("three", 6, 7)}}}}
	e, err := s.compile(time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	e.Covers = []oncall.Cover{
		{ID: 70, Start: start + 3600, End: start + 7200, PersonID: 1, RoleID: oncall.AnyRole, By: 5},
		{ID: 71, Start: start + 3600, End: start + 7200, RoleID: 9, By: 5},
	}
	e.Absences = []oncall.Absence{{PersonID: 3, Start: start + 86400, End: start + 3*86400}, {PersonID: 6, Start: start, End: start + 3*86400},
		{PersonID: 7, Start: start, End: start + 3*86400}}
	s.compiled = &compiled{account: time.UTC, engine: e}
	return s, e
}

// TestTimelinesWithExceptions: timelines, shifts and who is on call now have the persons who serve, not those who are
// configured.
func TestTimelinesWithExceptions(t *testing.T) {
	t.Parallel()
	const start = 1780272000
	s, e := excepted(t)
	left := maxNamed
	layers, final, err := s.timelines(e, window{from: start, to: start + 3*86400}, &left)
	if err != nil {
		t.Fatal(err)
	}
	persons := func(list []Entry) (out [][]int64) {
		for _, e := range list {
			var ids []int64
			for _, m := range e.Group.Members {
				ids = append(ids, m.PersonIDs...)
			}
			out = append(out, ids)
		}
		return out
	}
	same := func(a, b [][]int64) bool { return slices.EqualFunc(a, b, slices.Equal[[]int64]) }
	if got := persons(*final.Schedules); !same(got, [][]int64{{1, 2}, {5, 2}, {1, 2}, {4}, {1, 2}}) {
		t.Errorf("the final timeline has %v", got)
	}
	if got := persons(*layers[0].Schedules); !same(got, [][]int64{{1, 2}, {4}, {1, 2}}) {
		t.Errorf("the layer has %v", got)
	}
	if e := (*final.Schedules)[1]; e.Group.GroupName != "one" || e.Start != start+3600 || e.Group.End != start+7200 {
		t.Errorf("the covered piece is %+v", e)
	}
	if now, _ := e.At(start + 4000); !same(persons([]Entry{{Group: s.oncall(now).Group}}), [][]int64{{5, 2}}) {
		t.Errorf("now on call are %+v", s.oncall(now))
	}
	if !isMember(e, 5, start) || isMember(e, 5, start+7200) || !isMember(e, 3, start) {
		t.Error("who covers must be in the schedule until the cover ends")
	}
	shifts, err := s.shifts(time.UTC, window{from: start, to: start + 86400}, &left)
	if err != nil {
		t.Fatal(err)
	}
	taken, seconds, _ := s.take(shifts[slices.IndexFunc(shifts, func(x oncall.Shift) bool { return x.PersonID == 5 }):], 5)
	if len(taken) != 1 || seconds != 3600 || taken[0].GroupName != "one" || taken[0].LayerName != "Day" {
		t.Errorf("who covers has the shifts %+v", taken)
	}
}

// TestExplainExceptions: covers, absences and stand-ins are explained in words and in data.
func TestExplainExceptions(t *testing.T) {
	t.Parallel()
	const start = 1780272000
	s, e := excepted(t)
	n := names{known: map[int64]string{1: "Ann", 2: "Bob", 3: "Cid", 4: "Dan", 5: "Eve", 6: "Fay", 7: "Gus"}}
	clock := person.Clock{Zone: time.UTC, Now: time.Unix(start, 0)}
	explain := func(at int64) (x Explained, words string) {
		why := e.Why(at)
		x.Oncall = s.oncall(why.Piece)
		for i := range why.Layers {
			l, err := s.explainLayer(e, why, i, n)
			if err != nil {
				t.Fatal(err)
			}
			x.Layers = append(x.Layers, l)
		}
		var err error
		x.Covers, err = explainCovers(e, why, n)
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.words(&x, why, n, clock)
		if err != nil {
			t.Fatal(err)
		}
		return x, strings.Join(list, "\n")
	}
	wants := func(words string, want ...string) {
		t.Helper()
		for _, text := range want {
			if !strings.Contains(words, text) {
				t.Errorf("no %q in\n%s", text, words)
			}
		}
	}

	x, words := explain(start + 4000)
	wants(words, "Eve and Bob are on call in schedule Prod",
		"Eve is on call in place of Ann, from Mon 1 Jun 01:00 (UTC) until Mon 1 Jun 02:00 (UTC).",
		"Eve covers on-call role 9 until Mon 1 Jun 02:00 (UTC), which has no effect: there is no one to replace at that moment.")
	if len(x.Covers) != 2 || x.Covers[0].OverrideID != 70 || !slices.Equal(x.Covers[0].Covered, []string{"Ann"}) || len(x.Covers[1].Covered) != 0 {
		t.Errorf("covers %+v", x.Covers)
	}

	x, words = explain(start + 86400)
	wants(words, "Dan is on call in schedule Prod", "turn 2, of group two, with Dan; Cid is absent until Thu 4 Jun 00:00 (UTC).")
	if l := x.Layers[0]; l.StandIn != "" || !slices.Equal(l.Absent, []string{"Cid"}) || !slices.Equal(l.Persons, []string{"Dan"}) {
		t.Errorf("the layer is %+v", l)
	}

	x, words = explain(start + 2*86400)
	wants(words, "Ann and Bob are on call in schedule Prod",
		"turn 3, of group three, for which group one stands in, with Ann and Bob; Fay and Gus are absent, the first of them until Thu 4 Jun 00:00 (UTC).")
	if l := x.Layers[0]; l.GroupName != "three" || l.StandIn != "one" || l.Reason != "on_call" {
		t.Errorf("the layer is %+v", l)
	}

	e.WhenAbsent = oncall.AbsentGap
	x, words = explain(start + 2*86400)
	wants(words, "no one is on call in schedule Prod", "Layer Day does not count: everyone of the group is absent, and no other group stands in; Fay and Gus are absent",
		"turn 3, of group three")
	if l := x.Layers[0]; l.Reason != "absent" || l.StandIn != "" {
		t.Errorf("the layer is %+v", l)
	}
}
