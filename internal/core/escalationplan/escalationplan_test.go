package escalationplan_test

import (
	"reflect"
	"testing"

	"tocsin/internal/core/escalationplan"
)

// night is the rule of the examples: a layer after half a minute that is notified again twice, a second one, and a
// third with its own repetitions.
var night = escalationplan.Rule{Wait: 30, Layers: []escalationplan.Layer{
	{Times: 2, Every: 300, Window: 900},
	{Times: 6, Every: 300, Window: 600, Force: true},
	{Times: 1, Every: 60},
}}

const start = 1_776_000_000

func TestPlan(t *testing.T) {
	for name, c := range map[string]struct {
		rule escalationplan.Rule
		want []escalationplan.Step
	}{
		"no layers": {escalationplan.Rule{Wait: 30}, []escalationplan.Step{}},
		"night": {night, []escalationplan.Step{
			{0, 0, start + 30}, {0, 1, start + 330}, {0, 2, start + 630},
			{1, 0, start + 930}, {1, 1, start + 1230}, // the third layer takes over at 1530
			{2, 0, start + 1530}, {2, 1, start + 1590},
		}},
		"how often without how far apart": {escalationplan.Rule{Layers: []escalationplan.Layer{{Times: 6}}}, []escalationplan.Step{{0, 0, start}}},
		"no time between layers": {escalationplan.Rule{Layers: []escalationplan.Layer{{Times: 6, Every: 30}, {}}},
			[]escalationplan.Step{{0, 0, start}, {1, 0, start}}},
	} {
		if got := escalationplan.Plan(c.rule, start); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestNext(t *testing.T) {
	step := func(layer, repeat int, at int64, notify bool, why escalationplan.Reason) escalationplan.Result {
		return escalationplan.Result{Step: escalationplan.Step{Layer: layer, Repeat: repeat, At: start + at}, Tell: notify, Why: why}
	}
	for name, c := range map[string]struct {
		done  int
		state escalationplan.State
		now   int64
		due   []escalationplan.Result
		next  int64 // 0: ended
		why   escalationplan.Reason
	}{
		"before the first layer":  {0, escalationplan.State{}, 29, nil, 30, escalationplan.Waiting},
		"the first layer":         {0, escalationplan.State{}, 30, []escalationplan.Result{step(0, 0, 30, true, escalationplan.Turn)}, 330, escalationplan.Waiting},
		"called again":            {1, escalationplan.State{}, 30, nil, 330, escalationplan.Waiting},
		"notified again":          {1, escalationplan.State{}, 330, []escalationplan.Result{step(0, 1, 330, true, escalationplan.Again)}, 630, escalationplan.Waiting},
		"the second layer":        {3, escalationplan.State{}, 931, []escalationplan.Result{step(1, 0, 930, true, escalationplan.Turn)}, 1230, escalationplan.Waiting},
		"the last step":           {6, escalationplan.State{}, 1590, []escalationplan.Result{step(2, 1, 1590, true, escalationplan.Again)}, 0, escalationplan.Exhausted},
		"no call for ten minutes": {0, escalationplan.State{}, 640, []escalationplan.Result{step(0, 0, 30, false, escalationplan.Overtaken), step(0, 1, 330, false, escalationplan.Overtaken), step(0, 2, 630, true, escalationplan.Again)}, 930, escalationplan.Waiting},
		"no call for longer": {2, escalationplan.State{}, 1000, []escalationplan.Result{step(0, 2, 630, true, escalationplan.Again), step(1, 0, 930, true, escalationplan.Turn)},
			1230, escalationplan.Waiting},
		"resolved while it waits":                       {0, escalationplan.State{Resolved: start + 29}, 30, []escalationplan.Result{step(0, 0, 30, false, escalationplan.Resolved)}, 0, escalationplan.Resolved},
		"resolved in the future":                        {0, escalationplan.State{Resolved: start + 31}, 30, []escalationplan.Result{step(0, 0, 30, true, escalationplan.Turn)}, 330, escalationplan.Waiting},
		"acknowledged in the first layer":               {1, escalationplan.State{Acknowledged: start + 60}, 60, nil, 0, escalationplan.Acknowledged},
		"force of a layer that was not reached":         {1, escalationplan.State{Acknowledged: start + 60}, 5000, []escalationplan.Result{step(0, 1, 330, false, escalationplan.Acknowledged), step(0, 2, 630, false, escalationplan.Acknowledged), step(1, 0, 930, false, escalationplan.Acknowledged), step(1, 1, 1230, false, escalationplan.Acknowledged), step(2, 0, 1530, false, escalationplan.Acknowledged), step(2, 1, 1590, false, escalationplan.Acknowledged)}, 0, escalationplan.Acknowledged},
		"acknowledged in a layer with force":            {4, escalationplan.State{Acknowledged: start + 1000}, 1000, nil, 1530, escalationplan.Waiting},
		"forced":                                        {4, escalationplan.State{Acknowledged: start + 1000}, 1530, []escalationplan.Result{step(1, 1, 1230, false, escalationplan.Acknowledged), step(2, 0, 1530, true, escalationplan.Forced)}, 0, escalationplan.Acknowledged},
		"snoozed":                                       {1, escalationplan.State{Snoozes: []escalationplan.Span{{start + 60, start + 3660}}}, 400, nil, 330 + 3600, escalationplan.Snoozed},
		"after the snooze it goes on where it was":      {1, escalationplan.State{Snoozes: []escalationplan.Span{{start + 60, start + 3660}}}, 3660, nil, 330 + 3600, escalationplan.Waiting},
		"snoozed before the first call":                 {0, escalationplan.State{Snoozes: []escalationplan.Span{{start + 60, start + 3660}}}, 400, nil, 3660, escalationplan.Snoozed},
		"what was left over":                            {0, escalationplan.State{Snoozes: []escalationplan.Span{{start + 60, start + 3660}}}, 3660, []escalationplan.Result{step(0, 0, 30, true, escalationplan.Turn)}, 330 + 3600, escalationplan.Waiting},
		"snoozes that overlap, and one from before":     {1, escalationplan.State{Snoozes: []escalationplan.Span{{start + 200, start + 260}, {start - 50, start + 10}, {start + 100, start + 220}}}, 300, nil, 330 + 10 + 160, escalationplan.Waiting},
		"snoozed again after a snooze":                  {1, escalationplan.State{Snoozes: []escalationplan.Span{{start + 60, start + 160}, {start + 160, start + 260}}}, 160, nil, 330 + 200, escalationplan.Snoozed},
		"resolved in a snooze":                          {1, escalationplan.State{Resolved: start + 70, Snoozes: []escalationplan.Span{{start + 60, start + 3660}}}, 80, nil, 0, escalationplan.Resolved},
		"acknowledged in a snooze, with nothing forced": {1, escalationplan.State{Acknowledged: start + 70, Snoozes: []escalationplan.Span{{start + 60, start + 3660}}}, 80, nil, 0, escalationplan.Acknowledged},
	} {
		if c.due == nil {
			c.due = []escalationplan.Result{}
		}
		want := escalationplan.Answer{Due: c.due, Why: c.why}
		if c.next != 0 {
			want.Next = start + c.next
		}
		if got := escalationplan.Next(night, start, c.done, c.state, start+c.now); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
	}
}

func TestForceAppliesToSkippedLayer(t *testing.T) {
	rule := escalationplan.Rule{Wait: 60, Layers: []escalationplan.Layer{{Window: 60, Force: true}, {}}}
	got := escalationplan.Next(rule, start, 0, escalationplan.State{Acknowledged: start + 30}, start+120)
	want := escalationplan.Answer{Why: escalationplan.Acknowledged, Due: []escalationplan.Result{
		{Step: escalationplan.Step{Layer: 0, At: start + 60}, Why: escalationplan.Acknowledged},
		{Step: escalationplan.Step{Layer: 1, At: start + 120}, Tell: true, Why: escalationplan.Forced},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func BenchmarkNext(b *testing.B) {
	rule, state := escalationplan.Rule{}, escalationplan.State{Snoozes: []escalationplan.Span{{start + 60, start + 3660}}}
	for range 20 {
		rule.Layers = append(rule.Layers, escalationplan.Layer{Times: 6, Every: 60, Window: 600})
	}
	b.ReportAllocs()
	for b.Loop() {
		escalationplan.Next(rule, start, 70, state, start+9000)
	}
}
