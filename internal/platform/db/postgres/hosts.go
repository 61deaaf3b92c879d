package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tocsin/internal/platform/db/driver"
)

// host is one of the servers that an address names.
type host struct {
	name string
	at   []*pgconn.FallbackConfig // with TLS and without, in the order in which they are tried

	mu   sync.Mutex
	conn *pgconn.PgConn // asks for the timeline; nil: there is none
}

// hostsOf returns the servers of an address, in its order.
func hostsOf(c *pgconn.Config) (all []*host) {
	at := append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...)
	for _, f := range at {
		name := net.JoinHostPort(f.Host, strconv.Itoa(int(f.Port)))
		i := slices.IndexFunc(all, func(h *host) bool { return h.name == name })
		if i < 0 {
			i, all = len(all), append(all, &host{name: name})
		}
		all[i].at = append(all[i].at, f)
	}
	return all
}

// only returns a configuration that connects to this host alone.
func (h *host) only(c *pgconn.Config) *pgconn.Config {
	c = c.Copy()
	c.Host, c.Port = h.at[0].Host, h.at[0].Port
	c.TLSConfig, c.Fallbacks = h.at[0].TLSConfig, h.at[1:]
	return c
}

// timelineOf is the timeline of the server's log; empty on a standby. A promotion begins a timeline with the next number. So of
// two servers that take writes, the one with the lower number is a former primary, and what it stores will be lost.
const timelineOf = `CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END`

// parseTimeline returns the number of a timeline; 0: the server is a standby.
func parseTimeline(hex []byte) (int64, error) {
	if len(hex) == 0 {
		return 0, nil
	}
	return strconv.ParseInt(string(hex), 16, 64)
}

// How often the hosts are asked for their timeline, how long each may take to answer, and how old an answer may be. What took
// slowAnswer is believed only after the hosts were asked again: a commit that waits for its standby may wait because the standby
// is the primary by now.
const (
	askEvery   = 500 * time.Millisecond
	askTimeout = time.Second
	askFirst   = 5 * time.Second // in the first round: a process that starts has no other knowledge of a primary that is slow
	askMaxAge  = 4 * time.Second // more than two rounds of a silent host
	slowAnswer = 250 * time.Millisecond
)

// ask notes the timeline of a host that takes writes. A host that does not answer is asked again next time.
func (h *host) ask(e *Engine, limit time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	timeline, err := h.timeline(ctx, e)
	switch {
	case err != nil:
		h.drop()
	case timeline > 0:
		_ = e.outage.seen(h.name, timeline) // a former primary is refused when a connection to it is opened
	}
}

func (h *host) timeline(ctx context.Context, e *Engine) (int64, error) {
	if h.conn == nil {
		c := h.only(e.config)
		c.RuntimeParams["application_name"] = asWatch
		c.AfterNetConnect, c.ValidateConnect = nil, nil
		raw, err := pgconn.ConnectConfig(ctx, c)
		if err != nil {
			return 0, err
		}
		h.conn = raw
	}
	results, err := h.conn.Exec(ctx, "SELECT "+timelineOf).ReadAll()
	if err != nil || len(results) != 1 || len(results[0].Rows) != 1 {
		return 0, cmp.Or(err, errNoSettings)
	}
	return parseTimeline(results[0].Rows[0][0])
}

// asWatch names the connections that ask for timelines.
const asWatch = "tocsin watch"

// drop closes the connection that asks. The server may be one that does not answer.
func (h *host) drop() {
	if h.conn == nil {
		return
	}
	raw := h.conn
	h.conn = nil
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
		defer cancel()
		_ = raw.Close(ctx) // it is not used again, whatever happens
	}()
}

// watchers ask all hosts of an address for their timelines.
type watchers struct {
	hosts []*host
	quit  chan struct{}
	end   sync.Once

	mu    sync.Mutex                // held while a round lasts
	asked atomic.Pointer[time.Time] // when the last round began that has ended; nil: there was none
}

func newWatchers(hosts []*host) *watchers { return &watchers{hosts: hosts, quit: make(chan struct{})} }

// run asks at intervals, until stop. One host needs no watch: there is no other to choose.
func (w *watchers) run(e *Engine) {
	for {
		select {
		case <-w.quit:
			for _, h := range w.hosts {
				h.mu.Lock()
				h.drop()
				h.mu.Unlock()
			}
			return
		case <-time.After(askEvery):
			w.since(e, time.Now())
		}
	}
}

func (w *watchers) stop() { w.end.Do(func() { close(w.quit) }) }

