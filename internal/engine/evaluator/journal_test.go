package evaluator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/querier"
)

// memoryJournal keeps watches as a disk does.
type memoryJournal struct {
	mu     sync.Mutex
	kept   map[Key]Kept
	before map[Key]Kept // as it was at Hold
	full   bool
}

func (j *memoryJournal) Hold() { j.before = maps.Clone(j.kept) }

func (j *memoryJournal) Release(keep bool) {
	if !keep && j.before != nil {
		j.kept = j.before
	}
	j.before = nil
}

func (j *memoryJournal) Kept(key Key) (Kept, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	k, has := j.kept[key]
	return k, has
}

func (j *memoryJournal) Keep(k Kept, _ bool) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.full && len(k.Unsent) > 0 {
		return false
	}
	k.Unsent = slices.Clone(k.Unsent)
	j.kept[k.Key] = k
	return true
}

func (j *memoryJournal) Forget(key Key) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.kept, key)
}

// far is a center that can be cut off, and may lose replies.
type far struct {
	*center
	cut     bool
	lossy   int // of ten sends, the replies that are lost
	random  *rand.Rand
	started bool // since the restart the center was reached
	orders  Orders
	past    int
	wrong   []string
	reached func()      // when it is
	skewed  bool        // that showed a wrong clock
	moments []time.Time // that were sent
}

var errCut = errors.New("cut")

func (f *far) Sync(ctx context.Context, r Report) (Orders, error) {
	if f.cut && !f.started {
		f.started = true
		return f.orders, errCut
	}
	if f.cut {
		return Orders{}, errCut
	}
	f.started = true
	if f.reached != nil {
		f.reached()
		f.reached = nil
	}
	o, err := f.center.Sync(ctx, r)
	o.Wrong = f.skewed
	f.skewed = false
	f.center.mu.Lock()
	defer f.center.mu.Unlock()
	open := map[int64]uint64{}
	for _, i := range f.open {
		open[1] ^= DigestOf(Key{1, 1, 1}, i.Check, i.Key, i.Severity)
	}
	if d, has := r.Digests[1]; has && d != open[1] {
		o.Differ = append(o.Differ, 1)
	}
	f.orders = o
	return o, err
}

func (f *far) State(ctx context.Context, account int64, keys []Key) (map[Key]Saved, error) {
	if f.cut {
		return nil, errCut
	}
	return f.center.State(ctx, account, keys)
}

func (f *far) Save(ctx context.Context, account int64, states []Saved) error {
	if f.cut {
		return errCut
	}
	return f.center.Save(ctx, account, states)
}

func (f *far) Send(ctx context.Context, b Batch) (Taken, error) {
	if f.cut {
		return Taken{}, errCut
	}
	f.center.mu.Lock()
	f.past += len(b.Past)
	for _, t := range slices.Concat(b.Transitions, b.Past) {
		f.moments = append(f.moments, t.At, t.Since)
	}
	for _, t := range b.Transitions {
		if _, open := f.open[fmt.Sprint(b.Watch.Key, t.Key)]; open == (t.To == evaluate.Begin) {
			f.wrong = append(f.wrong, fmt.Sprint(t.At, t.To, t.Labels))
		}
	}
	lost := f.random != nil && f.random.IntN(10) < f.lossy
	f.center.mu.Unlock()
	taken, err := f.center.Send(ctx, b)
	if lost {
		err = errCut
	}
	return taken, err
}

// start makes the evaluator of the bench a process with a journal.
func (f *far) start(b *bench, j *memoryJournal) {
	j.Release(false) // of the process before
	f.started = false
	b.e = New(Config{
		Center: f, Clock: b.clock, Log: slog.New(slog.DiscardHandler), Wake: jobs.NewSignal(), Journal: j,
		Open: func(querier.Datasource) (querier.Querier, *evaluate.Failure) { return b.server, nil },
	})
}

func newFar(t *testing.T) (*bench, *far, *memoryJournal) {
	b := newBench(t, hot(t, 1, "cpu"))
	f, j := &far{center: b.center}, &memoryJournal{kept: map[Key]Kept{}}
	f.start(b, j)
	return b, f, j
}

