package db

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"tocsin/internal/platform/fault"
)

// quiet is a log that leaves out what fails because the database is not available: all background work and each probe would
// write a line every second. While the database is lost, which is logged once, no such line is written; otherwise one a minute
// of each message.
type quiet struct {
	slog.Handler
	*repeats
}

// repeats is when each message about an unavailable database was logged last.
type repeats struct {
	now  func() time.Time
	lost func() bool // whether the database is lost

	mu   sync.Mutex
	last map[string]time.Time
}

// maxRepeat is how often a message about an unavailable database is logged.
const maxRepeat = time.Minute

// Handle writes a record unless it is one that is left out.
func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	if unavailable(r) && q.known(r.Message) {
		return nil
	}
	return q.Handler.Handle(ctx, r)
}

// WithAttrs returns a log with the same memory.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quiet{q.Handler.WithAttrs(attrs), q.repeats}
}

// WithGroup returns a log with the same memory.
func (q quiet) WithGroup(name string) slog.Handler {
	return quiet{q.Handler.WithGroup(name), q.repeats}
}

// unavailable reports whether an error of a record is that the database is not available.
func unavailable(r slog.Record) (is bool) {
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		is = ok && fault.KindOf(err) == fault.Unavailable
		return !is
	})
	return is
}

// known reports whether a message need not be logged, and notes that it is logged otherwise.
func (r *repeats) known(message string) bool {
	if r.lost() {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if last, logged := r.last[message]; logged && now.Sub(last) < maxRepeat && !now.Before(last) {
		return true
	}
	r.last[message] = now
	return false
}

// QuietLog returns a log without what fails because the database is not available, and logs when the database is lost, found, or on
// another host.
func (d *DB) QuietLog(log *slog.Logger, now func() time.Time) *slog.Logger {
	d.OnChange(func(f Found) {
		switch {
		case f.Err != nil:
			log.Error("the database is lost", "error", f.Err)
		case f.Away > 0:
			log.Warn("the database is found", "host", f.Host, "timeline", f.Timeline, "after", f.Away.Round(100*time.Millisecond).String())
		default:
			log.Warn("the database is on another host", "host", f.Host, "timeline", f.Timeline)
		}
	})
	return slog.New(quiet{log.Handler(), &repeats{now: now, lost: d.Lost, last: map[string]time.Time{}}})
}
