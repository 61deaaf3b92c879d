// Package live notifies open pages of changes in their account, so that they read themselves again. It must never know what a page
// shows: a change is that something is another than before.
package live

import (
	"context"
	"strconv"
	"sync"
	"time"
)

// The limits of streams.
const (
	maxStreams       = 1000 // of an account: each costs a connection and a little memory
	maxPersonStreams = 20   // of a person, who may have several tabs on several devices
	pollEvery        = 500 * time.Millisecond
	lookBudget       = 30 * time.Second // a database that does not answer for so long is asked again later
)

// Live notifies open pages of changes in their account, so that they read themselves again. What was
// committed in this process is known at once by Changed; the database is asked for the rest, by one goroutine for all
// streams, and only while there are any.
type Live struct {
	// Look returns a mark that differs when something in the account has changed, whichever process changed it. State is the
	// part of it that costs little to read.
	Look, State func(ctx context.Context, account int64) (string, error)

	mu       sync.Mutex
	changes  map[int64]int // how often Changed was called for an account
	accounts map[int64]*watched
	running  bool
	stopped  bool
	Ended    chan struct{}
}

// watched is an account with streams.
type watched struct {
	mark    string
	marked  bool
	streams map[*stream]int64 // the person of each
}

// stream is one page that listens. changed has room for one value: changes that come before it is read are one.
type stream struct{ Changed chan struct{} }

// New returns a Live without streams.
func New(look, state func(context.Context, int64) (string, error)) *Live {
	return &Live{Look: look, State: state, changes: map[int64]int{}, accounts: map[int64]*watched{}, Ended: make(chan struct{})}
}

// Stop ends all streams, and refuses new ones. A second Stop does nothing.
func (l *Live) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.stopped {
		l.stopped = true
		close(l.Ended)
	}
}

// Changed notifies the pages of an account of a change.
func (l *Live) Changed(account int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes[account]++
	if w := l.accounts[account]; w != nil {
		w.notify()
	}
}

// Seen returns what a page has seen of an account that is drawn after it. If it differs when the page's stream begins, the
// page is old already.
func (l *Live) Seen(ctx context.Context, account int64) (string, error) {
	l.mu.Lock()
	changes := l.changes[account]
	l.mu.Unlock()
	state, err := l.State(ctx, account)
	return strconv.Itoa(changes) + " " + state, err
}

func (w *watched) notify() {
	for s := range w.streams {
		select {
		case s.Changed <- struct{}{}:
		default: // it has not read the last one yet
		}
	}
}

// Join adds a stream of a person; nil when there are too many, or the server stops.
func (l *Live) Join(account, person int64) *stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.accounts[account]
	if w == nil {
		w = &watched{streams: map[*stream]int64{}}
	}
	own := 0
	for _, of := range w.streams {
		if of == person {
			own++
		}
	}
	if l.stopped || own >= maxPersonStreams || len(w.streams) >= maxStreams {
		return nil
	}
	s := &stream{Changed: make(chan struct{}, 1)}
	w.streams[s] = person
	l.accounts[account] = w
	if !l.running {
		l.running = true
		go l.poll()
	}
	return s
}

// Leave removes a stream that Join has returned.
func (l *Live) Leave(account int64, s *stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.accounts[account]; w != nil {
		if delete(w.streams, s); len(w.streams) == 0 {
			delete(l.accounts, account)
		}
	}
}

// poll looks for changes until there are no more streams.
func (l *Live) poll() {
	every := time.NewTicker(pollEvery)
	defer every.Stop()
	for {
		select {
		case <-l.Ended:
			return
		case <-every.C:
		}
		accounts := l.watching()
		if len(accounts) == 0 {
			return
		}
		for _, account := range accounts {
			l.Check(account)
		}
	}
}

// Check reads the mark of an account, and notifies its streams when it differs from the last one.
func (l *Live) Check(account int64) {
	ctx, cancel := context.WithTimeout(context.Background(), lookBudget)
	defer cancel()
	if mark, err := l.Look(ctx, account); err == nil { // else the database is away: the next look may find it
		l.compare(account, mark)
	}
}

// watching returns the accounts with streams. When there are none, the polling counts as ended.
func (l *Live) watching() (accounts []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for account := range l.accounts {
		accounts = append(accounts, account)
	}
	l.running = len(accounts) > 0
	return accounts
}

// compare notifies the streams of an account when its mark differs from the last one.
func (l *Live) compare(account int64, mark string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.accounts[account]
	if w == nil {
		return
	}
	if w.marked && w.mark != mark {
		w.notify()
	}
	w.mark, w.marked = mark, true
}