func TestCutSendsWhatIsOpenAndKeepsRestAsHistory(t *testing.T) {
	t.Parallel()
	b, f, _ := newFar(t)
	b.values["old"] = 97
	b.pass(30 * time.Second)
	b.wantSent("begin old")
	f.cut = true
	b.values["short"], b.values["long"] = 97, 97
	b.pass(time.Minute)
	delete(b.values, "short")
	b.values["old"] = 1
	b.pass(time.Minute)
	b.wantSent()
	began := time.Time{}
	for _, i := range b.e.watches[Key{1, 1, 1}].core.Instances() {
		began = i.Since
	}
	f.cut = false
	b.pass(10 * time.Second)
	slices.Sort(b.sent)
	b.wantSent("begin long", "recovered old")
	if f.past != 2 {
		t.Errorf("%d transitions are history, want the begin and the end of short", f.past)
	}
	for _, i := range b.open {
		if !i.Since.Equal(began) || began.After(start.Add(time.Minute)) {
			t.Errorf("it began %v, stored %v", began, i.Since)
		}
	}
}

// The evaluations of 10,000 watches would be 45 MB.
func TestMemberKeepsNoEvaluations(t *testing.T) {
	t.Parallel()
	b, _, _ := newFar(t)
	b.pass(time.Minute)
	if look, here := b.e.Look(Key{1, 1, 1}); !here || len(look.Recent) > 0 || b.asked == 0 {
		t.Errorf("%d evaluations are kept of %d, which no one can see", len(look.Recent), b.asked)
	}
}

// A short report may pass where the rules of an edge do not: another edge must get the slots.
func TestMemberWithoutRulesReportsForLease(t *testing.T) {
	t.Parallel()
	b, f, _ := newFar(t)
	f.unread = true
	f.moved = map[int64]bool{}
	f.epoch++
	b.pass(2 * lease)
	n := len(f.reports)
	b.pass(time.Minute)
	if len(f.reports) != n || b.e.blind.IsZero() {
		t.Errorf("%d reports after %d, although the rules were not read for %s", len(f.reports), n, 2*lease)
	}
	f.unread = false
	b.pass(time.Minute)
	if len(f.reports) == n || !b.e.blind.IsZero() || b.asked == 0 {
		t.Errorf("%d reports after %d: it does not go on when it reads its rules", len(f.reports), n)
	}
}

func TestStartWithoutCenterGoesOn(t *testing.T) {
	t.Parallel()
	b, f, j := newFar(t)
	b.values["old"] = 97
	b.pass(30 * time.Second)
	b.wantSent("begin old")
	f.cut = true
	b.values["web1"] = 97
	b.pass(30 * time.Second)
	f.start(b, j)
	b.pass(30 * time.Second)
	b.values["old"] = 1
	b.pass(30 * time.Second)
	f.cut = false
	b.pass(20 * time.Second)
	slices.Sort(b.sent)
	b.wantSent("begin web1", "recovered old")
}

// A machine that starts with a wrong clock and without its center evaluates by its clock. The center's time must not make
// rules wait until it has passed what the clock had shown.
func TestClockThatIsSetBackDelaysNoEvaluation(t *testing.T) {
	t.Parallel()
	b, f, j := newFar(t)
	b.values["old"] = 97
	b.pass(30 * time.Second)
	b.wantSent("begin old")
	f.cut = true
	const off = time.Hour
	b.clock.Add(off)
	f.start(b, j)
	b.pass(30 * time.Second)
	f.cut, f.reached = false, func() { b.clock.Add(-off) }
	for f.reached != nil {
		b.step()
		b.clock.Add(time.Second)
	}
	b.values["old"] = 1
	b.pass(20 * time.Second)
	b.wantSent("recovered old")
}

