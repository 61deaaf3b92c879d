package decide_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
)

// world is a State in memory, to which verdicts are applied.
type world struct {
	inlets   map[int64]*decide.Inlet
	channels map[int64]*decide.Channel
	alerts   []*decide.Alert // in the order of their making
	groups   []*group
}

type group struct {
	decide.Group
	channel int64
	key     string
	closed  bool
}

func (w *world) Inlet(id int64) (*decide.Inlet, error)     { return w.inlets[id], nil }
func (w *world) Channel(id int64) (*decide.Channel, error) { return w.channels[id], nil }

func (w *world) Alert(channel int64, key string) (*decide.Alert, error) {
	for _, a := range slices.Backward(w.alerts) {
		if a.Channel == channel && a.Key == key {
			copied := *a
			return &copied, nil
		}
	}
	return nil, nil
}

func (w *world) Sources(channel int64) (iter.Seq[*decide.Alert], error) {
	return func(yield func(*decide.Alert) bool) {
		for _, a := range w.alerts {
			if a.Channel == channel && a.Active() && !yield(a) {
				return
			}
		}
	}, nil
}

func (w *world) Source(channel int64, id string) (*decide.Alert, error) {
	for _, a := range w.alerts {
		if a.Channel == channel && a.Active() && a.ID == id {
			return a, nil
		}
	}
	return nil, nil
}

func (w *world) Group(channel int64, key string) (*decide.Group, error) {
	for _, g := range slices.Backward(w.groups) {
		if g.channel == channel && g.key == key && key != "" && !g.closed {
			copied := g.Group
			return &copied, nil
		}
	}
	return nil, nil
}

// apply applies a verdict to the state.
func (w *world) apply(v *decide.Verdict, now int64) {
	a := v.Alert
	if a == nil {
		return
	}
	if v.New {
		a.ID = fmt.Sprint("a", len(w.alerts))
		w.alerts = append(w.alerts, a)
	} else {
		i := slices.IndexFunc(w.alerts, func(o *decide.Alert) bool { return o.ID == a.ID })
		w.alerts[i] = a
	}
	switch {
	case v.Grouping.Open:
		a.Incident = fmt.Sprint("i", len(w.groups))
		w.groups = append(w.groups, &group{Group: decide.Group{Incident: a.Incident, Started: now, Last: now, Alerts: 1}, channel: a.Channel, key: v.Grouping.Key})
	case v.Grouping.Join != "":
		a.Incident = v.Grouping.Join
		for _, g := range w.groups {
			if g.Incident == a.Incident {
				g.Alerts++
				g.Last = now
			}
		}
	}
	for _, g := range w.groups { // an incident without active alerts is over
		g.closed = g.closed || !slices.ContainsFunc(w.alerts, func(a *decide.Alert) bool { return a.Incident == g.Incident && a.Active() })
	}
}

func rules(list []decide.Rule, filters ...filter.Filter) decide.Rules {
	return decide.NewRules(list, filters)
}

func when(label, value string) filter.Filter {
	return filter.Filter{{{Key: "labels." + label, Oper: filter.In, Vals: []string{value}}}}
}

// shop is a world with every kind of rule; the silence holds from 1000 to 2000.
func shop() *world {
	source, _ := filter.Compile(filter.Filter{{{Key: "severity", Oper: filter.In, Vals: []string{"Critical"}}}})
	return &world{
		inlets: map[int64]*decide.Inlet{1: {Channel: 7}, 2: {}},
		channels: map[int64]*decide.Channel{7: {
			Name:     "Shop",
			Drops:    rules([]decide.Rule{{ID: "d", Name: "noise"}}, when("env", "sandbox")),
			Silences: rules([]decide.Rule{{ID: "s", Name: "work", Holds: func(now int64) (bool, int64) { return 1000 <= now && now < 2000, 2000 }}}, when("env", "test")),
			Inhibits: []decide.Inhibit{{Source: source, Equals: []string{"labels.cluster"}}},
			Targets:  rules([]decide.Rule{{ID: "i", Name: "less"}}, filter.Filter{{{Key: "severity", Oper: filter.In, Vals: []string{"Info"}}}}),
			Grouping: decide.Method{ByFields: true, Equals: [][]string{{"labels.service"}}, Strict: true, Window: 600, Storms: []int64{3}},
			Flapping: decide.Flaps{Max: 4, In: 3600, Mute: 7200},
		}}}
}

