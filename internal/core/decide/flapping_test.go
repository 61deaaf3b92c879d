package decide_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
)

// flapper is a shop of one alert key, whose due alerts are decided again as time passes.
type flapper struct {
	*world
	t     *testing.T
	now   int64
	told  []int64 // when a person is notified: the incident opened, or the alert notifies again
	again []decide.Again
	last  decide.Verdict
}

func newFlapper(t *testing.T, f decide.Flaps) *flapper {
	w := &world{inlets: map[int64]*decide.Inlet{1: {Channel: 7}}, channels: map[int64]*decide.Channel{7: {Name: "c", Flapping: f}}}
	return &flapper{world: w, t: t, now: 1000}
}

func (f *flapper) note(v *decide.Verdict) {
	f.apply(v, f.now)
	f.last = *v
	if v.Outcome == decide.Opened || v.Again != decide.NotAgain {
		f.told = append(f.told, f.now)
	}
	if v.Again != decide.NotAgain {
		f.again = append(f.again, v.Again)
	}
}

// push decides an event.
func (f *flapper) push(status string) decide.Verdict {
	f.t.Helper()
	e := ev("k", status)
	e.Time = f.now
	all, err := decide.Event(f, e, f.now)
	if err != nil {
		f.t.Fatal(err)
	}
	f.note(&all[0])
	return f.last
}

// pass moves the clock, and decides due alerts again.
func (f *flapper) pass(seconds int64) {
	f.t.Helper()
	end := f.now + seconds
	for {
		i := slices.IndexFunc(f.alerts, func(a *decide.Alert) bool { return a.Active() && a.MutedUntil > 0 && a.MutedUntil <= end })
		if i < 0 {
			break
		}
		a := *f.alerts[i]
		a.Changes = slices.Clone(a.Changes)
		f.now = max(f.now, a.MutedUntil)
		v, err := decide.Reevaluate(f, &a, f.now)
		if err != nil {
			f.t.Fatal(err)
		}
		if a.Active() && a.MutedUntil > 0 && a.MutedUntil <= f.now {
			f.t.Fatalf("at %d the alert is due again at once: %+v", f.now, a)
		}
		f.note(&v)
	}
	f.now = end
}

// flap pushes changes that are a minute apart; the first makes the alert active.
func (f *flapper) flap(changes int) {
	for n := range changes {
		f.push([]string{event.Critical, event.Ok}[n%2])
		f.pass(60)
	}
}

var usual = decide.Flaps{Max: 4, In: 3600, Mute: 900}

func TestFlappingAlertKeepsItsIncident(t *testing.T) {
	f := newFlapper(t, usual)
	f.flap(4)
	if len(f.alerts) != 2 || f.last.Outcome != decide.Flapping || !f.alerts[1].AwaitsQuiet() {
		t.Fatalf("the fourth change: %d alerts, %+v", len(f.alerts), f.last)
	}
	if v := f.push(event.Ok); v.Outcome != decide.Repeated {
		t.Errorf("another Ok: %+v", v)
	}
	if v := f.push(event.Critical); v.Outcome != decide.Grouped || v.Again != decide.AgainFirst || v.New || v.Flaps != usual {
		t.Errorf("the first beginning: %+v", v)
	}
	f.pass(60)
	for range 5 {
		f.push(event.Ok)
		f.pass(60)
		if v := f.push(event.Critical); v.Again != decide.NotAgain || v.Outcome != decide.Grouped {
			t.Errorf("a later beginning: %+v", v)
		}
		f.pass(60)
	}
	f.push(event.Ok)
	f.pass(899)
	if !f.alerts[1].AwaitsQuiet() {
		t.Errorf("before it was quiet: %+v", f.alerts[1])
	}
	f.pass(1)
	if a := f.alerts[1]; a.Active() || f.last.Outcome != decide.Recovered || !f.last.Settled || a.FlapsUntil != 0 {
		t.Errorf("when it was quiet: %+v %+v", a, f.last)
	}
	if v := f.push(event.Critical); v.Outcome != decide.Opened || v.Flaps != (decide.Flaps{}) {
		t.Errorf("afterwards: %+v", v)
	}
}

func TestFlappingAlertNotifiesAgain(t *testing.T) {
	for name, c := range map[string]struct {
		flaps decide.Flaps
		do    func(f *flapper)
		want  []decide.Again
	}{
		"after it was over for ten minutes": {usual, func(f *flapper) {
			f.flap(4)
			f.push(event.Critical)
			f.push(event.Ok)
			f.pass(600)
			f.push(event.Critical)
		},
			[]decide.Again{decide.AgainFirst, decide.AgainBack}},
		"not after nine": {usual, func(f *flapper) {
			f.flap(4)
			f.push(event.Critical)
			f.push(event.Ok)
			f.pass(599)
			f.push(event.Critical)
		},
			[]decide.Again{decide.AgainFirst}},
		"when it lasts": {usual, func(f *flapper) {
			f.flap(4)
			f.push(event.Critical)
			f.push(event.Ok)
			f.pass(60)
			f.push(event.Critical)
			f.pass(3000)
		}, []decide.Again{decide.AgainFirst, decide.AgainLasts}},
		"when it lasts, with a shorter mute": {decide.Flaps{Max: 4, In: 3600, Mute: 60}, func(f *flapper) {
			f.push(event.Critical)
			f.push(event.Ok)
			f.push(event.Critical)
			f.push(event.Ok)
			f.push(event.Critical)
			f.push(event.Ok)
			f.pass(59)
			f.push(event.Critical)
			f.pass(3000)
		}, []decide.Again{decide.AgainFirst, decide.AgainLasts}},
		"the first beginning once, although it lasts": {usual, func(f *flapper) { f.flap(4); f.push(event.Critical); f.pass(3000) },
			[]decide.Again{decide.AgainFirst}},
		"when flapping is switched off": {usual, func(f *flapper) {
			f.flap(4)
			f.push(event.Critical)
			f.push(event.Ok)
			f.pass(1)
			f.push(event.Critical)
			f.channels[7].Flapping.Off = true
			f.alerts[1].MutedUntil = f.now
			f.pass(0)
		}, []decide.Again{decide.AgainFirst, decide.AgainReleased}},
		"after a silence in which it lasted": {usual, func(f *flapper) {
			f.flap(4)
			f.push(event.Critical)
			f.push(event.Ok)
			f.pass(1)
			f.channels[7].Silences = rules([]decide.Rule{{ID: "s", Holds: func(now int64) (bool, int64) { return now < 5000, 5000 }}}, nil)
			f.push(event.Critical)
			f.pass(9000)
		}, []decide.Again{decide.AgainFirst, decide.AgainLasts}},
	} {
		f := newFlapper(t, c.flaps)
		if c.do(f); !slices.Equal(f.again, c.want) {
			t.Errorf("%s: %v, want %v", name, f.again, c.want)
		}
	}
}

