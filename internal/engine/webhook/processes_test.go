package webhook_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/api/apitest"
	"tocsin/internal/engine/webhook"
	"tocsin/internal/integration"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/egress"
)

// caller stands for an endpoint.
type caller func() int

func (f caller) Do(context.Context, egress.Request) (egress.Attempt, error) {
	return egress.Attempt{Status: f()}, nil
}

// process returns the service of one more process on the database.
func (h *hooked) process(c *clock.Manual, endpoint caller) (*webhook.Service, *prometheus.Registry) {
	metrics := prometheus.NewRegistry()
	return webhook.New(webhook.Config{DB: h.Again(), Keyring: h.keyring, Clock: c, Log: slog.New(slog.DiscardHandler), Metrics: metrics,
		Out: endpoint}), metrics
}

// send runs the job that sends, without waiting for the attempts.
func send(t *testing.T, r *webhook.Service, c *clock.Manual) (wait func()) {
	t.Helper()
	j := r.Jobs()[1]
	if _, err := j.Run(t.Context(), c.Now()); err != nil {
		t.Error(err)
	}
	return j.Wait
}

func put(t *testing.T, h *hooked, c *clock.Manual, n int) {
	t.Helper()
	h.Write(func(tx *db.Tx) error {
		for range n {
			if err := webhook.PutMessage(tx, apitest.AccountA, 1, c.Now(), "{}"); err != nil {
				return err
			}
		}
		return nil
	})
}

// together runs all functions while the writer is held, and lets it go when each of them has read what it acts on.
func together(t *testing.T, d *db.DB, all ...func()) {
	t.Helper()
	held, free := make(chan struct{}), make(chan struct{})
	go d.Write(context.Background(), func(*db.Tx) error { close(held); <-free; return nil })
	<-held
	var running sync.WaitGroup
	for _, fn := range all {
		running.Go(fn)
	}
	time.Sleep(100 * time.Millisecond) // if one of them reads later, the test is weaker but does not fail
	close(free)
	running.Wait()
}

// A process is frozen during an attempt until another one has delivered the message. Its result does not change the
// message or the endpoint: the attempt is only kept in the history.
func TestResultOfFrozenProcessIsOnlyKept(t *testing.T) {
	t.Parallel()
	h, c := hook(t, subscriber(1, integration.Settings{Endpoint: "https://example.com/"})), clock.At(apitest.Now)
	put(t, h, c, 1)
	called, thawed := make(chan struct{}), make(chan struct{})
	frozen, late := h.process(c, func() int { close(called); <-thawed; return 500 })
	other, lost := h.process(c, func() int { return 200 })
	waitFrozen := send(t, frozen, c)
	<-called
	c.Add(time.Minute) // more than the lease
	send(t, other, c)()
	close(thawed)
	waitFrozen()
	for what, want := range map[string]int64{
		"webhook_message WHERE status = 'delivered' AND attempts = 2": 1,
		"webhook_delivery WHERE status = 'success' AND attempt = 2":   1,
		"webhook_delivery WHERE status = 'failed' AND attempt = 1":    1,
		"webhook_endpoint WHERE failures = 0 AND failing_since = 0":   1,
		"webhook_delivery": 2,
	} {
		if n := rows(t, h.Server, what); n != want {
			t.Errorf("%d rows of %s, want %d", n, what, want)
		}
	}
	if counted(t, late, "tocsin_delivery_late_total") != 1 || counted(t, lost, "tocsin_delivery_lost_total") != 1 {
		t.Error("that the message may have arrived twice is not counted")
	}
}

// An endpoint that is held gets one probe, although many processes have found it due; and an endpoint has its four slots
// over all of them.
func TestProcessesShareEndpoint(t *testing.T) {
	t.Parallel()
	h, c := hook(t, subscriber(1, integration.Settings{Endpoint: "https://example.com/"})), clock.At(apitest.Now)
	var calls atomic.Int64
	release := make(chan struct{})
	hang := func() int { calls.Add(1); <-release; return 500 }
	a, _ := h.process(c, hang)
	b, _ := h.process(c, hang)
	put(t, h, c, 20)
	both := func() (wait func()) {
		var waits [2]func()
		together(t, h.Server.DB, func() { waits[0] = send(t, a, c) }, func() { waits[1] = send(t, b, c) })
		return func() { waits[0](); waits[1]() }
	}
	sending := func() int64 { return rows(t, h.Server, "webhook_message WHERE status = 'sending'") }
	h.Exec(`UPDATE webhook_endpoint SET failures = 10, held_until = $1`, c.Now().UnixMilli())
	wait := both()
	if n := sending(); n != 1 {
		t.Errorf("%d messages probe an endpoint that is held", n)
	}
	release <- struct{}{}
	wait()
	h.Exec(`UPDATE webhook_endpoint SET failures = 0, held_until = 0`)
	h.Exec(`UPDATE webhook_message SET due_at = $1`, c.Now().UnixMilli()) // as if each were about another object
	wait = both()
	if n := sending(); n != 16 {
		t.Errorf("%d messages are being sent to an endpoint, want 16", n)
	}
	close(release)
	wait()
}

// Events are matched, and replays go on, once however many processes look at them.
func TestProcessesMatchAndReplayOnce(t *testing.T) {
	t.Parallel()
	h, c := hook(t, subscriber(1, integration.Settings{Endpoint: "https://example.com/"})), clock.At(apitest.Now)
	a, _ := h.process(c, func() int { return 200 })
	b, _ := h.process(c, func() int { return 200 })
	for n := range 20 {
		h.happenTo(n, c.Now().Add(-time.Minute))
	}
	together(t, h.Server.DB,
		func() { a.Match(context.Background()) }, func() { b.Match(context.Background()) })
	if n := rows(t, h.Server, "webhook_message"); n != 20 {
		t.Errorf("20 events became %d messages", n)
	}
	h.Exec(`UPDATE webhook_message SET status = 'delivered', settled_at = 1, attempts = 1`)
	h.replay()
	c.Add(time.Hour)
	replay := func(r *webhook.Service) func() {
		return func() {
			if _, err := r.Jobs()[3].Run(context.Background(), c.Now()); err != nil {
				t.Error(err)
			}
		}
	}
	for range 100 {
		together(t, h.Server.DB, replay(a), replay(b))
		send(t, a, c)()
		send(t, b, c)()
		if rows(t, h.Server, "webhook_replay WHERE status = 'running'") == 0 {
			break
		}
	}
	if n := rows(t, h.Server, "webhook_replay WHERE status = 'done' AND sent = 20"); n != 1 {
		t.Error("the replay did not end with 20 messages")
	}
	if n := rows(t, h.Server, "webhook_message WHERE attempts <> 2 OR status <> 'delivered'"); n != 0 {
		t.Errorf("%d messages were not replayed once", n)
	}
}

// counted returns the value of a counter.
func counted(t *testing.T, metrics *prometheus.Registry, name string) (sum float64) {
	t.Helper()
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}
