package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/schedule"
)

// explained explains a moment of a schedule as the owner.
func explained(t testing.TB, s *apitest.Server, id, at int64) (x schedule.Explained) {
	t.Helper()
	s.Call(apitest.KeyA, "/schedule/explain", object{"schedule_id": id, "at": at}).Into(&x)
	return x
}

func TestExplain(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := full(t, s)
	bare := create(t, s, object{"schedule_name": "Nobody"})
	s.Grant(auth.SchedulesRead)
	at := func(id int64, more string) string { return fmt.Sprintf(`{"schedule_id":%d%s}`, id, more) }
	golden := func(name string) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			apitest.Golden(t, name, r.Body, fmt.Sprint(id), "5789640530410", fmt.Sprint(bare), "5432326025106")
		}
	}
	s.Scenarios(t, "/schedule/explain", []apitest.Scenario{
		{Name: "an override", Key: apitest.KeyReader, Body: at(id, `,"at":1776096000`), Then: golden("schedule_explain")},
		{Name: "a rotation, now", Body: at(id, ``), Then: golden("schedule_explain_now")},
		{Name: "nobody", Body: at(bare, ``), Then: golden("schedule_explain_nobody")},
		{Name: "at null", Body: at(id, `,"at":null`)},
		{Name: "without permission", Key: apitest.KeyNothing, Body: at(id, ``), Code: "AccessDenied", Says: []string{"Schedules Read (on-call)"}},
		{Name: "other account", Key: apitest.KeyB, Body: at(id, ``), Code: "ResourceNotFound"},
		{Name: "unknown", Body: at(42, ``), Code: "ResourceNotFound", Says: []string{"42"}},
		{Name: "no id", Body: `{}`, Code: "InvalidParameter", Says: []string{"schedule_id", "required"}},
		{Name: "lowest ten digits", Body: at(id, `,"at":1000000000`)},
		{Name: "nine digits", Body: at(id, `,"at":999999999`), Code: "InvalidParameter", Says: []string{"at", "1000000000", "999999999"}},
		{Name: "highest ten digits", Body: at(id, `,"at":9999999999`)},
		{Name: "eleven digits", Body: at(id, `,"at":10000000000`), Code: "InvalidParameter", Says: []string{"at", "9999999999"}},
		{Name: "malformed", Body: `[]`, Code: "InvalidParameter"},
	})
}

// wantWords wants each text in one of the sentences.
func wantWords(t *testing.T, words []string, want ...string) {
	t.Helper()
	for _, text := range want {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, text) }) {
			t.Errorf("no sentence has %q:\n  %s", text, strings.Join(words, "\n  "))
		}
	}
}

// TestExplainInWords: each reason that a layer can have is a sentence, with times in the caller's zone.
func TestExplainInWords(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Exec(`UPDATE person SET time_zone = 'Europe/Berlin' WHERE account_id = $1 AND person_id = $2`, apitest.AccountA, A)
	const monday = 1776009600 // 2026-04-13 00:00 in Shanghai, the account's zone
	id := create(t, s, object{"schedule_name": "All", "status": 1, "layers": []any{
		layer(monday, []int64{A, B}, object{"layer_name": "Office", "restrict_mode": 1,
			"restrict_periods": []any{object{"restrict_start": 32400, "restrict_end": 64800}}}),
		layer(monday, []int64{B}, object{"layer_name": "Weeks", "rotation_unit": "week", "rotation_value": 2}),
		layer(monday, []int64{B}, object{"layer_name": "Sundays", "day_mask": object{"repeat": []int{0}}}),
		layer(monday, []int64{A}, object{"layer_name": "Short", "layer_end": monday + 3600}),
		layer(monday+30*86400, []int64{A}, object{"layer_name": "Later"}),
		layer(monday+86400, []int64{Z}, object{"layer_name": "", "mode": 1, "layer_end": monday + 2*86400, "rotation_unit": nil, "rotation_value": nil}),
	}})
	wantWords(t, explained(t, s, id, monday+40000).Words, "Schedule All is disabled: no person is paged from it.",
		"At Mon 13 Apr 05:06 (Europe/Berlin) Olga Owner and Rita Reader are on call in schedule All, until Mon 13 Apr 12:00 (Europe/Berlin).",
		"Layer Office and Layer Weeks cover that moment together, and their groups are merged.",
		"Layer Office counts from Mon 13 Apr 03:00 (Europe/Berlin) (its hours begin) until Mon 13 Apr 12:00 (Europe/Berlin) (its hours end): daily rotation, turn 1, of group A, with Olga Owner.",
		"(the layer begins) until Sun 26 Apr 18:00 (Europe/Berlin) (the turn ends): rotation every 2 weeks, turn 1, of group A, with Rita Reader.",
		"Layer Sundays does not count: this is not one of its days",
		"Layer Short does not count any more: it ended on Sun 12 Apr 19:00 (Europe/Berlin).",
		"Layer Later does not count yet: it begins on Tue 12 May 18:00 (Europe/Berlin).",
		"Next change: Mon 13 Apr 12:00 (Europe/Berlin). From then on Rita Reader is on call until Mon 13 Apr 18:00 (Europe/Berlin).")
	wantWords(t, explained(t, s, id, monday+86400+40000).Words, "Override number 6 replaces every other layer at that moment.",
		"Layer Office is covered by override without a name: daily rotation, turn 2, of group B, with Rita Reader.")
	wantWords(t, explained(t, s, id, monday+5*86400).Words, "Layer Office does not count: this is outside of its hours: daily rotation, turn 6")
	wantWords(t, explained(t, s, id, monday-86400).Words, "no one is on call in schedule All.", "Next change: Sun 12 Apr 18:00 (Europe/Berlin).")
}

