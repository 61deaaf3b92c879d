package api

import (
	"context"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/ratelimit"
)

// arrival is one call of the model: when it comes, when its client leaves, and when it was accepted (0: it was not).
type arrival struct{ at, gone, accepted time.Duration }

// model accepts the calls that wait one after the other, each at the first moment at which both windows have room.
type model struct {
	rate    ratelimit.Rate
	done    []time.Duration
	waiting []*arrival
}

// free returns when the windows have room behind so many accepted calls, at the earliest at a moment.
func (m *model) free(done []time.Duration, at time.Duration) time.Duration {
	for _, w := range []struct {
		most int
		span time.Duration
	}{{m.rate.PerSecond, time.Second}, {m.rate.PerMinute, time.Minute}} {
		if n := len(done) - w.most; n >= 0 {
			at = max(at, done[n]+w.span)
		}
	}
	return at
}

// advance accepts what has its turn until a moment, and removes the calls whose clients have left by then.
func (m *model) advance(to time.Duration) {
	for len(m.waiting) > 0 {
		first := m.waiting[0]
		at := m.free(m.done, first.at)
		if at <= to && at < first.gone {
			first.accepted = at
			m.done = append(m.done, at)
		} else if first.gone > to {
			break
		}
		m.waiting = m.waiting[1:]
	}
	m.waiting = slices.DeleteFunc(m.waiting, func(c *arrival) bool { return c.gone <= to })
}

// accept fills in when each call is accepted. A call whose turn, behind the waiting calls, would come too late is refused.
func accept(calls []arrival, rate ratelimit.Rate, wait time.Duration) {
	m := model{rate: rate}
	for i := range calls {
		c := &calls[i]
		m.advance(c.at)
		foreseen := slices.Clone(m.done)
		for range m.waiting {
			foreseen = append(foreseen, m.free(foreseen, c.at))
		}
		if m.free(foreseen, c.at) <= c.at+wait {
			m.waiting = append(m.waiting, c)
			m.advance(c.at)
		}
	}
	m.advance(1 << 62)
}

// TestWaitingCallsAgainstModel: reads and writes that wait are accepted in the order in which they came, as soon as the window has
// room and never sooner. A call that leaves takes no place of the window.
func TestWaitingCallsAgainstModel(t *testing.T) {
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
					if v, err := f.turn(call(ctx, []Effect{Read, Write}[i%2], nil), rateKey{account: 1, op: 1}, rate); err == nil && v.OK {
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
			if f.queue.Waiting(rateKey{account: 1, op: 1}) > 0 {
				t.Error("a call still waits")
			}
		})
	}
}

// waiting returns a frame that has only what waiting needs.
func waiting(wait time.Duration) *Frame {
	f := &Frame{Config: Config{Clock: clock.System, LimitWait: wait}, rates: ratelimit.New[rateKey](0),
		queue: ratelimit.NewQueue[rateKey](waitingCalls)}
	f.stopping, f.stop = context.WithCancel(context.Background())
	return f
}

// call returns a call that comes now, of a key that waits so many seconds; nil: of one without a wait.
func call(ctx context.Context, effect Effect, wait *int64) *exchange {
	return &exchange{op: &mounted{Op: Op{Effect: effect}}, r: httptest.NewRequest("POST", "/", nil),
		call: Call{Ctx: ctx, Now: time.Now(), Who: auth.Principal{Wait: wait}}}
}

// TestNoCallOvertakes: a call does not take a place of the window while another one has its turn, even if it asks first.
// A call that does not wait is refused then.
func TestNoCallOvertakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, key := waiting(10*time.Second), rateKey{account: 1, op: 1}
		earlier, _ := f.queue.Join(key, 1) // its timer is late
		answers := make(chan ratelimit.Result, 1)
		go func() {
			v, _ := f.turn(call(t.Context(), Read, nil), key, ratelimit.Rate{PerSecond: 5})
			answers <- v
		}()
		synctest.Wait()
		if len(answers) > 0 {
			t.Errorf("it overtook: %+v", <-answers)
		}
		if v, _ := f.turn(call(t.Context(), Read, new(int64)), key, ratelimit.Rate{PerSecond: 5}); v.OK || v.Limit != 5 {
			t.Errorf("a call of a key that does not wait: %+v", v)
		}
		f.queue.Leave(key, earlier)
		if v := <-answers; !v.OK {
			t.Errorf("%+v", v)
		}
	})
}

