package story

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/platform/db/dbtest"
)

// The owner is notified once of a disk that will be full within a day, and when that is over.
func TestDiskThatWillBeFullIsNotified(t *testing.T) {
	t.Parallel()
	var free atomic.Int64
	free.Store(100 << 30)
	w := beginWith(t, func(c *app.Config) { c.FreeBytes = free.Load }, notifyAnn)
	w.pass(6 * time.Minute)
	w.notified()
	w.want(w.do("/account/health/info", `{}`), "store.full_at", "0")
	for range 7 {
		free.Add(-10 << 30)
		w.pass(time.Minute)
	}
	if p := w.last(); !strings.Contains(p.subject, " will be full within a day") {
		t.Error(p.subject)
	}
	w.notified(newPage("olga"))
	if at := w.do("/account/health/info", `{}`).get("store.full_at"); at == "0" {
		t.Error(at)
	}
	if _, body := w.page("/health/ready"); !strings.Contains(body, "the disk will be full in ") {
		t.Error(body)
	}
	free.Store(100 << 30)
	w.clock.Add(130 * time.Minute)
	w.pass(time.Minute)
	if p := w.last(); !strings.Contains(p.subject, "Over: The disk of ") {
		t.Error(p.subject)
	}
}

// Of a database server the operator states how large the database may become.
func TestDatabaseThatWillBeTooLargeIsNotified(t *testing.T) {
	t.Parallel()
	if dbtest.Server == "" {
		t.Skip("only on PostgreSQL: the disk of an embedded database is measured")
	}
	w := beginWith(t, func(c *app.Config) { c.FreeBytes, c.DatabaseBytes = nil, 1 }, notifyAnn)
	w.pass(2 * time.Minute)
	if p := w.last(); !strings.Contains(p.subject, "The disk of PostgreSQL will be full within a day") {
		t.Error(p.subject)
	}
	w.notified(newPage("olga"))
	w.want(w.do("/account/health/info", `{}`), "store.free_bytes", "0")
}
