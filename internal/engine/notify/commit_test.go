package notify_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// While a message is rendered, other transactions can write: accounts write the templates, and all share one writer.
func TestMessagesAreBuiltOutsideWriteTransaction(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.Service.Stale = func(*notify.Notification, time.Time) sentence.Value {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := r.DB.Write(ctx, func(*db.Tx) error { return nil }); err != nil {
			t.Error(err)
		}
		return ""
	}
	r.put(apitest.AccountA, "k", "email", notify.Address{To: "a@example.com"})
	if r.settle(); r.taken() != 1 {
		t.Error("it was not sent")
	}
}

// A result that is rolled back is not counted: the notification is sent again, and counted then.
func TestRolledBackResultsAreNotCounted(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	bus := &activity.Bus{}
	metrics := prometheus.NewRegistry()
	broken := true
	bus.Subscribe(func(_ *db.Tx, item activity.Item) error {
		if item.Event.Type() == activity.IncidentNotify && broken {
			return errors.New("broken")
		}
		return nil
	})
	r.Service = notify.New(notify.Config{DB: r.DB, Bus: bus, Keyring: r.Keyring, Clock: r.clock, Log: slog.New(slog.DiscardHandler), Metrics: metrics, Can: r.Can, Links: r.Links, Deliver: r.send})
	r.write(func(tx *db.Tx) error {
		writer := incident.Writer{Bus: bus, Tx: tx, Account: apitest.AccountA, Now: start, Person: apitest.Reader}
		if err := writer.Open(&incident.Incident{IncidentID: incidentID, Title: "T", Severity: "Critical"}); err != nil {
			return err
		}
		return r.Put(tx, notify.Notification{Account: apitest.AccountA, Key: "k", Incident: incidentID, Cause: notify.Page, Method: "email", Address: notify.Address{To: "a@example.com"}}, start)
	})
	for _, want := range []float64{0, 1} {
		r.settle()
		got := 0.0
		families, err := metrics.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				if f.GetName() == "tocsin_notices_total" {
					got += m.GetCounter().GetValue()
				}
			}
		}
		if s := r.stored("k"); got != want || (s.status == notify.Sent) != (want == 1) {
			t.Errorf("%v are counted, want %v: %v", got, want, s)
		}
		broken = false
		r.clock.Add(2 * time.Minute)
	}
}