// TestOneKeyWaitsAndOtherIsRefused: of two keys of an account, the calls of the one for scripts wait up to its time, and
// calls of the other key are refused when the contract has it, whatever the server's default is.
func TestOneKeyWaitsAndOtherIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, key := waiting(0), rateKey{account: 1, op: 1}
		rate := ratelimit.Rate{PerSecond: 2}
		script, began := int64(3), time.Now()
		passed := make(chan time.Duration, 20)
		for i := range 20 {
			go func() {
				v, _ := f.turn(call(t.Context(), []Effect{Read, Write}[i%2], &script), key, rate)
				if v.OK {
					passed <- time.Since(began)
				} else if time.Since(began) > 0 || v.RetryAfter <= 3*time.Second {
					t.Errorf("a call was refused after %s: %+v", time.Since(began), v)
				}
			}()
			synctest.Wait()
		}
		if n := f.queue.Waiting(key); n != 6 {
			t.Errorf("%d calls wait, want 6: two in each of three seconds", n)
		}
		for range 6 { // while calls wait, and after
			if v, _ := f.turn(call(t.Context(), Read, nil), key, rate); v.OK != (time.Since(began) > 4*time.Second) || !v.OK && v.RetryAfter <= 0 {
				t.Errorf("an ordinary call after %s: %+v", time.Since(began), v)
			}
			time.Sleep(900 * time.Millisecond)
		}
		for i := range 8 {
			if got, want := <-passed, time.Duration(i/2)*time.Second; got != want {
				t.Errorf("call %d passed after %s, want %s", i, got, want)
			}
		}
	})
}

// TestWaitingIsBounded: at most 100 calls of one account and operation wait, and no account takes the places of the others.
// A client that leaves frees its place, and no call waits in a server that stops.
func TestWaitingIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, rate := waiting(30*time.Second), ratelimit.Rate{PerSecond: 4}
		began := time.Now()
		var refused, passed atomic.Int64
		ask := func(ctx context.Context, account int64, op int32) {
			go func() {
				if v, err := f.turn(call(ctx, Write, nil), rateKey{account: account, op: op}, rate); err == nil && !v.OK {
					refused.Add(1)
				} else if err == nil {
					passed.Add(1)
				}
			}()
		}
		client, leave := context.WithCancel(t.Context())
		for range 10 {
			ask(client, 1, 1)
		}
		for range 190 {
			ask(t.Context(), 1, 1)
		}
		synctest.Wait()
		if n := refused.Load(); n != 200-4-100 || f.queue.Waiting(rateKey{account: 1, op: 1}) != 100 {
			t.Errorf("%d calls of 200 were refused immediately", n)
		}
		leave()
		synctest.Wait()
		for range 20 {
			ask(t.Context(), 1, 1)
		}
		synctest.Wait()
		if n := f.queue.Waiting(rateKey{account: 1, op: 1}); n != 100 {
			t.Errorf("%d calls wait after some left and more came", n)
		}
		for op := range int32(40) { // of one account, then of another
			for range 104 {
				ask(t.Context(), 1, 2+op)
			}
		}
		synctest.Wait()
		if n := f.queue.Places(); n != waitingCalls.PerOwner {
			t.Errorf("%d calls of one account wait", n)
		}
		before := passed.Load()
		for range 8 {
			ask(t.Context(), 2, 1)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := f.queue.Waiting(rateKey{account: 2, op: 1}); n != 0 || passed.Load() < before+8 {
			t.Errorf("%d calls of another account wait after a second", n)
		}
		f.StopWaiting()
		synctest.Wait()
		if f.queue.Places() > 0 || time.Since(began) != time.Second {
			t.Errorf("%d calls wait in a server that stops", f.queue.Places())
		}
		if v, _ := f.turn(call(t.Context(), Read, nil), rateKey{account: 1, op: 1}, rate); v.OK || v.RetryAfter <= 0 {
			t.Errorf("a call to a server that stops: %+v", v)
		}
	})
}
