package gate

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// ErrFull is returned when as many calls of a caller, or of all, wait as may.
var ErrFull = errors.New("too many calls wait for their turn")

// How many calls may wait at a Pace.
const (
	pacedPerCaller = 100
	pacedInAll     = 1000
)

// Caller is who takes turns: an account, or a network of callers whose account is not known.
type Caller struct {
	Account int64
	Network netip.Prefix
}

// Pace lets one call compute at a time and rests afterwards for three times as long, so that all of them together take no
// more than a quarter of one processor. Callers take turns: one who asks seldom waits for one call of each other, however many
// of theirs wait.
//
// A nil *Pace limits no one.
type Pace struct {
	meter *Meter // of accounts: what they compute here counts with their other work
	now   func() time.Time
	after func(time.Duration, func()) // runs a function later, on another goroutine

	mu      sync.Mutex
	busy    bool // or at rest
	waiting map[Caller][]chan struct{}
	order   []Caller // of callers that wait
	all     int      // that wait
}

// NewPace returns a pace that measures calls by a clock.
func NewPace(m *Meter, now func() time.Time) *Pace {
	return &Pace{meter: m, now: now, after: func(d time.Duration, do func()) { time.AfterFunc(d, do) }, waiting: map[Caller][]chan struct{}{}}
}

// Enter waits for the turn of a caller, who must call leave afterwards. It returns ErrFull at once when too many wait.
func (p *Pace) Enter(ctx context.Context, caller Caller) (leave func(), err error) {
	if p == nil {
		return func() {}, nil
	}
	p.mu.Lock()
	if !p.busy {
		p.busy = true
		p.mu.Unlock()
		return p.begin(caller), nil
	}
	if p.all >= pacedInAll || len(p.waiting[caller]) >= pacedPerCaller {
		p.mu.Unlock()
		return nil, ErrFull
	}
	turn := make(chan struct{})
	if len(p.waiting[caller]) == 0 {
		p.order = append(p.order, caller)
	}
	p.waiting[caller] = append(p.waiting[caller], turn)
	p.all++
	p.mu.Unlock()
	select {
	case <-turn:
	case <-ctx.Done():
		if p.forget(caller, turn) {
			return nil, ctx.Err()
		}
	}
	return p.begin(caller), nil
}

// Waiting returns how many calls wait for their turn.
func (p *Pace) Waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all
}

// begin returns the end of a turn that begins now.
func (p *Pace) begin(caller Caller) (leave func()) {
	began := p.now()
	return func() {
		ended := p.now()
		took := ended.Sub(began)
		if caller.Account != 0 {
			p.meter.Worked(caller.Account, took, ended) // no pause of its own: the others that wait would have it too
		}
		p.after(min(rests*took, longestPause), p.pass)
	}
}

// forget removes a call that waits no more. It returns false if the call has its turn already.
func (p *Pace) forget(caller Caller, turn chan struct{}) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := slices.Index(p.waiting[caller], turn)
	if n < 0 {
		return false
	}
	p.all--
	p.waiting[caller] = slices.Delete(p.waiting[caller], n, n+1)
	if len(p.waiting[caller]) == 0 {
		delete(p.waiting, caller)
		p.order = slices.DeleteFunc(p.order, func(one Caller) bool { return one == caller })
	}
	return true
}

// pass begins the turn of the next caller, who then comes after all others that wait.
func (p *Pace) pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.order) == 0 {
		p.busy = false
		return
	}
	caller := p.order[0]
	p.order = p.order[1:]
	all := p.waiting[caller]
	close(all[0])
	p.all--
	if len(all) == 1 {
		delete(p.waiting, caller)
		return
	}
	p.waiting[caller] = all[1:]
	p.order = append(p.order, caller)
}
