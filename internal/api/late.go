package api

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/ratelimit"
)

// The bounds of refusals that are answered late.
var promptRefusals = ratelimit.Rate{PerMinute: 60} // of one caller; those beyond are late

const (
	lateBy        = time.Second
	latePerCaller = 256  // refusals that wait at a time
	lateInAll     = 2048 // likewise, of all callers
	lateCallers   = 10_000
)

// lateRefusals delays the refusals of clients that retry immediately. A delayed refusal costs no processor time, however many
// connections the client opens. When too many are delayed, the next is answered at once and its connection is closed.
type lateRefusals struct {
	prompt *ratelimit.Table[refusedCaller]
	mu     sync.Mutex
	all    int
	each   map[refusedCaller]int
}

// refusedCaller identifies who is refused: an account with one of its operations, or the network of a caller without one.
type refusedCaller struct {
	account int64
	op      *mounted // nil: a page
	caller  int64    // of a caller without the permission, who is counted alone; 0: the account
	network netip.Prefix
}

func newLateRefusals() *lateRefusals {
	return &lateRefusals{prompt: ratelimit.New[refusedCaller](lateCallers), each: map[refusedCaller]int{}}
}

// join counts a refusal. wait reports whether it waits until the caller calls leave; full reports that too many refusals are
// delayed already.
func (l *lateRefusals) join(of refusedCaller, now time.Time) (wait, full bool) {
	if l.prompt.Allow(of, promptRefusals, now).OK {
		return false, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.each[of] >= latePerCaller || l.all >= lateInAll {
		return false, true
	}
	l.each[of]++
	l.all++
	return true, false
}

func (l *lateRefusals) leave(of refusedCaller) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.each[of]--; l.each[of] == 0 {
		delete(l.each, of)
	}
}

// delay waits before a refusal is answered because of a limit, if the caller goes on asking. What waits does not count as
// work of the server, so the time is not measured.
func (f *Frame) delay(x *exchange, err error) {
	if fault.KindOf(err) != fault.TooFrequent {
		return
	}
	of := refusedCaller{account: x.call.Who.AccountID, op: x.op, caller: x.alone}
	if of.account == 0 {
		of = refusedCaller{network: x.network()}
	}
	began := time.Now()
	f.refuseLate(x.call.Ctx, x.w, of, x.call.Now)
	x.began = x.began.Add(time.Since(began))
}

// DelayRefusal waits before a page shows a stranger that there were too many attempts, as delay does.
func (f *Frame) DelayRefusal(w http.ResponseWriter, r *http.Request) {
	address, _ := netip.ParseAddr(f.ClientIP(r))
	f.refuseLate(r.Context(), w, refusedCaller{network: ratelimit.Network(address)}, f.Clock.Now())
}

func (f *Frame) refuseLate(ctx context.Context, w http.ResponseWriter, of refusedCaller, now time.Time) {
	wait, full := f.late.join(of, now)
	if full {
		w.Header().Set("Connection", "close")
	}
	if !wait {
		return
	}
	defer f.late.leave(of)
	over := time.NewTimer(f.LateBy)
	defer over.Stop()
	select {
	case <-over.C:
	case <-ctx.Done():
	case <-f.stopping.Done():
	}
}