func ev(key, status string, labels ...string) event.Event {
	e := event.Event{Integration: 1, AlertKey: key, Title: "T " + key, Status: status, Severity: status, Labels: map[string]string{}}
	if status == event.Ok {
		e.Severity = event.Info
	}
	for _, l := range labels {
		name, value, _ := strings.Cut(l, "=")
		e.Labels[name] = value
	}
	return e
}

func TestSequenceOfEvents(t *testing.T) {
	w := shop()
	for i, step := range []struct {
		now   int64
		event event.Event
		want  decide.Outcome
		why   string
	}{
		{100, ev("a", "Critical", "service=pay", "cluster=eu"), decide.Opened, "no incident of these is open"},
		{110, ev("a", "Critical", "service=pay", "cluster=eu"), decide.Repeated, `of the last event of alert "T a" (a0)`},
		{120, ev("b", "Warning", "service=pay"), decide.Grouped, "it joins incident i0"},
		{130, ev("c", "Info", "service=cart", "cluster=eu"), decide.Inhibited, `alert "T a" (a0) is active`},
		{140, ev("d", "Info", "service=cart", "cluster=us"), decide.Opened, ""},
		{150, ev("e", "Critical", "env=sandbox"), decide.Dropped, `labels.env is "sandbox"`},
		{150, ev("e", "Ok", "env=sandbox"), decide.Unmatched, "nothing to end"},
		{800, ev("f", "Critical", "service=pay"), decide.Opened, "began more than 10 minutes ago"},
		{900, ev("g", "Critical", "env=test", "service=x"), decide.Opened, ""},
		{1000, ev("h", "Critical", "env=test", "service=x"), decide.Silenced, "work"},
		{1100, ev("h", "Critical", "env=test", "service=x"), decide.Repeated, ""},
		{1200, ev("h", "Warning", "env=test", "service=x"), decide.Silenced, ""},
		{1300, ev("g", "Ok", "env=test"), decide.Recovered, "it ends alert"},
		{2100, ev("h", "Info", "env=test", "service=x"), decide.Opened, ""},
		{2200, ev("k", "Critical"), decide.Opened, "lacks the fields"},
	} {
		verdicts, err := decide.Event(w, step.event, step.now)
		if err != nil || len(verdicts) != 1 || verdicts[0].Outcome != step.want {
			t.Fatalf("step %d, %+v: %v %v, want %s", i, step.event, verdicts, err, step.want)
		}
		text, _ := json.Marshal(verdicts[0].Trace)
		var told []decide.Step
		_ = json.Unmarshal(text, &told)
		all := ""
		for _, s := range told {
			all += s.Name + " " + s.Why.English() + "\n"
		}
		if !strings.Contains(all, step.why) {
			t.Errorf("step %d: %s\ndoes not say %s", i, all, step.why)
		}
		w.apply(&verdicts[0], step.now)
	}
	if verdicts, _ := decide.Event(w, event.Event{Integration: 2}, 1); verdicts[0].Outcome != decide.Unrouted {
		t.Errorf("%+v", verdicts)
	}
	if verdicts, _ := decide.Event(w, event.Event{Integration: 3}, 1); verdicts[0].Outcome != decide.Unrouted {
		t.Errorf("%+v", verdicts)
	}
}

