package api

import (
	"context"
	"math/rand/v2"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/ratelimit"
)

// arrival is one call of the model: when it comes, when its client leaves, and when it was accepted (0: it was not).
type arrival struct{ at, gone, accepted time.Duration }

// accept fills in when each call is accepted: the calls one after the other, each at the first moment at which both
// windows have room, unless it has waited too long by then or its client is gone.
func accept(calls []arrival, rate ratelimit.Rate, wait time.Duration) {
	var done []time.Duration
	room := func(at time.Duration) (free time.Duration) {
		for _, w := range []struct {
			most int
			span time.Duration
		}{{rate.PerSecond, time.Second}, {rate.PerMinute, time.Minute}} {
			if n := len(done) - w.most; n >= 0 {
				free = max(free, done[n]+w.span)
			}
		}
		return max(at, free)
	}
	for i := range calls {
		c := &calls[i]
		if at := room(c.at); at <= c.at+wait && (at < c.gone || at == c.at) {
			c.accepted = at
			done = append(done, at)
		}
	}
}

// TestWaitingReadsAgainstAModel: reads that wait are accepted in the order in which they came, as soon as the window has
// room and never sooner. A call that leaves takes no place of the window.
func TestWaitingReadsAgainstAModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			rate := ratelimit.Rate{PerSecond: 1 + r.IntN(5), PerMinute: 5 + r.IntN(40)}
			wait := time.Duration(1 + r.Int64N(int64(20*time.Second)))
			calls := make([]arrival, 80)
			at := time.Duration(0)
			for i := range calls {
				if r.IntN(3) == 0 {
					at += time.Duration(r.Int64N(int64(3 * time.Second)))
				}
				at++ // two calls never come at the same moment
				calls[i] = arrival{at: at, gone: at + time.Hour}
				if r.IntN(4) == 0 {
					calls[i].gone = at + 1 + time.Duration(r.Int64N(int64(wait)))
				}
			}
			want := append([]arrival{}, calls...)
			accept(want, rate, wait)
			f := waiting(wait)
			start := time.Now()
			for i := range calls {
				go func() {
					time.Sleep(calls[i].at)
					ctx, cancel := context.WithTimeout(t.Context(), calls[i].gone-calls[i].at)
					defer cancel()
					if v, err := f.turn(f.read(ctx), rateKey{account: 1, op: 1}, rate); err == nil && v.OK {
						calls[i].accepted = time.Since(start)
					}
				}()
			}
			time.Sleep(at + time.Hour)
			synctest.Wait()
			for i := range calls {
				if calls[i] != want[i] {
					t.Fatalf("seed %d, rate %+v, wait %s, call %d: %+v, want %+v", seed, rate, wait, i, calls[i], want[i])
				}
			}
			if f.queue.Waiting(rateKey{account: 1, op: 1}) {
				t.Error("a call still waits")
			}
		})
	}
}

// waiting returns a frame that has only what waiting needs.
func waiting(wait time.Duration) *Frame {
	f := &Frame{Config: Config{Clock: clock.System, LimitWait: wait}, rates: ratelimit.New[rateKey](0),
		queue: ratelimit.NewQueue[rateKey](waitingPerAccount, waitingInAll)}
	f.stopping, f.stop = context.WithCancel(context.Background())
	return f
}

// read returns a call of a read that comes now.
func (f *Frame) read(ctx context.Context) *exchange {
	return &exchange{op: &mounted{Op: Op{Effect: Read}}, r: httptest.NewRequest("POST", "/", nil), call: Call{Ctx: ctx, Now: time.Now()}}
}

// TestNoCallOvertakes: a call does not take a place of the window while another one has its turn, even if it asks first.
func TestNoCallOvertakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, key := waiting(10*time.Second), rateKey{account: 1, op: 1}
		earlier := f.queue.Join(key, 1) // its timer is late
		answers := make(chan ratelimit.Result, 1)
		go func() {
			v, _ := f.turn(f.read(t.Context()), key, ratelimit.Rate{PerSecond: 5})
			answers <- v
		}()
		synctest.Wait()
		if len(answers) > 0 {
			t.Errorf("it overtook: %+v", <-answers)
		}
		f.queue.Leave(key, earlier)
		if v := <-answers; !v.OK {
			t.Errorf("%+v", v)
		}
	})
}

// TestWaitingIsBounded: one account cannot take the places of the others, a write never waits, and no call waits in a
// server that stops.
func TestWaitingIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := waiting(10 * time.Second)
		rate := ratelimit.Rate{PerSecond: 1}
		begun := time.Now()
		refused := map[int64]int{}
		took := make(chan time.Duration, 3) // of the calls of another account
		results := make(chan int64, 3000)
		for range 1000 {
			go func() {
				if v, _ := f.turn(f.read(t.Context()), rateKey{account: 1, op: 1}, rate); !v.OK {
					results <- 1
				}
			}()
		}
		synctest.Wait()
		for len(results) > 0 {
			refused[<-results]++
		}
		if want := 1000 - waitingPerAccount - 1; refused[1] != want {
			t.Errorf("%d of 1000 calls were refused at once, want %d", refused[1], want)
		}
		write := f.read(t.Context())
		write.op.Effect = Write
		for _, want := range []bool{true, false} {
			if v, _ := f.turn(write, rateKey{account: 1, op: 2}, rate); v.OK != want || time.Since(begun) > 0 {
				t.Errorf("a write: %+v after %s", v, time.Since(begun))
			}
		}
		for range 3 {
			go func() {
				if v, _ := f.turn(f.read(t.Context()), rateKey{account: 2, op: 1}, rate); v.OK {
					took <- time.Since(begun)
				}
			}()
			synctest.Wait()
		}
		time.Sleep(3500 * time.Millisecond)
		f.StopWaiting()
		synctest.Wait()
		for want := range 3 {
			if len(took) == 0 {
				t.Fatalf("%d calls of another account were accepted, want 3", want)
			}
			if got := <-took; got != time.Duration(want)*time.Second {
				t.Errorf("call %d of another account took %s", want+1, got)
			}
		}
		if f.queue.Waiting(rateKey{account: 1, op: 1}) {
			t.Error("calls wait in a server that stops")
		}
		if v, _ := f.turn(f.read(t.Context()), rateKey{account: 1, op: 1}, rate); v.OK || time.Since(begun) != 3500*time.Millisecond || v.RetryAfter <= 0 {
			t.Errorf("a call to a server that stops: %+v", v)
		}
	})
}
