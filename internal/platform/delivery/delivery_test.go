package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/delivery"
)

func run(t *testing.T, r *runner, now time.Time) time.Time {
	t.Helper()
	again, err := r.Job().Run(context.Background(), now)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// A queue has four slots, all queues together sixteen. A queue without an attempt in progress may start one beyond
// them, up to forty.
func TestSlots(t *testing.T) {
	t.Parallel()
	d, c := open(t), clock.At(start)
	release, begun := make(chan struct{}), make(chan string, 1000)
	r := newRunner(d, c, &store{attempt: func(_ context.Context, p *parcel) error { begun <- p.queue; <-release; return nil }}, time.Minute)
	id := 0
	fill := func(queue string, n int) {
		for range n {
			put(t, d, id, queue)
			id++
		}
	}
	want := func(what string, n int) {
		t.Helper()
		run(t, r, c.Now())
		for range n {
			<-begun
		}
		if now := count(t, d, `SELECT count(*) FROM parcel WHERE attempts > 0`); len(begun) > 0 || now != count(t, d, `SELECT sum(attempts) FROM parcel`) {
			t.Errorf("%s: more than %d began", what, n)
		}
	}
	fill("a", 10)
	want("four of a queue", 4)
	want("no more of it", 0)
	for n := range 2 {
		fill(fmt.Sprint("b", n), 10)
	}
	want("four of each of two more queues", 8)
	fill("c", 3)
	want("all three of a fourth queue", 3)
	for n := range 30 {
		fill(fmt.Sprint("d", n), 2)
	}
	want("the last slot, then one of each queue up to forty", 25)
	want("no slot is left", 0)
	close(release)
	r.Wait()
	for count(t, d, `SELECT count(*) FROM parcel WHERE settled = ''`) > 0 {
		run(t, r, c.Now())
		r.Wait()
	}
}

// freeing is a store whose targets may be called again before the result of an attempt is recorded, unless the attempt failed.
type freeing struct{ *store }

func (freeing) Frees(struct{}) bool { return true }

// TestSlotsOfSuccessesAreFreeBeforeTheirRecord: the rows of a target that takes them are claimed while results are recorded, and
// those of a target that fails are not.
func TestSlotsOfSuccessesAreFreeBeforeTheirRecord(t *testing.T) {
	t.Parallel()
	for _, failure := range []error{nil, errors.New("refused")} {
		d, c := open(t), clock.At(start)
		for n := range 3 * perQueue {
			put(t, d, n, "a")
		}
		var r *runner
		var during sync.Once
		var attempted sync.WaitGroup
		attempted.Add(perQueue - 1)
		var begun atomic.Int64
		claimed, recording := make(chan struct{}), make(chan struct{})
		s := &store{attempt: func(context.Context, *parcel) error {
			if n := begun.Add(1); n > 1 && n <= perQueue {
				<-recording
				attempted.Done()
			}
			<-claimed
			return failure
		}}
		s.record = func(tx *db.Tx, of delivery.Result[*parcel, struct{}]) error {
			during.Do(func() { // claims while the first result is recorded
				close(recording)
				attempted.Wait()
				looked := make(chan struct{})
				go func() {
					for n := 0; n < 100 && !tx.Awaited(); n++ { // the last attempts may not have given back their slots yet
						run(t, r, c.Now())
					}
					close(looked)
				}()
				for !tx.Awaited() && !closed(looked) {
					runtime.Gosched()
				}
			})
			return settled(tx, of.Row, "ended")
		}
		r = newRunnerOf(d, c, s, freeing{s}, time.Minute)
		run(t, r, c.Now())
		close(claimed)
		r.Wait()
		if n := count(t, d, `SELECT count(*) FROM parcel WHERE attempts > 0`); (n > perQueue) != (failure == nil) {
			t.Errorf("failure %v: %d rows were claimed while the first result was recorded", failure, n)
		}
	}
}

func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// Results that arrive while the writer is busy are recorded in one transaction.
func TestResultsShareTransaction(t *testing.T) {
	t.Parallel()
	d, c := open(t), clock.At(start)
	var ending sync.WaitGroup
	ending.Add(16)
	s := &store{attempt: func(context.Context, *parcel) error { ending.Done(); return nil }}
	r := newRunner(d, c, s, time.Minute)
	for n := range 16 {
		put(t, d, n, fmt.Sprint(n%4))
	}
	held, free := make(chan struct{}), make(chan struct{})
	claimed := make(chan struct{})
	s.attempt = func(context.Context, *parcel) error { <-claimed; ending.Done(); return nil }
	run(t, r, c.Now())
	go d.Write(context.Background(), func(*db.Tx) error { close(held); <-free; return nil })
	<-held
	close(claimed)
	ending.Wait()
	close(free)
	r.Wait()
	total := 0
	for _, n := range s.batches {
		total += n
	}
	if total != 16 || len(s.batches) > 4 {
		t.Errorf("16 results were recorded as %v", s.batches)
	}
}

// A result that cannot be recorded does not affect the others of its batch. Its row is attempted again when its lease
// has expired.
func TestCorruptRowBlocksNoOther(t *testing.T) {
	t.Parallel()
	d, c := open(t), clock.At(start)
	s := &store{attempt: func(context.Context, *parcel) error { return nil }}
	broken := true
	s.record = func(tx *db.Tx, r delivery.Result[*parcel, struct{}]) error {
		if r.Row.id == 7 && broken {
			return errors.New("corrupt")
		}
		if r.Row.id == 8 && broken {
			panic("at the disco")
		}
		return settled(tx, r.Row, "delivered")
	}
	r := newRunner(d, c, s, time.Minute)
	for n := range 16 {
		put(t, d, n, fmt.Sprint(n%4))
	}
	run(t, r, c.Now())
	r.Wait()
	if n := count(t, d, `SELECT count(*) FROM parcel WHERE settled <> ''`); n != 14 {
		t.Errorf("%d of 14 were recorded", n)
	}
	broken = false
	if again := run(t, r, c.Now()); !again.Equal(start.Add(leased)) {
		t.Errorf("the next run is at %v", again)
	}
	c.Add(leased)
	run(t, r, c.Now())
	r.Wait()
	if n := count(t, d, `SELECT count(*) FROM parcel WHERE settled = '' OR attempts <> CASE WHEN id IN (7, 8) THEN 2 ELSE 1 END`); n != 0 {
		t.Errorf("%d were not recorded, or attempted too often", n)
	}
}

// A queue whose rows cannot be claimed blocks no other.
func TestQueueThatCannotBeClaimedBlocksNoOther(t *testing.T) {
	t.Parallel()
	d, c := open(t), clock.At(start)
	s := &store{attempt: func(context.Context, *parcel) error { return nil }}
	r := newRunner(d, c, s, time.Minute)
	put(t, d, 1, "bad")
	put(t, d, 2, "good")
	if err := d.Write(t.Context(), dbtest.Trigger{Name: "broken", At: "BEFORE UPDATE ON parcel", When: "OLD.queue = 'bad'"}.Make); err != nil {
		t.Fatal(err)
	}
	run(t, r, c.Now())
	r.Wait()
	if n := count(t, d, `SELECT id FROM parcel WHERE settled <> ''`); n != 2 {
		t.Errorf("%d was delivered", n)
	}
}

// Wait cancels attempts that still run after the grace. They are not recorded: the next process makes them again.
func TestWaitEndsWithinGrace(t *testing.T) {
	t.Parallel()
	d, c := open(t), clock.At(start)
	var stubborn atomic.Bool
	released := make(chan struct{})
	s := &store{attempt: func(ctx context.Context, _ *parcel) error {
		<-ctx.Done()
		if stubborn.Load() {
			<-released
		}
		return ctx.Err()
	}}
	r := newRunner(d, c, s, time.Millisecond)
	put(t, d, 1, "a")
	run(t, r, c.Now())
	r.Wait()
	if n := count(t, d, `SELECT count(*) FROM parcel WHERE settled = '' AND attempts = 1 AND due_at = `+fmt.Sprint(start.Add(leased).UnixMilli())); n != 1 || !slices.Equal(s.batches, nil) {
		t.Errorf("a cancelled attempt was recorded: %v", s.batches)
	}
	stubborn.Store(true)
	c.Add(leased)
	run(t, r, c.Now())
	r.Wait() // returns although the attempt does not end
	close(released)
	r.Wait()
}

// An attempt that panics has failed. Its error does not reveal the panic's value, which is in the log only.
func TestAttemptThatPanicsHasFailed(t *testing.T) {
	t.Parallel()
	d, c := open(t), clock.At(start)
	s := &store{attempt: func(context.Context, *parcel) error { panic("at the disco") }}
	var got error
	s.record = func(tx *db.Tx, r delivery.Result[*parcel, struct{}]) error {
		got = r.Err
		return settled(tx, r.Row, "given up")
	}
	r := newRunner(d, c, s, time.Minute)
	put(t, d, 1, "a")
	run(t, r, c.Now())
	r.Wait()
	var p *delivery.Panic
	if !errors.As(got, &p) || got.Error() != "the attempt failed; the server's log says why" {
		t.Error(got)
	}
}