// model returns the outcome of an event in the shop, from the rules one by one. The model lacks the indexes and copies of
// the real code. The random events cause no inhibition and no flapping, so the model has neither. From 3000 on the channel
// is disabled.
func model(w *world, e event.Event, now int64) decide.Outcome {
	var open *decide.Alert
	for _, a := range w.alerts {
		if a.Key == e.AlertKey && a.End == 0 {
			open = a
		}
	}
	switch {
	case e.Status == "Ok" && open == nil:
		return decide.Unmatched
	case e.Status == "Ok":
		return decide.Recovered
	case e.Labels["env"] == "sandbox":
		return decide.Dropped
	case open != nil && open.Status == e.Status:
		return decide.Repeated
	case e.Labels["env"] == "test" && now >= 1000 && now < 2000:
		return decide.Silenced
	case now >= 3000:
		return decide.Disabled
	case open != nil && open.Incident != "":
		return decide.Grouped
	case e.Labels["service"] == "":
		return decide.Opened
	}
	for _, g := range w.groups {
		if g.closed || now >= g.Started+600 || now < g.Started {
			continue
		}
		for _, a := range w.alerts {
			if a.Incident == g.Incident && g.key != "" && a.Labels["service"] == e.Labels["service"] && newest(w, g) {
				return decide.Grouped
			}
		}
	}
	return decide.Opened
}

// newest reports whether a group is the latest open one with its key.
func newest(w *world, g *group) bool {
	for _, o := range slices.Backward(w.groups) {
		if o.key == g.key && !o.closed {
			return o == g
		}
	}
	return false
}

func TestAgainstModel(t *testing.T) {
	outcomes := map[decide.Outcome]int{}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 3))
		w := shop()
		w.channels[7].Targets = decide.Rules{}
		w.channels[7].Flapping.Off = true
		keyed := map[string]event.Event{} // a key has always the same labels
		now := int64(100)
		for step := range 90 {
			now += r.Int64N(90)
			w.channels[7].Disabled = now >= 3000
			key := fmt.Sprint("k", r.IntN(8))
			first, known := keyed[key]
			if !known {
				first = ev(key, "Info", []string{"env=prod", "env=test", "env=sandbox"}[r.IntN(3)])
				if r.IntN(4) > 0 {
					first.Labels["service"] = fmt.Sprint("s", r.IntN(2))
				}
				keyed[key] = first
			}
			e := ev(key, []string{"Critical", "Warning", "Info", "Ok"}[r.IntN(4)])
			e.Labels = first.Labels
			want := model(w, e, now)
			verdicts, err := decide.Event(w, e, now)
			again, _ := decide.Event(w, e, now)
			if err != nil || len(verdicts) != 1 || verdicts[0].Outcome != want {
				t.Fatalf("seed %d, step %d: %+v is %v %v, want %s", seed, step, e, verdicts, err, want)
			}
			if fmt.Sprintf("%+v", verdicts[0].Trace) != fmt.Sprintf("%+v", again[0].Trace) {
				t.Fatalf("seed %d, step %d: the same twice is not the same", seed, step)
			}
			v := &verdicts[0]
			if v.Outcome.Muted() != (v.Alert != nil && v.Alert.Muted != "" && v.Outcome != decide.Recovered && v.Outcome != decide.Repeated) || v.Outcome.Muted() && v.Alert.MutedUntil <= now {
				t.Fatalf("seed %d, step %d: %s, but the alert is %+v", seed, step, v.Outcome, v.Alert)
			}
			if opens := v.Grouping.Open || v.Grouping.Join != ""; opens != (v.Outcome == decide.Opened || v.Outcome == decide.Grouped && v.Grouping.Join != "") || len(v.Trace) == 0 {
				t.Fatalf("seed %d, step %d: %+v", seed, step, v)
			}
			outcomes[v.Outcome]++
			w.apply(v, now)
		}
	}
	for _, o := range []decide.Outcome{decide.Opened, decide.Grouped, decide.Repeated, decide.Recovered, decide.Unmatched, decide.Dropped, decide.Silenced, decide.Disabled} {
		if outcomes[o] < 100 {
			t.Errorf("%s came up %d times: the cases are lopsided", o, outcomes[o])
		}
	}
}

