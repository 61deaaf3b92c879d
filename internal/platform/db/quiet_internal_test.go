package db

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/fault"
)

// While the database is not available its log has one line a minute of each message, and none while it is lost. Other errors
// are logged whenever they come.
func TestUnavailableDatabaseIsNotLoggedEverySecond(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	c, lost := clock.At(time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)), false
	log := slog.New(quiet{slog.NewTextHandler(&text, nil), &repeats{now: c.Now, lost: func() bool { return lost }, last: map[string]time.Time{}}}).
		With("node", "a")
	lines := func(err error) (n int) {
		text.Reset()
		for range 120 {
			for _, task := range []string{"notify", "escalate", "decide"} {
				log.Error("background task", "task", task, "error", err)
			}
			c.Add(time.Second)
		}
		return strings.Count(text.String(), "background task")
	}
	away := &fault.Error{Kind: fault.Unavailable, Message: "the database cannot be read or written just now", Cause: errors.New("timeout")}
	if n := lines(away); n != 2 {
		t.Errorf("%d lines in two minutes, want 2", n)
	}
	if n := lines(errors.New("no such row")); n != 360 {
		t.Errorf("%d lines of other errors, want 360", n)
	}
	lost = true
	if n := lines(away); n != 0 {
		t.Errorf("%d lines while the database is lost, want none", n)
	}
}
