package console

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"tocsin/internal/api"
	"tocsin/internal/platform/db"
	"tocsin/internal/session"
)

// The limits of streams.
const (
	maxStreams        = 1000 // of an account: each costs a connection and a little memory
	maxPersonStreams  = 20   // of a person, who may have several tabs on several devices
	pollEvery         = 500 * time.Millisecond
	eventEvery        = 300 * time.Millisecond // at most, of one stream
	heartbeatEvery    = 15 * time.Second
	streamWriteBudget = 30 * time.Second // a browser that does not read for so long is disconnected
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
	stop     chan struct{}
}

// watched is an account with streams.
type watched struct {
	mark    string
	marked  bool
	streams map[*stream]int64 // the person of each
}

// stream is one page that listens. changed has room for one value: changes that come before it is read are one.
type stream struct{ changed chan struct{} }

// NewLive returns a Live without streams.
func NewLive(look, state func(context.Context, int64) (string, error)) *Live {
	return &Live{Look: look, State: state, changes: map[int64]int{}, accounts: map[int64]*watched{}, stop: make(chan struct{})}
}

// Stop ends all streams, and refuses new ones. A second Stop does nothing.
func (l *Live) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.stopped {
		l.stopped = true
		close(l.stop)
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
		case s.changed <- struct{}{}:
		default: // it has not read the last one yet
		}
	}
}

// join adds a stream of a person; nil when there are too many, or the server stops.
func (l *Live) join(account, person int64) *stream {
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
	s := &stream{changed: make(chan struct{}, 1)}
	w.streams[s] = person
	l.accounts[account] = w
	if !l.running {
		l.running = true
		go l.poll()
	}
	return s
}

func (l *Live) leave(account int64, s *stream) {
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
		case <-l.stop:
			return
		case <-every.C:
		}
		accounts := l.watching()
		if len(accounts) == 0 {
			return
		}
		for _, account := range accounts {
			l.look(account)
		}
	}
}

// look reads the mark of an account, and notifies its streams when it differs from the last one.
func (l *Live) look(account int64) {
	ctx, cancel := context.WithTimeout(context.Background(), streamWriteBudget)
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

// live answers with server-sent events: changed, when something in the account has changed. It ends when the session
// does, which is checked before each event, so that a browser that has signed out receives nothing.
func (v *visit) live() error {
	s := v.Live.join(v.who.AccountID, v.who.PersonID)
	if s == nil {
		return &api.Refusal{Status: http.StatusTooManyRequests, Code: "RequestTooFrequently", Message: v.T("Too many pages are open.")}
	}
	defer v.Live.leave(v.who.AccountID, s)
	v.Live.look(v.who.AccountID) // the changes from here on are noticed
	h := v.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // proxies must not hold events back
	h.Set(gzhttp.HeaderNoCompression, "1")
	heartbeat := time.NewTicker(heartbeatEvery)
	defer heartbeat.Stop()
	text := "retry: 2000\n\n"
	if seen, err := v.Live.Seen(v.ctx, v.who.AccountID); err != nil || v.query("seen") != seen { // in between something happened
		text += "event: changed\ndata:\n\n"
	}
	for {
		if err := v.send(text); err != nil {
			return nil // the browser is gone
		}
		select { // changes that come in a storm are one event
		case <-v.ctx.Done():
			return nil
		case <-time.After(eventEvery):
		}
		select {
		case <-v.ctx.Done():
			return nil
		case <-v.Live.stop:
			return nil
		case <-s.changed:
			text = "event: changed\ndata:\n\n"
		case <-heartbeat.C:
			text = "event: alive\ndata:\n\n"
		}
		if signedIn, err := v.stillSignedIn(); err != nil || !signedIn {
			return nil
		}
	}
}

// send writes a part of a stream at once. The server's limit on the time of an answer does not suit one that goes on, so
// each part has a limit of its own.
func (v *visit) send(text string) error {
	control := http.NewResponseController(v.w)
	if err := control.SetWriteDeadline(time.Now().Add(streamWriteBudget)); err != nil {
		return err
	}
	if _, err := fmt.Fprint(v.w, text); err != nil {
		return err
	}
	return control.Flush()
}

// stillSignedIn reports whether the session goes on.
func (v *visit) stillSignedIn() (found bool, err error) {
	cookie, err := v.r.Cookie(v.cookieName(""))
	if err != nil {
		return false, err
	}
	err = v.DB.Snapshot(v.ctx, func(tx *db.Tx) (err error) {
		_, _, found, err = session.Find(tx, cookie.Value, v.Clock.Now())
		return err
	})
	return found, err
}
