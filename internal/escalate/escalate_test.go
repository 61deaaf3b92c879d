package escalate_test

import (
	"reflect"
	"testing"

	"tocsin/internal/escalate"
)

// night is the rule of the examples: two people after half a minute, the first of whom is told again twice,
// then a third, whatever the first have done.
var night = escalate.Rule{Wait: 30, Layers: []escalate.Layer{
	{Times: 2, Every: 300, Window: 900},
	{Times: 6, Every: 300, Window: 600, Force: true},
	{Times: 1, Every: 60},
}}

const start = 1_776_000_000

func TestPlan(t *testing.T) {
	for name, c := range map[string]struct {
		rule escalate.Rule
		want []escalate.Step
	}{
		"no layers": {escalate.Rule{Wait: 30}, []escalate.Step{}},
		"night": {night, []escalate.Step{
			{0, 0, start + 30}, {0, 1, start + 330}, {0, 2, start + 630},
			{1, 0, start + 930}, {1, 1, start + 1230}, // the third layer takes over at 1530
			{2, 0, start + 1530}, {2, 1, start + 1590},
		}},
		"how often without how far apart": {escalate.Rule{Layers: []escalate.Layer{{Times: 6}}}, []escalate.Step{{0, 0, start}}},
		"no time between layers": {escalate.Rule{Layers: []escalate.Layer{{Times: 6, Every: 30}, {}}},
			[]escalate.Step{{0, 0, start}, {1, 0, start}}},
	} {
		if got := escalate.Plan(c.rule, start); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestNext(t *testing.T) {
	step := func(layer, repeat int, at int64, tell bool, why escalate.Reason) escalate.Verdict {
		return escalate.Verdict{Step: escalate.Step{Layer: layer, Repeat: repeat, At: start + at}, Tell: tell, Why: why}
	}
	for name, c := range map[string]struct {
		done  int
		state escalate.State
		now   int64
		due   []escalate.Verdict
		next  int64 // 0: ended
		why   escalate.Reason
	}{
		"before anybody is told":       {0, escalate.State{}, 29, nil, 30, escalate.Waiting},
		"the first layer":              {0, escalate.State{}, 30, []escalate.Verdict{step(0, 0, 30, true, escalate.Turn)}, 330, escalate.Waiting},
		"asked again":                  {1, escalate.State{}, 30, nil, 330, escalate.Waiting},
		"told again":                   {1, escalate.State{}, 330, []escalate.Verdict{step(0, 1, 330, true, escalate.Again)}, 630, escalate.Waiting},
		"the second layer":             {3, escalate.State{}, 931, []escalate.Verdict{step(1, 0, 930, true, escalate.Turn)}, 1230, escalate.Waiting},
		"the last step":                {6, escalate.State{}, 1590, []escalate.Verdict{step(2, 1, 1590, true, escalate.Again)}, 0, escalate.Exhausted},
		"nobody asked for ten minutes": {0, escalate.State{}, 640, []escalate.Verdict{step(0, 0, 30, false, escalate.Overtaken), step(0, 1, 330, false, escalate.Overtaken), step(0, 2, 630, true, escalate.Again)}, 930, escalate.Waiting},
		"nobody asked for longer": {2, escalate.State{}, 1000, []escalate.Verdict{step(0, 2, 630, true, escalate.Again), step(1, 0, 930, true, escalate.Turn)},
			1230, escalate.Waiting},
		"resolved while it waits":                       {0, escalate.State{Resolved: start + 29}, 30, []escalate.Verdict{step(0, 0, 30, false, escalate.Resolved)}, 0, escalate.Resolved},
		"resolved in the future":                        {0, escalate.State{Resolved: start + 31}, 30, []escalate.Verdict{step(0, 0, 30, true, escalate.Turn)}, 330, escalate.Waiting},
		"acknowledged in the first layer":               {1, escalate.State{Acknowledged: start + 60}, 60, nil, 0, escalate.Acknowledged},
		"force of a layer that was not reached":         {1, escalate.State{Acknowledged: start + 60}, 5000, []escalate.Verdict{step(0, 1, 330, false, escalate.Acknowledged), step(0, 2, 630, false, escalate.Acknowledged), step(1, 0, 930, false, escalate.Acknowledged), step(1, 1, 1230, false, escalate.Acknowledged), step(2, 0, 1530, false, escalate.Acknowledged), step(2, 1, 1590, false, escalate.Acknowledged)}, 0, escalate.Acknowledged},
		"acknowledged in a layer with force":            {4, escalate.State{Acknowledged: start + 1000}, 1000, nil, 1530, escalate.Waiting},
		"forced":                                        {4, escalate.State{Acknowledged: start + 1000}, 1530, []escalate.Verdict{step(1, 1, 1230, false, escalate.Acknowledged), step(2, 0, 1530, true, escalate.Forced)}, 0, escalate.Acknowledged},
		"snoozed":                                       {1, escalate.State{Snoozes: []escalate.Span{{start + 60, start + 3660}}}, 400, nil, 330 + 3600, escalate.Snoozed},
		"after the snooze it goes on where it was":      {1, escalate.State{Snoozes: []escalate.Span{{start + 60, start + 3660}}}, 3660, nil, 330 + 3600, escalate.Waiting},
		"snoozed before anybody asked":                  {0, escalate.State{Snoozes: []escalate.Span{{start + 60, start + 3660}}}, 400, nil, 3660, escalate.Snoozed},
		"what was left over":                            {0, escalate.State{Snoozes: []escalate.Span{{start + 60, start + 3660}}}, 3660, []escalate.Verdict{step(0, 0, 30, true, escalate.Turn)}, 330 + 3600, escalate.Waiting},
		"snoozes that overlap, and one from before":     {1, escalate.State{Snoozes: []escalate.Span{{start + 200, start + 260}, {start - 50, start + 10}, {start + 100, start + 220}}}, 300, nil, 330 + 10 + 160, escalate.Waiting},
		"snoozed again after a snooze":                  {1, escalate.State{Snoozes: []escalate.Span{{start + 60, start + 160}, {start + 160, start + 260}}}, 160, nil, 330 + 200, escalate.Snoozed},
		"resolved in a snooze":                          {1, escalate.State{Resolved: start + 70, Snoozes: []escalate.Span{{start + 60, start + 3660}}}, 80, nil, 0, escalate.Resolved},
		"acknowledged in a snooze, with nothing forced": {1, escalate.State{Acknowledged: start + 70, Snoozes: []escalate.Span{{start + 60, start + 3660}}}, 80, nil, 0, escalate.Acknowledged},
	} {
		if c.due == nil {
			c.due = []escalate.Verdict{}
		}
		want := escalate.Answer{Due: c.due, Why: c.why}
		if c.next != 0 {
			want.Next = start + c.next
		}
		if got := escalate.Next(night, start, c.done, c.state, start+c.now); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
	}
}

func TestForceLeadsOnFromALayerThatWasLeftOut(t *testing.T) {
	rule := escalate.Rule{Wait: 60, Layers: []escalate.Layer{{Window: 60, Force: true}, {}}}
	got := escalate.Next(rule, start, 0, escalate.State{Acknowledged: start + 30}, start+120)
	want := escalate.Answer{Why: escalate.Acknowledged, Due: []escalate.Verdict{
		{Step: escalate.Step{Layer: 0, At: start + 60}, Why: escalate.Acknowledged},
		{Step: escalate.Step{Layer: 1, At: start + 120}, Tell: true, Why: escalate.Forced},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func BenchmarkNext(b *testing.B) {
	rule, state := escalate.Rule{}, escalate.State{Snoozes: []escalate.Span{{start + 60, start + 3660}}}
	for range 20 {
		rule.Layers = append(rule.Layers, escalate.Layer{Times: 6, Every: 60, Window: 600})
	}
	b.ReportAllocs()
	for b.Loop() {
		escalate.Next(rule, start, 70, state, start+9000)
	}
}