// What was found by a clock that turns out to be wrong is not sent: its moments are untrue, by hours or by seconds, and those of a clock
// that is behind were evaluated before.
func TestWhatWrongClockFoundIsForgotten(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{time.Hour, -time.Hour, 10 * time.Second, -10 * time.Second} {
		for _, again := range []bool{false, true} { // the clock is set right while the center is away, and the process starts again
			b, f, j := newFar(t)
			b.values["old"] = 97
			b.pass(30 * time.Second)
			f.cut = true
			b.values["cut"] = 97
			b.pass(30 * time.Second)
			delete(b.values, "cut")
			b.pass(30 * time.Second)
			b.clock.Add(off)
			f.start(b, j)
			delete(b.values, "old")
			b.values["short"], b.values["long"] = 97, 97
			b.pass(30 * time.Second)
			delete(b.values, "short")
			b.pass(30 * time.Second)
			set := func() { b.clock.Add(-off) }
			if again {
				set()
				f.start(b, j)
				b.pass(30 * time.Second)
			} else {
				f.reached, f.skewed = set, true
			}
			f.cut = false
			f.moments = nil
			b.sent = nil
			b.pass(5 * time.Second)
			b.pass(30 * time.Second)
			slices.Sort(b.sent)
			b.wantSent("begin long", "gone old")
			if f.past != 2 {
				t.Errorf("%s: %d transitions are history, want the begin and the end of cut", off, f.past)
			}
			for _, at := range f.moments {
				if at.Before(start) || at.After(b.clock.Now()) {
					t.Errorf("%s: sent of %s", off, at)
				}
			}
		}
	}
}

// What is found before the clock was compared with the center's is sent when it was right.
func TestWhatRightClockFoundIsKept(t *testing.T) {
	t.Parallel()
	b, f, j := newFar(t)
	b.failed = &evaluate.Failure{Kind: evaluate.BadQuery, Message: "parse error"}
	b.pass(time.Second)
	f.cut = true
	f.start(b, j)
	b.pass(3 * time.Minute)
	b.failed = nil
	b.values["short"] = 97
	b.pass(30 * time.Second)
	delete(b.values, "short")
	b.pass(20 * time.Second)
	f.cut = false
	b.pass(20 * time.Second)
	if f.past != 2 {
		t.Errorf("%d transitions are history, want the begin and the end of short", f.past)
	}
	if k := j.kept[Key{1, 1, 1}]; j.before != nil || len(k.Unsent) > 0 {
		t.Errorf("the journal has %+v", k)
	}
	for n, r := range b.reports[1:] {
		if reported := len(r.Watches) > 0; reported != (n == 1) { // the first one compares the clocks
			t.Errorf("report %d: %v", n, r.Watches)
		}
	}
}

func TestFrozenProcessDoesNotSendWhatIsOver(t *testing.T) {
	t.Parallel()
	b, f, _ := newFar(t)
	b.values["web1"] = 97
	for b.asked == 0 {
		b.pass(time.Second)
	}
	b.hold = make(chan struct{})
	b.waitFor(func() bool {
		if _, err := b.e.run(t.Context(), b.clock.Now()); err != nil {
			t.Fatal(err)
		}
		b.clock.Add(time.Second)
		b.server.mu.Lock()
		defer b.server.mu.Unlock()
		return b.running > 0
	})
	b.clock.Add(10 * time.Minute) // the answer arrives, and the process stands still
	close(b.hold)
	b.e.running.Wait()
	b.wantSent()
	b.server.mu.Lock()
	b.hold = nil
	b.values["web1"] = 1
	b.server.mu.Unlock()
	b.pass(time.Minute)
	b.wantSent()
	if f.past == 0 {
		t.Error("what was over is not in the history")
	}
}

func TestOtherOpenInstancesAreReconciled(t *testing.T) {
	t.Parallel()
	b, _, _ := newFar(t)
	b.values["web1"] = 97
	b.pass(30 * time.Second)
	b.wantSent("begin web1")
	clear(b.open) // an older copy of the server was restored
	b.open["x"] = evaluate.Instance{Check: "threshold", Query: "A", Severity: "Critical", Labels: map[string]string{"host": "x"},
		Key: evaluate.Key(map[string]string{"host": "x"}), Since: start}
	b.open[fmt.Sprint(Key{1, 1, 1}, b.open["x"].Key)] = b.open["x"]
	delete(b.open, "x")
	b.pass(20 * time.Second)
	b.wantSent("begin web1")
	b.pass(30 * time.Second)
	b.wantSent("gone x")
}

