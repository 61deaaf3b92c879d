package api

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"strconv"
	"time"

	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/ratelimit"
)

// How many calls may wait for their turn: of one account, and of all. More are refused at once. Each holds a connection
// and a small body.
const (
	waitingPerAccount = 256
	waitingInAll      = 4096
)

// within counts the call against the account's limit for this operation and sets the headers with what is left. A read
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
	x.alone = caller
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

// turn asks the limit for a call, and sets its time if it has waited. Without LimitWait, and for a write, the first answer
// holds: a write must not be done long after it was sent. A read that is refused waits behind the others of its key.
func (f *Frame) turn(x *exchange, key rateKey, rate ratelimit.Rate) (ratelimit.Result, error) {
	if f.LimitWait <= 0 || x.op.Effect == Write {
		return f.rates.Allow(key, rate, x.call.Now), nil
	}
	var v ratelimit.Result
	if !f.queue.Waiting(key) {
		if v = f.rates.Allow(key, rate, x.call.Now); v.OK || v.RetryAfter > f.LimitWait {
			return v, nil
		}
	}
	x.readAhead(f.bodyTime)
	return f.wait(x, key, rate, v)
}

// wait waits in the queue until the limit accepts the call. It ends early when it cannot be accepted in time, when the
// client is gone, and when the server stops. last is the result of the limit so far, if there is one.
func (f *Frame) wait(x *exchange, key rateKey, rate ratelimit.Rate, last ratelimit.Result) (ratelimit.Result, error) {
	if last == (ratelimit.Result{}) { // refused because others wait already
		last = ratelimit.Result{Limit: cmp.Or(rate.PerSecond, rate.PerMinute), Reset: x.call.Now.Add(f.LimitWait), RetryAfter: f.LimitWait}
	}
	place := f.queue.Join(key, key.account)
	if place == nil {
		return last, nil
	}
	defer f.queue.Leave(key, place)
	end := time.Now().Add(f.LimitWait)
	over := time.NewTimer(f.LimitWait)
	defer over.Stop()
	next := time.NewTimer(f.LimitWait)
	defer next.Stop()
	turn := place.Turn()
	for {
		select {
		case <-turn:
			turn = nil
		case <-next.C:
		case <-over.C:
			return last, nil
		case <-f.stopping.Done():
			return last, nil
		case <-x.call.Ctx.Done():
			return last, x.call.Ctx.Err()
		}
		if turn != nil {
			continue // not the first yet
		}
		now := f.Clock.Now()
		if last = f.rates.Allow(key, rate, now); last.OK {
			x.call.Now = now
			return last, nil
		}
		if last.RetryAfter > time.Until(end) {
			return last, nil
		}
		next.Reset(last.RetryAfter)
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
