package escalationplan_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"tocsin/internal/core/escalationplan"
)

// tick is the grain of the model: half a minute, the shortest time between two notifications.
const tick = 30

// notified is a layer that is notified at a moment.
type notified struct {
	layer, repeat int
	at            int64
}

// model runs from tick to tick with a stopwatch and follows the rule directly, without a plan.
func model(r escalationplan.Rule, s escalationplan.State, ticks int) (list []notified) {
	layer := -1               // the layer whose turn it is
	var watch, entered int64  // what the watch shows, and what it showed when the layer's turn came
	repeats, over := 0, false // the layer's repetitions; whether the escalation has ended
	notify := func(now int64) { list = append(list, notified{layer, repeats, now}) }
	for now := int64(start); now < start+int64(ticks)*tick && !over; now += tick {
		if s.Resolved != 0 && now >= s.Resolved {
			return list
		}
		if slices.ContainsFunc(s.Snoozes, func(p escalationplan.Span) bool { return p.From <= now && now < p.Until }) {
			continue // the watch stands still
		}
		acked := s.Acknowledged != 0 && now >= s.Acknowledged
		fresh := false
		if layer < 0 && watch >= r.Wait && len(r.Layers) > 0 {
			layer = 0
			entered = watch
			fresh = true
			if !acked {
				notify(now)
			}
		}
		for layer >= 0 && layer < len(r.Layers)-1 && watch-entered >= r.Layers[layer].Window {
			if acked && !r.Layers[layer].Force {
				over = true
				break
			}
			layer = layer + 1
			entered = watch
			repeats = 0
			fresh = true
			notify(now)
		}
		if layer >= 0 && !fresh && !over {
			l := r.Layers[layer]
			if l.Every > 0 && repeats < l.Times && (watch-entered)%l.Every == 0 {
				repeats++
				if !acked {
					notify(now)
				}
			}
		}
		watch += tick
	}
	return list
}

func random(rng *rand.Rand) (r escalationplan.Rule, s escalationplan.State) {
	ticks := func(most int64) int64 { return tick * rng.Int64N(most+1) }
	r.Wait = ticks(4)
	for range rng.IntN(5) {
		r.Layers = append(r.Layers, escalationplan.Layer{Times: rng.IntN(7), Every: ticks(4), Window: ticks(12), Force: rng.IntN(2) == 0})
	}
	if rng.IntN(2) == 0 {
		s.Acknowledged = start + ticks(40)
	}
	if rng.IntN(3) == 0 {
		s.Resolved = start + ticks(60)
	}
	for range rng.IntN(4) {
		from := start - 5*tick + ticks(40)
		s.Snoozes = append(s.Snoozes, escalationplan.Span{From: from, Until: from + ticks(15)})
	}
	return r, s
}

const horizon = 250 // ticks; no random escalation is longer

// TestNextAgainstModel: called at every tick, Next notifies the same layers at the same moments as the model.
func TestNextAgainstModel(t *testing.T) {
	for seed := range uint64(3000) {
		r, s := random(rand.New(rand.NewPCG(seed, 1)))
		list, done := []notified(nil), 0
		for now := int64(start); now < start+horizon*tick; now += tick {
			a := escalationplan.Next(r, start, done, s, now)
			done += len(a.Due)
			for _, v := range a.Due {
				if v.Tell {
					list = append(list, notified{v.Layer, v.Repeat, now})
				}
				if v.Tell && v.At != now {
					t.Fatalf("seed %d: %+v is notified at %d", seed, v, now)
				}
			}
			if a.Next == 0 {
				break
			}
		}
		if want := model(r, s, horizon); !reflect.DeepEqual(list, want) {
			t.Fatalf("seed %d: %+v %+v\n got %v\nwant %v", seed, r, s, list, want)
		}
	}
}

// TestNothingIsMissedBetweenAnswers: called only when Next asks for it, or on a change, all layers are notified in time.
func TestNothingIsMissedBetweenAnswers(t *testing.T) {
	for seed := range uint64(3000) {
		r, s := random(rand.New(rand.NewPCG(seed, 2)))
		news := []int64{s.Acknowledged, s.Resolved}
		for _, p := range s.Snoozes {
			news = append(news, p.From)
		}
		list, done := []notified(nil), 0
		for now := int64(start); now != 0; {
			a := escalationplan.Next(r, start, done, s, now)
			done += len(a.Due)
			for _, v := range a.Due {
				if v.Tell {
					list = append(list, notified{v.Layer, v.Repeat, now})
				}
			}
			if a.Next != 0 && a.Next <= now {
				t.Fatalf("seed %d: at %d the next moment is %d", seed, now, a.Next)
			}
			last := now
			now = a.Next
			for _, moment := range news {
				if last < moment && moment < now {
					now = moment
				}
			}
		}
		if want := model(r, s, horizon); !reflect.DeepEqual(list, want) {
			t.Fatalf("seed %d: %+v %+v\n got %v\nwant %v", seed, r, s, list, want)
		}
	}
}

