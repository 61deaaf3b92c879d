package failover

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

// load is what clients send for as long as a test lasts: events, reads and changes.
type load struct {
	p       *program
	quit    chan struct{}
	clients sync.WaitGroup

	mu       sync.Mutex
	events   map[string]string // that were accepted: the key of the alert, by event
	channels []string          // that were created
	refused  int               // answers that the service is not available
	wrong    []string          // answers that should not be
	slowest  time.Duration
	slow     string    // what took that long
	accepted time.Time // the last event
	longest  time.Duration
	when     map[string]time.Time // an event was accepted
}

// bound is how long a request may take while the database fails: it may wait for a connection, for a statement, and for an
// attempt to connect or for a lock. Together these are 10 to 15 seconds; the rest is for a busy machine.
const bound = 40 * time.Second

func (p *program) load() *load {
	l := &load{p: p, quit: make(chan struct{}), events: map[string]string{}, when: map[string]time.Time{}}
	each := func(do func(n int) reply) {
		l.clients.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-l.quit:
					return
				case <-time.After(p.pause):
					l.judge(do(n))
				}
			}
		})
	}
	for c := range 6 {
		each(func(n int) reply {
			key := fmt.Sprintf("k%d-%d", c, n)
			r, event := p.push(key)
			if event != "" {
				l.accept(event, key)
			}
			return r
		})
	}
	for range 2 {
		each(func(int) reply { return p.list() })
	}
	each(func(n int) reply {
		name := fmt.Sprintf("channel %d", n)
		r := p.create(name)
		if r.status == http.StatusOK {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.channels = append(l.channels, name)
		}
		return r
	})
	return l
}

func (l *load) accept(event, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events[event] = key
	if !l.accepted.IsZero() {
		l.longest = max(l.longest, time.Since(l.accepted))
	}
	l.accepted = time.Now()
	l.when[event] = l.accepted
}

// judge accepts two answers: it was done, or the service is not available and when to try again is in the answer.
func (l *load) judge(r reply) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.took > l.slowest {
		l.slowest, l.slow = r.took, r.path
	}
	switch {
	case r.status == http.StatusServiceUnavailable && r.retry != "":
		l.refused++
	case r.status != http.StatusOK:
		l.wrong = append(l.wrong, fmt.Sprint(r.status, " ", r.retry, " ", string(r.body)))
	}
}

func (l *load) refusals() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}

// end stops the clients and checks what they were answered: it was right and in time, and all that was acknowledged is
// there, decided once, and delivered.
func (l *load) end() {
	t := l.p.t
	t.Helper()
	l.stop()
	const decided = `SELECT count(*) FROM event e JOIN verdict v ON v.account_id = e.account_id AND v.event_id = e.event_id
		WHERE e.account_id = 1 AND e.event_id = $1`
	missing := l.left(func(event, _ string) bool { return l.p.count(decided, event) == 1 })
	untold := l.left(func(_, key string) bool {
		l.p.mu.Lock()
		defer l.p.mu.Unlock()
		return l.p.told[key]
	})
	absent := 0
	for _, name := range l.channels {
		if l.p.count(`SELECT count(*) FROM channel WHERE account_id = 1 AND channel_name = $1`, name) != 1 {
			absent++
		}
	}
	if missing+untold+absent > 0 || len(l.events) < 50 || len(l.channels) < 5 {
		t.Errorf("of %d events that were acknowledged %d are not there or have not one verdict and %d were not delivered; "+
			"of %d channels %d are not there", len(l.events), missing, untold, len(l.channels), absent)
	}
	t.Logf("%d events and %d channels acknowledged, %d requests refused, the slowest answer after %s, no event accepted for %s",
		len(l.events), len(l.channels), l.refused, l.slowest.Round(time.Millisecond), l.longest.Round(time.Millisecond))
}

// stop stops the clients and checks that every answer was right and in time.
func (l *load) stop() {
	t := l.p.t
	t.Helper()
	close(l.quit)
	l.clients.Wait()
	if len(l.wrong) > 0 {
		t.Errorf("%d answers are neither 200 nor 503 with Retry-After, such as %s", len(l.wrong), l.wrong[0])
	}
	if l.slowest > bound {
		t.Errorf("%s took %s, more than %s", l.slow, l.slowest, bound)
	}
}

// left waits until something is so of all events, and returns of how many it is not in the end.
func (l *load) left(is func(event, key string) bool) int {
	left := map[string]string{}
	for event, key := range l.events {
		left[event] = key
	}
	for end := time.Now().Add(90 * time.Second); len(left) > 0 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		for event, key := range left {
			if is(event, key) {
				delete(left, event)
			}
		}
	}
	return len(left)
}
