package schedule_test

import (
	"fmt"
	"reflect"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/schedule"
)

// pages reads a window in pages and joins what goes on from one to the next. path and body are those of the operation;
// body ends before the members of the window.
func pages(t *testing.T, s *apitest.Server, path, body string, from, to, days int64) (layers [][]schedule.Entry, final []schedule.Entry) {
	t.Helper()
	join := func(have, more []schedule.Entry) []schedule.Entry {
		for i, e := range more {
			goesOn := len(have) > 0 && have[len(have)-1].CutEnd
			if e.CutStart != (i == 0 && goesOn) {
				t.Fatalf("%+v after %d entries, the last of which goes on: %t", e, len(have), goesOn)
			}
			if !e.CutStart {
				have = append(have, e)
				continue
			}
			last := &have[len(have)-1]
			last.End = e.End
			last.Group.End = e.End
			last.CutEnd = e.CutEnd
			e.Start = last.Start
			e.Group.Start = last.Start
			e.CutStart = false
			if !reflect.DeepEqual(*last, e) {
				t.Fatalf("%+v goes on as %+v", *last, e)
			}
		}
		return have
	}
	after := ""
	for n := int64(0); ; n++ {
		var view schedule.Schedule
		s.Call(apitest.KeyA, path, fmt.Sprintf(`%s, "start": %d, "end": %d, "page_days": %d%s}`, body, from, to, days, after)).Into(&view)
		for i, l := range *view.ScheduleLayers {
			if n == 0 {
				layers = append(layers, nil)
			}
			layers[i] = join(layers[i], *l.Schedules)
		}
		final = join(final, *view.FinalSchedule.Schedules)
		if view.NextAfter == nil {
			if n != (to-from-1)/(days*86400) {
				t.Fatalf("the window has %d pages of %d days", n+1, days)
			}
			return layers, final
		}
		after = fmt.Sprintf(`, "after": %d`, *view.NextAfter)
	}
}

// Pages of any length are together what one computation returns, for each layer and for the final timeline.
func TestPagesTogetherAreWindow(t *testing.T) {
	t.Parallel()
	s, r := start(t), newRandom(t)
	for n := range 12 {
		body := r.body()
		if body["layers"] == nil {
			body["layers"] = []any{r.layer()}
		}
		id := create(t, s, body)
		from := apitest.Now.Unix() + r.Int64N(10*86400)
		to := from + 1 + r.Int64N(45*86400)
		whole := info(t, s, id, from, to)
		layers, final := pages(t, s, "/schedule/info", fmt.Sprintf(`{"schedule_id": %d`, id), from, to, 1+r.Int64N(9))
		for i, l := range *whole.ScheduleLayers {
			if len(*l.Schedules)+len(layers[i]) > 0 && !reflect.DeepEqual(*l.Schedules, layers[i]) {
				t.Fatalf("case %d: layer %d of %s", n, i, text(t, body))
			}
		}
		if len(*whole.FinalSchedule.Schedules)+len(final) > 0 && !reflect.DeepEqual(*whole.FinalSchedule.Schedules, final) {
			t.Fatalf("case %d: final timeline of %s", n, text(t, body))
		}
	}
}

// A window of 400 days is the same in long and in short pages, in both operations.
func TestPagesOf400Days(t *testing.T) {
	t.Parallel()
	s := start(t)
	from := apitest.Now.Unix()
	layers := []any{layer(from-86400, []int64{A, B}, object{"rotation_unit": "month", "rotation_value": 3}), layer(from-86400, []int64{A, B}, object{"rotation_value": 3})}
	id := create(t, s, object{"layers": layers})
	stored := fmt.Sprintf(`{"schedule_id": %d`, id)
	sent := `{"layers": ` + text(t, layers)
	longLayers, long := pages(t, s, "/schedule/info", stored, from, from+400*86400, 45)
	for _, other := range []struct {
		path, body string
		days       int64
	}{{"/schedule/info", stored, 11}, {"/schedule/preview", sent, 45}} {
		layers, final := pages(t, s, other.path, other.body, from, from+400*86400, other.days)
		if !reflect.DeepEqual(longLayers, layers) || !reflect.DeepEqual(long, final) {
			t.Errorf("%v: %d entries, want %d", other, len(final), len(long))
		}
	}
	if len(long) < 130 {
		t.Errorf("%d entries", len(long))
	}
}

func TestPagesAreChecked(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := create(t, s, object{"layers": []any{layer(1776009600, []int64{A})}})
	at := func(days int64, rest string) string {
		return fmt.Sprintf(`{"schedule_id": %d, "start": 1776009600, "end": %d%s}`, id, 1776009600+days*86400, rest)
	}
	s.Scenarios(t, "/schedule/info", []apitest.Scenario{
		{Name: "the contract's window", Body: at(45, "")},
		{Name: "a day more", Body: at(46, ""), Code: "InvalidParameter", Says: []string{"end", "45 days"}},
		{Name: "400 days in pages", Body: at(400, `, "page_days": 45`)},
		{Name: "a day more in pages", Body: at(401, `, "page_days": 45`), Code: "InvalidParameter", Says: []string{"end", "400 days"}},
		{Name: "long pages", Body: at(400, `, "page_days": 46`), Code: "InvalidParameter", Says: []string{"page_days", "45"}},
		{Name: "no pages", Body: at(400, `, "page_days": 0`), Code: "InvalidParameter", Says: []string{"page_days"}},
		{Name: "without a window", Body: fmt.Sprintf(`{"schedule_id": %d, "page_days": 5}`, id), Code: "InvalidParameter", Says: []string{"start"}},
		{Name: "after without pages", Body: at(10, `, "after": 1776009600`), Code: "InvalidParameter", Says: []string{"page_days"}},
		{Name: "after the end", Body: at(10, `, "page_days": 5, "after": 1876009600`), Code: "InvalidParameter", Says: []string{"after", "1876009600"}},
		{Name: "before the start", Body: at(10, `, "page_days": 5, "after": 1776009599`), Code: "InvalidParameter", Says: []string{"after", "1776009599"}},
	})
}
