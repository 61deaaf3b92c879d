package escalation_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/configstore"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// The configuration changes each time while a step is prepared: the step is taken some seconds late, and so is the
// reminder of the incident once it is acknowledged.
func TestStepsAreTakenWhileConfigurationChanges(t *testing.T) {
	t.Parallel()
	s := begin(t)
	bus := &activity.Bus{}
	keyring := apitest.Box(t)
	now := apitest.Now
	notifier := notify.New(notify.Config{DB: s.DB, Bus: bus, Keyring: keyring, Clock: clock.At(now), Log: slog.New(slog.DiscardHandler),
		Can: func(string) bool { return true }})
	r := escalation.New(escalation.Service{DB: s.DB, Bus: bus, Keyring: keyring, Log: slog.New(slog.DiscardHandler), Notify: notifier, Wake: jobs.NewSignal()})
	asked := 0
	r.Silences = func(ctx context.Context, account int64, _ time.Time) func(int64, string) (int64, sentence.Value, int64, error) {
		asked++
		return func(int64, string) (int64, sentence.Value, int64, error) {
			return 0, "", 0, s.DB.Write(ctx, func(tx *db.Tx) error { return configstore.BumpRevision(tx, account) })
		}
	}
	const id = "663a1b2c3d4e5f6789abcdf0"
	s.Write(func(tx *db.Tx) error {
		return r.Handle(tx, []activity.Item{{Account: apitest.AccountA, ID: id, Channel: 1001, At: now, Event: activity.Opened{}}})
	})
	pass := func(d time.Duration) {
		for range int(d / (2 * time.Second)) {
			now = now.Add(2 * time.Second)
			if _, err := r.Job().Run(context.Background(), now); err != nil {
				t.Fatal(err)
			}
			r.Job().Wait()
		}
	}
	notifications := func(cause string) (n int64) {
		s.Read(func(tx *db.Tx) (err error) {
			n, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM notice WHERE cause = $1`, cause)
			return err
		})
		return n
	}
	pass(80 * time.Second)
	if n := notifications(notify.Page); n == 0 || asked < 4 {
		t.Errorf("%d pages after %d changes", n, asked)
	}
	s.Write(func(tx *db.Tx) error {
		i, _, err := incident.Find(tx, apitest.AccountA, id)
		if err != nil {
			return err
		}
		return incident.Writer{Tx: tx, Bus: bus, Account: apitest.AccountA, Now: now, Person: apitest.Reader}.Ack(&i)
	})
	s.Write(func(tx *db.Tx) error {
		return r.Handle(tx, []activity.Item{{Account: apitest.AccountA, ID: id, Channel: 1001, At: now, Person: apitest.Reader, Event: activity.Acknowledged{}}})
	})
	now = now.Add(4*time.Hour - 4*time.Second)
	pass(20 * time.Second)
	if n := notifications(notify.Reminder); n != 1 {
		t.Errorf("%d reminders", n)
	}
}
