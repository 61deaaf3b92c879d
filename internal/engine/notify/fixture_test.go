package notify_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/sender"
)

var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// fixture is a notify service with a real database, whose messages go to deliver.
type fixture struct {
	*notify.Service
	t     *testing.T
	clock *clock.Manual

	mu      sync.Mutex
	deliver func(to string) error // the receiver's result; it may hang
	took    []string              // addresses that took a message, in order
	texts   map[string]string     // the last text sent, by method
}

func newFixture(t *testing.T) *fixture {
	r := &fixture{t: t, clock: clock.At(start), deliver: func(string) error { return nil }, texts: map[string]string{}}
	r.Service = notify.New(notify.Config{DB: apitest.Start(t).DB, Bus: &activity.Bus{}, Keyring: apitest.Box(t), Clock: r.clock, Log: slog.New(slog.DiscardHandler),
		Can: func(string) bool { return true }, Links: &notify.Links{}, Deliver: r.send})
	return r
}

func (r *fixture) send(_ context.Context, method string, to notify.Address, m sender.Message) (sender.Receipt, error) {
	address := to.To
	if to.Chat != nil {
		address = to.Chat.URL
	}
	r.mu.Lock()
	deliver := r.deliver
	r.mu.Unlock()
	if err := deliver(address); err != nil {
		return sender.Receipt{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took = append(r.took, address)
	r.texts[method] = string(m.Text)
	return sender.Receipt{}, nil
}

func (r *fixture) write(fn func(*db.Tx) error) {
	r.t.Helper()
	if err := r.DB.Write(context.Background(), fn); err != nil {
		r.t.Fatal(err)
	}
}

// put stores a notification about no incident, to an address of a method.
func (r *fixture) put(account int64, key, method string, to notify.Address) {
	r.t.Helper()
	r.write(func(tx *db.Tx) error {
		return r.Put(tx, notify.Notification{Account: account, Key: key, Cause: notify.Shift, Method: method, Address: to, Detail: notify.Detail{Subject: "s", Text: "t"}}, r.clock.Now())
	})
}

// run claims the notifications that are due, without waiting for their results.
func (r *fixture) run() {
	r.t.Helper()
	if _, err := r.Job().Run(context.Background(), r.clock.Now()); err != nil {
		r.t.Fatal(err)
	}
}

// settle claims the notifications that are due and waits for their results.
func (r *fixture) settle() {
	r.t.Helper()
	r.run()
	r.Job().Wait()
}

// taken returns how many messages were taken.
func (r *fixture) taken() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.took)
}

// stored is a notification as it is stored.
type stored struct {
	status, outcome string
	attempts, due   int64
}

func (s stored) String() string {
	return fmt.Sprintf("%s after %d: %s", s.status, s.attempts, s.outcome)
}

func (r *fixture) stored(key string) (s stored) {
	r.t.Helper()
	err := r.DB.Read(context.Background(), func(tx *db.Tx) error {
		_, found, err := db.One(tx, func(scan db.Scan) (struct{}, error) {
			return struct{}{}, scan(&s.status, &s.outcome, &s.attempts, &s.due)
		},
			`SELECT status, outcome, attempts, due_at FROM notice WHERE notice_key = $1`, key)
		if err == nil && !found {
			err = fmt.Errorf("there is no notification %s", key)
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}
