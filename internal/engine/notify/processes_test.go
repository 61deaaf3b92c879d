package notify_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/clock"
	"tocsin/internal/sender"
)

// twoProcesses returns two services as two processes on one database have them.
func twoProcesses(t *testing.T) (a, b *fixture) {
	server := apitest.Start(t)
	c := clock.At(start)
	keyring := apitest.Box(t)
	var all [2]*fixture
	for i := range all {
		r := &fixture{t: t, clock: c, deliver: func(string) error { return nil }, texts: map[string]string{}}
		r.Service = notify.New(notify.Config{DB: server.Again(), Bus: &activity.Bus{}, Keyring: keyring, Clock: c,
			Log: slog.New(slog.DiscardHandler), Can: func(string) bool { return true }, Links: &notify.Links{}, Deliver: r.send})
		all[i] = r
	}
	return all[0], all[1]
}

// A process is frozen while it sends, until another one has sent the notification. Its result, whatever it is, changes
// nothing.
func TestResultOfFrozenProcessChangesNothing(t *testing.T) {
	t.Parallel()
	for _, failure := range []error{nil, &sender.Error{Message: "no such mailbox"}, &sender.Error{Retry: true, Message: "no answer"}} {
		frozen, other := twoProcesses(t)
		called, thawed := make(chan struct{}), make(chan struct{})
		frozen.deliver = func(string) error { close(called); <-thawed; return failure }
		frozen.put(apitest.AccountA, "k", "email", notify.Address{To: "a@example.com"})
		frozen.run()
		<-called
		frozen.clock.Add(3 * time.Minute) // more than the lease
		finish := make(chan struct{})
		sending := make(chan struct{})
		other.deliver = func(string) error { close(sending); <-finish; return nil }
		other.run()
		<-sending
		close(thawed)
		frozen.Job().Wait()
		if s := other.stored("k"); s.status != notify.Sending || s.attempts != 2 {
			t.Errorf("%v: while the other process sends it is %v", failure, s)
		}
		close(finish)
		other.Job().Wait()
		if s := other.stored("k"); s.status != notify.Sent || s.attempts != 2 {
			t.Errorf("%v: it is %v", failure, s)
		}
	}
}

// What is sent over one mail server has its slots over all processes.
func TestProcessesShareSlotsOfQueue(t *testing.T) {
	t.Parallel()
	a, b := twoProcesses(t)
	release := make(chan struct{})
	for _, r := range []*fixture{a, b} {
		r.deliver = func(string) error { <-release; return nil }
	}
	for n := range 30 {
		a.put(apitest.AccountA, fmt.Sprint("k", n), "email", notify.Address{To: fmt.Sprintf("%d@example.com", n)})
	}
	a.run()
	b.run()
	sending := 0
	for n := range 30 {
		if a.stored(fmt.Sprint("k", n)).status == notify.Sending {
			sending++
		}
	}
	if sending != 8 {
		t.Errorf("%d notifications are being sent over one mail server, want 8", sending)
	}
	close(release)
	a.Job().Wait()
	b.Job().Wait()
}

// The messages that a person gets within a minute count over all processes: the rest wait, and share a message.
func TestProcessesShareBudget(t *testing.T) {
	t.Parallel()
	a, b := twoProcesses(t)
	for n := range 30 {
		a.put(apitest.AccountA, fmt.Sprint("k", n), "email", notify.Address{To: "a@example.com"})
		a.run()
		b.run()
	}
	a.Job().Wait()
	b.Job().Wait()
	if n := a.taken() + b.taken(); n > notify.DefaultBudget.Other {
		t.Errorf("%d messages were sent within a minute", n)
	}
}