// A group of thousands is explained by its first persons.
func TestExplainBigGroup(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := create(t, s, object{"layers": []any{layer(1776009600, nil, object{"groups": []any{object{"group_name": "All",
		"members": []any{object{"person_ids": append([]int64{A, B, A}, many(3000)...)}}}}})}})
	x := explained(t, s, id, 1776009700)
	wantWords(t, x.Words, "Olga Owner, Rita Reader, person 1, who does not exist, ", " and 2997 more persons are on call in schedule S")
	if len(x.Layers[0].Persons) != 20 {
		t.Errorf("%d names", len(x.Layers[0].Persons))
	}
}

// TestExplainAgreesWithInfo compares explanations of random schedules with the timelines of /schedule/info. Moments are
// random, at the bounds of shifts, and around changes of the clock. TOCSIN_SCHEDULE_CASES sets how many schedules the test
// makes.
func TestExplainAgreesWithInfo(t *testing.T) {
	t.Parallel()
	s := start(t)
	r := newRandom(t)
	const reach = 20 * 86400
	gaps, changes := 0, 0
	cases := apitest.Setting(t, "TOCSIN_SCHEDULE_CASES", 12)
	for range cases {
		id := create(t, s, r.body())
		moments := []int64{1775318400, 1775322000, 1793512800, 1793509200, 1000000000 + reach, 1775000000 - r.Int64N(86400)}
		for range 3 {
			moments = append(moments, 1775000000+r.Int64N(300*86400))
		}
		for _, e := range *info(t, s, id, 1776000000, 1778000000).FinalSchedule.Schedules {
			if r.IntN(8) == 0 && len(moments) < 20 {
				moments = append(moments, e.Start-1, e.Start, e.End-1, e.End)
			}
		}
		for _, at := range moments {
			x, seen := explained(t, s, id, at), info(t, s, id, at-reach, at+reach)
			if now := agrees(t, x, *seen.FinalSchedule.Schedules, at-reach, at+reach); !now {
				gaps++
			}
			if x.NextChange != 0 && x.NextChange < at+reach {
				changes++
			}
			if len(x.Words) < len(*seen.Layers)+1 || slices.Contains(x.Words, "") {
				t.Errorf("words %q", x.Words)
			}
		}
	}
	if gaps < cases/4 || changes < cases {
		t.Errorf("only %d moments had no one on call, and only %d had a next change", gaps, changes)
	}
}

// agrees compares an explanation with a final timeline in [from, to), and reports whether someone is on call.
func agrees(t *testing.T, x schedule.Explained, final []schedule.Entry, from, to int64) bool {
	t.Helper()
	var next int64 // the first bound after the moment; 0: none in the window
	for _, e := range final {
		if x.At < e.Start && next == 0 {
			next = e.Start
		}
		if e.Start > x.At || e.End <= x.At {
			continue
		}
		if x.Oncall == nil {
			t.Errorf("schedule %d at %d: no one, but the timeline has %+v", x.ScheduleID, x.At, e)
			return true
		}
		is, want := x.Oncall.Group, e.Group
		is.Start = 0
		is.End = 0
		want.Start = 0
		want.End = 0
		if text(t, is) != text(t, want) || x.Oncall.Index != e.Index ||
			e.Start > from && x.Oncall.Start != e.Start || e.End < to && (x.Oncall.End != e.End || x.NextChange != e.End) {
			t.Errorf("schedule %d at %d: %+v until %d, but the timeline has %+v", x.ScheduleID, x.At, x.Oncall, x.NextChange, e)
		}
		if e.End == to && x.NextChange != 0 && x.NextChange < to {
			t.Errorf("schedule %d at %d: it changes at %d, but the timeline has %+v", x.ScheduleID, x.At, x.NextChange, e)
		}
		return true
	}
	if x.Oncall != nil || next != 0 && x.NextChange != next || next == 0 && x.NextChange != 0 && x.NextChange < to {
		t.Errorf("schedule %d at %d: %+v, next change %d, but the timeline has a gap until %d", x.ScheduleID, x.At, x.Oncall, x.NextChange, next)
	}
	return false
}