// The cost of a decision depends on the rules that may match, not on all rules.
func BenchmarkEvent(b *testing.B) {
	for _, n := range []int{0, 20, 500} {
		var list []decide.Rule
		var filters []filter.Filter
		for i := range n {
			list = append(list, decide.Rule{ID: fmt.Sprint(i), Name: "r", Holds: func(int64) (bool, int64) { return true, 9999 }})
			filters = append(filters, when("service", fmt.Sprint("other-", i)))
		}
		w := shop()
		w.channels[7].Drops, w.channels[7].Silences = decide.NewRules(list, filters), decide.NewRules(list, filters)
		e := ev("a", "Critical", "service=pay")
		b.Run(fmt.Sprint(n, " rules"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := decide.Event(w, e, 100); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Whatever the rules are, every chain of inhibited alerts ends at an alert that is not inhibited.
func TestInhibitionNeverGoesInCircle(t *testing.T) {
	const seed = 20261122
	rng := rand.New(rand.NewPCG(seed, 5))
	inhibited := 0
	for range 500 {
		ch := &decide.Channel{Name: "c", Flapping: decide.Flaps{Off: true}}
		ch.Silences = rules([]decide.Rule{{ID: "s", Name: "s", Holds: func(now int64) (bool, int64) { return now < 300, 300 }}}, filter.Filter{})
		var list []decide.Rule
		var targets []filter.Filter
		for n := range 1 + rng.IntN(4) {
			source, _ := filter.Compile(when("kind", fmt.Sprint(rng.IntN(3))))
			ch.Inhibits = append(ch.Inhibits, decide.Inhibit{Source: source})
			list, targets = append(list, decide.Rule{ID: fmt.Sprint(n), Name: fmt.Sprint(n)}), append(targets, when("kind", fmt.Sprint(rng.IntN(3))))
		}
		ch.Targets = decide.NewRules(list, targets)
		w := &world{inlets: map[int64]*decide.Inlet{1: {Channel: 7}}, channels: map[int64]*decide.Channel{7: ch}}
		step := func(at int64) {
			key := fmt.Sprint(rng.IntN(7))
			e := event.Event{Integration: 1, AlertKey: key, Title: fmt.Sprint("T", rng.IntN(3)), Status: event.Critical, Severity: event.Critical, Labels: map[string]string{"kind": fmt.Sprint(rng.IntN(3))}, Time: at}
			verdicts, err := decide.Event(w, e, at)
			if err != nil {
				t.Fatal(err)
			}
			for i := range verdicts {
				w.apply(&verdicts[i], at)
			}
		}
		for at := range int64(20) {
			step(200 + at)
		}
		for at := int64(300); at < 340; at++ {
			if rng.IntN(3) == 0 {
				step(at)
			}
			for _, n := range rng.Perm(len(w.alerts)) {
				a := *w.alerts[n]
				if a.Muted == "" || at != 300 && a.MutedUntil > at {
					continue
				}
				v, err := decide.Reevaluate(w, &a, at)
				if err != nil {
					t.Fatal(err)
				}
				w.apply(&v, at)
			}
			for _, a := range w.alerts {
				seen := map[string]bool{}
				for b := a; b.Muted == decide.Inhibited; {
					if inhibited++; seen[b.ID] {
						t.Fatalf("seed %d: %s waits for itself", seed, a.ID)
					}
					seen[b.ID] = true
					b = w.alerts[slices.IndexFunc(w.alerts, func(o *decide.Alert) bool { return o.ID == b.MutedBy })]
				}
			}
		}
	}
	if inhibited < 1000 {
		t.Errorf("only %d inhibitions: the run is too quiet", inhibited)
	}
}