// since returns once all hosts were asked after a time. Callers that come together share a round.
func (w *watchers) since(e *Engine, at time.Time) {
	if len(w.hosts) < 2 || w.after(at) { // without the lock: a host that is silent makes a round long
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.after(at) {
		return
	}
	began := time.Now()
	limit := askTimeout
	if w.asked.Load() == nil {
		limit = askFirst
	}
	var round sync.WaitGroup
	for _, h := range w.hosts {
		round.Go(func() { h.ask(e, limit) })
	}
	round.Wait()
	w.asked.Store(&began)
}

// after reports whether the last round began after a time.
func (w *watchers) after(at time.Time) bool {
	asked := w.asked.Load()
	return asked != nil && asked.After(at)
}

// fresh asks again if what is known of the hosts is too old to believe an answer for which this process waited since a time.
func (w *watchers) fresh(e *Engine, began time.Time) {
	if len(w.hosts) < 2 {
		return
	}
	if now := time.Now(); now.Sub(began) > slowAnswer {
		w.since(e, now)
	} else {
		w.since(e, now.Add(-askMaxAge))
	}
}

// seen notes that a host of a timeline takes writes. A higher timeline than before means that it was promoted: then all other
// connections are replaced, which may lead to the former primary. The error of a lower one is driver.ErrFormer.
func (o *outage) seen(host string, timeline int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch known := o.timeline.Load(); {
	case timeline < known:
		o.former = max(o.former, timeline)
		return fmt.Errorf("%w: its timeline is %d, and a server with timeline %d was seen", driver.ErrFormer, timeline, known)
	case timeline > known:
		if known > 0 {
			o.generation++
		}
		o.timeline.Store(timeline)
		o.host = cmp.Or(host, o.host)
	}
	return nil
}

// backAfter is for how long every host must answer, and none have the highest timeline, before a lower one is accepted: the cluster
// has then gone back to it, or was made again by pg_upgrade. A server that restarts does not answer meanwhile, or is promoted again.
var backAfter = 30 * time.Second

// allRefused notes that no host was accepted, and whether all have answered that they are standbys or former primaries. When that lasts,
// the highest timeline of those is the one that counts.
func (o *outage) allRefused(answered bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	former := o.former
	o.former = 0
	switch {
	case !answered || former == 0:
		o.since = time.Time{}
	case o.since.IsZero():
		o.since = time.Now()
	case time.Since(o.since) > backAfter:
		o.timeline.Store(former)
		o.since = time.Time{}
	}
}

// inOrder returns the hosts in the order in which they are tried: first the one that was the primary when it was last seen.
func (e *Engine) inOrder() []*host {
	e.outage.mu.Lock()
	defer e.outage.mu.Unlock()
	hosts := slices.Clone(e.watch.hosts)
	if i := slices.IndexFunc(hosts, func(h *host) bool { return h.name == e.outage.host }); i > 0 {
		hosts = slices.Insert(slices.Delete(hosts, i, i+1), 0, e.watch.hosts[i])
	}
	return hosts
}

// dialHosts connects to the first host that is the primary. The error names all hosts, if there are several.
func (e *Engine) dialHosts(ctx context.Context, c *pgconn.Config) (*pgconn.PgConn, error) {
	var failed []string
	answered := true // every host
	for _, h := range e.inOrder() {
		own := h.only(c)
		own.ValidateConnect = func(ctx context.Context, raw *pgconn.PgConn) error { return e.verify(ctx, raw, h.name) }
		raw, err := pgconn.ConnectConfig(ctx, own)
		if err == nil {
			e.outage.connected(h.name)
			return raw, nil
		}
		answered = answered && (errors.Is(err, driver.ErrFormer) || errors.Is(err, errStandby))
		failed = append(failed, h.name+": "+whyNot(err).Error())
	}
	e.outage.allRefused(answered)
	return nil, errors.New(strings.Join(failed, "; "))
}

// whyNot returns the reason in an error of the driver, which also names the user and every address of a host.
func whyNot(err error) error {
	var refused *pgconn.PgError
	switch {
	case errors.As(err, &refused) && strings.HasPrefix(refused.Message, "unsupported startup parameter"): // by PgBouncer
		return fmt.Errorf("%s: %w", refused.Message, errPooled)
	case errors.As(err, &refused):
		return errors.New(refused.Message)
	}
	text := lastLine(err.Error())
	if _, why, found := strings.Cut(text, "): "); found { // after the address
		text = strings.TrimPrefix(why, "ValidateConnect failed: ")
	}
	return errors.New(text)
}