// TestLateCallsForgetNoLayer: however late and rare the calls, a layer is notified at most once per call, every layer
// is notified, and all steps are accounted for.
func TestLateCallsForgetNoLayer(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		r, _ := random(rng)
		layers, done := map[int]bool{}, 0
		for now := start - rng.Int64N(500); ; now += rng.Int64N(2000) {
			a := escalationplan.Next(r, start, done, escalationplan.State{}, now)
			done += len(a.Due)
			at := map[int]bool{}
			for _, v := range a.Due {
				if v.Tell && at[v.Layer] {
					t.Fatalf("seed %d: layer %d is notified twice at %d", seed, v.Layer, now)
				}
				if v.Tell {
					at[v.Layer], layers[v.Layer] = true, true
				}
			}
			if a.Next == 0 {
				break
			}
		}
		if plan := escalationplan.Plan(r, start); len(layers) != len(r.Layers) || done != len(plan) {
			t.Fatalf("seed %d: %d of %d layers and %d of %d steps", seed, len(layers), len(r.Layers), done, len(plan))
		}
	}
}

// TestSkippedLayerHandsOver: a layer skipped at a step hands over at that moment, and all later steps keep their distance.
func TestSkippedLayerHandsOver(t *testing.T) {
	const seed = 20261121
	rng := rand.New(rand.NewPCG(seed, 3))
	for range 3000 {
		r, _ := random(rng)
		for _, step := range escalationplan.Plan(r, start) {
			skipped := escalationplan.Rule{Wait: r.Wait, Layers: slices.Clone(r.Layers)}
			done := skipped.Skip(step)
			rest := escalationplan.Plan(skipped, start)[done:]
			var want []escalationplan.Step // what followed the layer, earlier by as much as it is shortened
			for _, s := range escalationplan.Plan(r, start) {
				if s.Layer > step.Layer {
					s.At -= r.Layers[step.Layer].Window - int64(step.Repeat)*r.Layers[step.Layer].Every
					want = append(want, s)
				}
			}
			if !slices.Equal(rest, want) {
				t.Fatalf("seed %d: %+v, skipped at %+v, leaves\n%+v, want\n%+v", seed, r, step, rest, want)
			}
		}
	}
}

// modelRounds runs round after round without a plan: the next one starts Every after the last step of the one before,
// unless the incident was acknowledged or resolved by then.
func modelRounds(r escalationplan.Rule, s escalationplan.State, end int64) (list []notified) {
	for begin, round := int64(start), 0; ; round++ {
		shift := begin - start
		moved := escalationplan.State{}
		for _, m := range []struct{ from, to *int64 }{{&s.Acknowledged, &moved.Acknowledged}, {&s.Resolved, &moved.Resolved}} {
			if *m.from != 0 {
				*m.to = max(*m.from-shift, 1)
			}
		}
		if begin >= end || round > 0 && moved.Acknowledged != 0 && moved.Acknowledged <= start {
			return list
		}
		for _, one := range model(r, moved, horizon) {
			list = append(list, notified{one.layer, one.repeat, one.at + shift})
		}
		last := int64(0)
		for _, one := range model(r, escalationplan.State{}, horizon) {
			last = one.at + shift
		}
		over := s.Acknowledged != 0 && s.Acknowledged <= last || s.Resolved != 0 && s.Resolved <= last
		if last == 0 || over || r.Repeat.Times >= 0 && round >= r.Repeat.Times {
			return list
		}
		begin, r.Wait = last+r.Repeat.Every, 0
	}
}

// TestRoundsAgainstModel: the whole plan is done again as often as the rule has it, and no acknowledged incident begins
// another round.
func TestRoundsAgainstModel(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 8))
		r, s := random(rng)
		s.Snoozes = nil
		r.Repeat = escalationplan.Repeat{Times: rng.IntN(4) - 1, Every: tick * (1 + rng.Int64N(20))}
		const end = int64(start) + 4*horizon*tick
		original := r
		begin := int64(start)
		done := 0
		list := []notified(nil)
		for now := begin; now < end; now += tick {
			a := escalationplan.Next(r, begin, done, s, now)
			done += len(a.Due)
			for _, v := range a.Due {
				if v.Tell {
					list = append(list, notified{v.Layer, v.Repeat, now})
				}
			}
			if a.Next != 0 {
				continue
			}
			at := r.Again(now)
			if a.Why != escalationplan.Exhausted || len(r.Layers) == 0 || at == 0 {
				break
			}
			begin = at
			done = 0
			r.Round = r.Round + 1
			r.Wait = 0
		}
		want := slices.DeleteFunc(modelRounds(original, s, end), func(n notified) bool { return n.at >= end })
		if !slices.Equal(list, want) {
			t.Fatalf("seed %d: %+v %+v\n got %v\nwant %v", seed, original, s, list, want)
		}
	}
}