// What changed is sent first. The history of a cut goes after each report at a pace, so that reports are not late.
func TestHistoryOfCutHasPace(t *testing.T) {
	t.Parallel()
	b, f, _ := newFar(t)
	b.center.mu.Lock()
	for id := uint64(2); id <= 12; id++ {
		b.center.all = append(b.center.all, hot(t, id, "cpu"))
	}
	b.center.mu.Unlock()
	b.pass(30 * time.Second)
	f.cut = true
	for host := range 400 {
		b.values[fmt.Sprint(host)] = 97
	}
	b.pass(30 * time.Second)
	clear(b.values)
	b.pass(40 * time.Second)
	b.values["web1"] = 97
	b.pass(30 * time.Second)
	f.cut = false
	last := 0
	for range 8 {
		b.pass(5 * time.Second)
		if n := f.past - last; n > mostHistory {
			t.Errorf("%d at a time", n)
		}
		if last == 0 && f.past > 0 && len(b.sent) != 12 {
			t.Errorf("with the first history %d changes are sent", len(b.sent))
		}
		last = f.past
	}
	if want := 12 * 800; f.past != want {
		t.Errorf("%d transitions of history, want %d", f.past, want)
	}
	if len(f.wrong) > 0 || len(b.open) != 12 {
		t.Errorf("%d are open; refused: %v", len(b.open), f.wrong)
	}
}

// A journal without room keeps no transitions. They are sent nevertheless.
func TestFullJournalHoldsUpNothing(t *testing.T) {
	t.Parallel()
	b, _, j := newFar(t)
	b.values["web1"] = 97
	j.full = true
	b.pass(20 * time.Second)
	b.wantSent("begin web1")
	b.values["web1"] = 1
	b.pass(10 * time.Second)
	b.wantSent("recovered web1")
}

// A center without a report for longer than a lease may have hidden what is unknown: it is reported again.
func TestUnknownIsReportedAgainAfterCut(t *testing.T) {
	t.Parallel()
	b, f, _ := newFar(t)
	b.failed = &evaluate.Failure{Kind: evaluate.BadQuery, Message: "parse error"}
	b.pass(3 * time.Minute)
	reported := func() (n int) {
		b.center.mu.Lock()
		defer b.center.mu.Unlock()
		for _, r := range b.reports {
			for _, w := range r.Watches {
				if w.Unknown {
					n++
				}
			}
		}
		return n
	}
	if n := reported(); n != 1 {
		t.Fatalf("reported %d times", n)
	}
	f.cut = true
	b.pass(time.Minute)
	f.cut = false
	b.pass(30 * time.Second)
	if n := reported(); n != 2 {
		t.Errorf("reported %d times after a cut", n)
	}
	b.clock.Add(3 * time.Minute) // the process stands still
	b.pass(30 * time.Second)
	if n := reported(); n != 3 {
		t.Errorf("reported %d times after a standstill", n)
	}
}

// TestFaultsEndAsIfThereWereNone: cuts, lost replies, restarts, older copies of the journal, a full one and standstills, in any
// order. Nothing begins twice, nothing ends that is not open, and at the end is open what is hot.
func TestFaultsEndAsIfThereWereNone(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		b, f, j := newFar(t)
		f.random = r
		older := map[Key]Kept{}
		for range 30 {
			switch r.IntN(9) {
			case 0, 1:
				f.cut = !f.cut
			case 2:
				f.lossy = r.IntN(6)
			case 3:
				f.start(b, j)
			case 4:
				for key, k := range j.kept {
					older[key] = k
				}
			case 5:
				j.Release(false)
				clear(j.kept)
				for key, k := range older {
					j.kept[key] = k
				}
				f.start(b, j)
			case 6:
				b.clock.Add(time.Duration(r.IntN(300)) * time.Second)
			case 7:
				j.full = !j.full
			}
			for host := range 3 {
				if r.IntN(3) == 0 {
					b.values[fmt.Sprint(host)] = float64(r.IntN(2) * 97)
				}
			}
			b.pass(time.Duration(1+r.IntN(25)) * time.Second)
		}
		f.cut = false
		f.lossy = 0
		j.full = false
		b.pass(55 * time.Second)
		hot := 0
		for host, v := range b.values {
			_, open := b.open[fmt.Sprint(Key{1, 1, 1}, evaluate.Key(map[string]string{"host": host}))]
			if open != (v > 90) {
				t.Errorf("seed %d: %s is %v, open %v", seed, host, v, open)
			}
			if v > 90 {
				hot++
			}
		}
		if len(b.open) != hot || len(f.wrong) > 0 {
			t.Fatalf("seed %d: %d are open, %d hot; refused: %v", seed, len(b.open), hot, f.wrong)
		}
	}
}