func TestFlappingEndsByHandAndBySettings(t *testing.T) {
	f := newFlapper(t, usual)
	f.flap(4)
	f.channels[7].Flapping.Off = true
	f.alerts[1].MutedUntil = f.now
	if f.pass(0); f.alerts[1].Active() {
		t.Errorf("an Ok of a channel without flapping: %+v", f.alerts[1])
	}
	f = newFlapper(t, decide.Flaps{Max: 4, In: 3600})
	f.flap(8)
	if len(f.alerts) != 4 || f.alerts[3].Active() || len(f.again) > 0 {
		t.Errorf("flapping that is only marked: %d alerts, %v", len(f.alerts), f.again)
	}
}

// Persons are notified of every alert that stays active for ten minutes, whatever the changes and the settings. Every alert
// ends once it is over for long enough.
func TestFlappingHidesNoOutage(t *testing.T) {
	counts := map[decide.Again]int{}
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 9))
		f := newFlapper(t, decide.Flaps{Max: 2 + r.Int64N(4), In: 600 + r.Int64N(7200), Mute: []int64{60, 300, 900, 7200}[r.IntN(4)]})
		active, since := false, int64(0)
		for range 80 {
			active = !active
			if active {
				f.push(event.Critical)
				since = f.now
			} else {
				f.push(event.Ok)
			}
			f.pass(r.Int64N([]int64{30, 300, 2000}[r.IntN(3)]))
			if n := len(f.told); active && f.now-since >= 600 && f.told[n-1] < since {
				t.Fatalf("seed %d: active from %d to %d, last notified at %d", seed, since, f.now, f.told[n-1])
			}
		}
		if active {
			f.push(event.Ok)
		}
		f.pass(7200)
		for _, a := range f.alerts {
			if a.Active() || a.FlapsUntil != 0 {
				t.Fatalf("seed %d: not over: %+v", seed, a)
			}
		}
		for _, why := range f.again {
			counts[why]++
		}
	}
	for _, why := range []decide.Again{decide.AgainFirst, decide.AgainBack, decide.AgainLasts} {
		if counts[why] < 100 {
			t.Errorf("%s came up %d times: the cases are lopsided", why, counts[why])
		}
	}
}

func TestDisabledChannelKeepsItsAlerts(t *testing.T) {
	w := shop()
	w.channels[7].Disabled = true
	step := func(e event.Event, now int64, want decide.Outcome) *decide.Verdict {
		t.Helper()
		e.Time = now
		all, err := decide.Event(w, e, now)
		if err != nil || all[0].Outcome != want {
			t.Fatalf("%+v: %v %v, want %s", e, all, err, want)
		}
		w.apply(&all[0], now)
		return &all[0]
	}
	v := step(ev("a", "Critical", "service=pay"), 100, decide.Disabled)
	if a := v.Alert; a == nil || a.Muted != decide.Disabled || a.MutedUntil == 0 || a.Incident != "" {
		t.Errorf("%+v", a)
	}
	step(ev("a", "Critical", "service=pay"), 110, decide.Repeated)
	step(ev("b", "Critical", "env=sandbox"), 120, decide.Dropped)
	step(ev("c", "Critical", "env=test"), 1100, decide.Silenced)
	step(ev("d", "Warning", "service=pay"), 1200, decide.Disabled)
	step(ev("d", "Ok"), 1300, decide.Recovered)
	again := func(n int, now int64) decide.Verdict {
		a := *w.alerts[n]
		v, err := decide.Reevaluate(w, &a, now)
		if err != nil {
			t.Fatal(err)
		}
		w.apply(&v, now)
		return v
	}
	if v := again(1, 2000); v.Outcome != decide.Disabled {
		t.Errorf("after its silence: %+v", v)
	}
	if v := again(0, 2000); !v.Unchanged || v.Alert.MutedUntil <= 2000 {
		t.Errorf("while it is disabled: %+v", v)
	}
	w.channels[7].Disabled = false
	if v := again(0, 2100); v.Outcome != decide.Opened || v.Alert.Muted != "" {
		t.Errorf("when it is enabled: %+v", v)
	}
	w.channels[7].Disabled = true
	step(ev("a", "Ok"), 2200, decide.Recovered)
}
