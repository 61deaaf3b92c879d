package api

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/ratelimit"
)

// waitingCalls is how many calls may wait for their turn: of one account and operation, of one account, and of all. More
// are refused at once. Each holds a connection and a small body.
var waitingCalls = ratelimit.Bounds{PerKey: 100, PerOwner: 1024, InAll: 4096}

// spareWait is how much later than foreseen a call may have its turn.
const spareWait = time.Second

// within counts the call against the account's limit for this operation and sets the headers with what is left. It
// may wait for its turn.
func (f *Frame) within(x *exchange) error {
	rate := f.rate(x.op)
	if rate == (ratelimit.Rate{}) {
		return nil
	}
	arrived := x.call.Now
	v, err := f.turn(x, rateKey{account: x.call.Who.AccountID, op: x.op.number}, rate)
	if err == nil && v.OK && x.call.Now != arrived && !x.inside {
		x.call.Who, err = f.caller(x) // the key may have been revoked while the call waited
	}
	if err != nil {
		return x.clientGone(err)
	}
	if x.showLimit(v) {
		return nil
	}
	return fault.New(fault.TooFrequent, "at most %d calls in this window for this account and operation", v.Limit)
}

// withinAlone counts a call that is refused for want of a permission in windows of its caller alone: a key that may do
// nothing must not use up the rate of those that may. It returns the error of a caller that goes on asking.
func (f *Frame) withinAlone(x *exchange) error {
	rate, caller := f.rate(x.op), callerKey(x.call.Who)
	if rate == (ratelimit.Rate{}) {
		return nil
	}
	v := f.rates.Allow(rateKey{account: x.call.Who.AccountID, op: x.op.number, caller: caller}, rate, x.call.Now)
	if x.showLimit(v) {
		return nil
	}
	return fault.New(fault.TooFrequent, "at most %d refused calls in this window for this key and operation", v.Limit)
}

// showLimit sets the headers with what is left of a limit, and reports whether the call is within it.
func (x *exchange) showLimit(v ratelimit.Result) bool {
	h := x.w.Header()
	h["X-Ratelimit-Limit"] = []string{strconv.Itoa(v.Limit)}
	h["X-Ratelimit-Remaining"] = []string{strconv.Itoa(v.Remaining)}
	h["X-Ratelimit-Reset"] = []string{strconv.FormatInt(ceilSeconds(v.Reset), 10)}
	if !v.OK {
		x.retryAfter(v)
	}
	return v.OK
}

// turn asks the limit for a call, and sets its time if it has waited. A call whose key waits stands behind the others
// that wait for the same windows, if its turn comes in time. All others are refused: while calls wait, the windows are full.
func (f *Frame) turn(x *exchange, key rateKey, rate ratelimit.Rate) (ratelimit.Result, error) {
	wait, ahead := f.waitOf(x.call.Who), f.queue.Waiting(key)
	switch {
	case ahead == 0:
		if v := f.rates.Allow(key, rate, x.call.Now); v.OK || v.RetryAfter > wait {
			return v, nil
		}
	case wait == 0:
		return f.rates.Behind(ahead, key, rate, x.call.Now), nil
	}
	x.readAhead(f.bodyTime)
	place, ahead := f.queue.Join(key, key.account)
	now := f.Clock.Now()
	v := f.rates.Behind(ahead, key, rate, now)
	if place == nil {
		return v, nil
	}
	defer f.queue.Leave(key, place)
	if v.RetryAfter > wait-now.Sub(x.call.Now) {
		return v, nil
	}
	return f.wait(x, key, rate, place, v)
}

// waitOf returns how long a call waits for its turn: as its key has it, else as the server is set.
func (f *Frame) waitOf(who auth.Principal) time.Duration {
	if who.Wait != nil {
		return time.Duration(*who.Wait) * time.Second
	}
	return f.LimitWait
}

// wait waits until it is the turn of the place and the limit accepts the call. It ends early with the last result when the
// client is gone, and when the server stops. The turn was foreseen; the timeout is for a clock or a limit that changes.
func (f *Frame) wait(
	x *exchange, key rateKey, rate ratelimit.Rate, place *ratelimit.Place, last ratelimit.Result,
) (ratelimit.Result, error) {
	ctx, cancel := context.WithTimeout(x.call.Ctx, last.RetryAfter+spareWait)
	defer cancel()
	defer context.AfterFunc(f.stopping, cancel)()
	select {
	case <-place.Turn():
	case <-ctx.Done():
		return last, x.call.Ctx.Err()
	}
	for {
		now := f.Clock.Now()
		last = f.rates.Allow(key, rate, now)
		if last.OK {
			x.call.Now = now
			return last, nil
		}
		select {
		case <-time.After(last.RetryAfter):
		case <-ctx.Done():
			return last, x.call.Ctx.Err()
		}
	}
}

// StopWaiting refuses the calls that wait for their turn, and lets none wait any more. It is called when the server
// stops.
func (f *Frame) StopWaiting() { f.stop() }

// mostAhead is the largest body that is read before a call waits.
const mostAhead = 4 << 10

// readAhead reads a small body before the call waits, because only after the body does the server notice that the client
// is gone. A call with a larger body, or one of unknown length, keeps its place until its time is over.
func (x *exchange) readAhead(timeout time.Duration) {
	if x.r.ContentLength <= 0 || x.r.ContentLength > mostAhead {
		return
	}
	connection := http.NewResponseController(x.w)
	_ = connection.SetReadDeadline(time.Now().Add(timeout))
	start, err := io.ReadAll(x.r.Body)
	_ = connection.SetReadDeadline(time.Time{})
	rest := io.Reader(failedReader{err})
	if err == nil {
		rest = x.r.Body
	}
	x.r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(start), rest), x.r.Body}
}

// failedReader returns an error that reading ended with before.
type failedReader struct{ err error }

func (r failedReader) Read([]byte) (int, error) { return 0, r.err }
