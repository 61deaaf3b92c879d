package decide_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/pipeline"
)

// pair is a channel or a pipeline in which a source of a kind inhibits its target in the same cluster.
func pair(id, source, target string) (decide.Rule, decide.Inhibit, filter.Filter) {
	matcher, _ := filter.Compile(when("kind", source))
	return decide.Rule{ID: id, Name: id}, decide.Inhibit{Source: matcher, Equals: []string{"labels.cluster"}}, when("kind", target)
}

// inhibitions is a channel with the rules disk -> service -> page, and with a pipeline in which net inhibits page.
func inhibitions() *world {
	ch := &decide.Channel{Name: "c", Flapping: decide.Flaps{Off: true}}
	var list []decide.Rule
	var targets []filter.Filter
	for i, names := range [][2]string{{"disk", "service"}, {"service", "page"}} {
		rule, inhibit, target := pair(fmt.Sprint("r", i), names[0], names[1])
		list = append(list, rule)
		ch.Inhibits = append(ch.Inhibits, inhibit)
		targets = append(targets, target)
	}
	ch.Targets = decide.NewRules(list, targets)
	piped := pipeline.Ready([]pipeline.Rule{{
		Kind: pipeline.AlertInhibit, If: filter.Groups(when("kind", "page")),
		Settings: pipeline.Settings{SourceFilters: filter.Groups(when("kind", "net")), Equals: []string{"labels.cluster"}},
	}})
	return &world{inlets: map[int64]*decide.Inlet{1: {Channel: 7, Rules: piped}}, channels: map[int64]*decide.Channel{7: ch}}
}

// holders are the kinds whose active alerts inhibit a kind.
var holders = map[string][]string{"service": {"disk"}, "page": {"service", "net"}}

// held is the naive model: an active alert of a holder's kind in the same cluster inhibits, whatever its age.
func held(w *world, kind, cluster string) bool {
	return slices.ContainsFunc(w.alerts, func(a *decide.Alert) bool {
		return a.Active() && a.Labels["cluster"] == cluster && slices.Contains(holders[kind], a.Labels["kind"])
	})
}

// A source inhibits exactly while it is active: random events over hours, with alerts decided again at random moments,
// as after an unrelated change of the configuration, against the naive model.
func TestInhibitionAgainstModel(t *testing.T) {
	outcomes := map[decide.Outcome]int{}
	kept, released := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 9))
		w := inhibitions()
		now := int64(1000)
		for step := range 60 {
			now += r.Int64N(3600)
			kind, cluster := []string{"disk", "service", "page", "net", "other"}[r.IntN(5)], []string{"eu", "us"}[r.IntN(2)]
			e := ev(fmt.Sprint(kind, cluster, r.IntN(2)), []string{"Critical", "Warning", "Ok"}[r.IntN(3)], "kind="+kind, "cluster="+cluster)
			e.Time = now
			var open *decide.Alert
			for _, a := range w.alerts {
				if a.Key == e.AlertKey && a.Active() {
					open = a
				}
			}
			var want decide.Outcome
			switch {
			case e.Status == event.Ok && open == nil:
				want = decide.Unmatched
			case e.Status == event.Ok:
				want = decide.Recovered
			case open != nil && open.Status == e.Status:
				want = decide.Repeated
			case held(w, kind, cluster):
				want = decide.Inhibited
			case open != nil && open.Incident != "":
				want = decide.Grouped
			default:
				want = decide.Opened
			}
			verdicts, err := decide.Event(w, e, now)
			if err != nil || verdicts[0].Outcome != want {
				t.Fatalf("seed %d, step %d: %+v is %s %v, want %s: %+v", seed, step, e, verdicts[0].Outcome, err, want, verdicts[0].Trace)
			}
			if frees := want == decide.Recovered || open != nil && e.Status != event.Ok && open.Status != e.Status; verdicts[0].Frees != frees {
				t.Fatalf("seed %d, step %d: %s of %+v frees what it inhibits: %v", seed, step, want, open, verdicts[0].Frees)
			}
			outcomes[want]++
			w.apply(&verdicts[0], now)
			for _, n := range r.Perm(len(w.alerts)) { // all are due
				a := *w.alerts[n]
				if a.Muted == "" || !a.Active() {
					continue
				}
				v, err := decide.Reevaluate(w, &a, now)
				if stays := held(w, a.Labels["kind"], a.Labels["cluster"]); err != nil || v.Outcome.Muted() != stays {
					t.Fatalf("seed %d, step %d: %s of %s stays inhibited: %v %v, want %v: %+v", seed, step, a.Labels["kind"], a.Labels["cluster"], v.Outcome, err, stays, a)
				} else if stays {
					kept++
				} else {
					released++
				}
				w.apply(&v, now)
			}
		}
	}
	if outcomes[decide.Inhibited] < 500 || kept < 1000 || released < 200 {
		t.Errorf("%v, %d kept and %d released: the cases are lopsided", outcomes, kept, released)
	}
}

// An alert that changes too often stays in its state when it is decided again early. Any change of the configuration does
// that. The state ends early only if the alert's channel no longer handles flapping.
func TestFlappingOutlastsChange(t *testing.T) {
	w := inhibitions()
	w.channels[7].Flapping = decide.Flaps{Max: 4, In: 3600, Mute: 7200}
	for n, status := range []string{"Critical", "Ok", "Critical", "Ok"} {
		e := ev("a", status)
		e.Time = int64(1000 + n)
		v, err := decide.Event(w, e, e.Time)
		if err != nil {
			t.Fatal(err)
		}
		w.apply(&v[0], int64(1000+n))
	}
	last := *w.alerts[len(w.alerts)-1]
	if !last.AwaitsQuiet() {
		t.Fatalf("%+v", last)
	}
	for _, at := range []int64{1010, 5000, 8202, 8203, 8204, 8300} {
		a := last
		a.MutedUntil = at // made due
		v, err := decide.Reevaluate(w, &a, at)
		if stays := at < last.FlapsUntil; err != nil || a.Active() != stays || v.Unchanged != stays || stays && a.MutedUntil != last.FlapsUntil {
			t.Errorf("at %d: %s until %d, %v", at, v.Outcome, a.MutedUntil, err)
		}
		w.channels[7].Flapping.Off = true
		a = last
		v, err = decide.Reevaluate(w, &a, at)
		if err != nil || a.Active() {
			t.Errorf("at %d, off: %s, %v", at, v.Outcome, err)
		}
		w.channels[7].Flapping.Off = false
	}
}

// The cost of an alert that 5,000 active alerts could inhibit.
func BenchmarkInhibition(b *testing.B) {
	for _, n := range []int{100, 1000, 5000} {
		w := inhibitions()
		for i := range n {
			w.alerts = append(w.alerts, &decide.Alert{ID: fmt.Sprint("a", i), Channel: 7, Key: fmt.Sprint("k", i), Labels: map[string]string{"kind": "service", "cluster": fmt.Sprint("c", i)}})
		}
		e := ev("new", "Critical", "kind=page", "cluster=none")
		b.Run(fmt.Sprint(n, " sources"), func(b *testing.B) {
			for b.Loop() {
				if v, err := decide.Event(w, e, 100); err != nil || v[0].Outcome != decide.Opened {
					b.Fatal(v, err)
				}
			}
		})
	}
}
