package selfalert_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/selfalert"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/preference"
)

var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

const shop = 7

type fixture struct {
	*selfalert.Service
	t     *testing.T
	clock *clock.Manual
}

func newFixture(t *testing.T) *fixture {
	d, c := apitest.Start(t).DB, clock.At(start)
	n := notify.New(notify.Config{DB: d, Bus: &activity.Bus{}, Keyring: apitest.Box(t), Clock: c, Log: slog.New(slog.DiscardHandler),
		Can: func(string) bool { return true }, Links: &notify.Links{}})
	return &fixture{&selfalert.Service{DB: d, Notify: n, Decide: jobs.NewSignal()}, t, c}
}

func (f *fixture) write(fn func(*db.Tx) error) {
	f.t.Helper()
	if err := f.DB.Write(context.Background(), fn); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) raise(channel int64, severity string) {
	f.t.Helper()
	f.write(func(tx *db.Tx) error {
		return f.Raise(tx, selfalert.Alert{Account: apitest.AccountA, Key: "k", Channel: channel, Title: "Events are refused",
			Severity: severity, Lasts: 5 * time.Minute}, f.clock.Now())
	})
}

// after lets time pass and runs the job.
func (f *fixture) after(d time.Duration) {
	f.t.Helper()
	f.clock.Add(d)
	if _, err := f.Job().Run(context.Background(), f.clock.Now()); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) count(want int64, query string) {
	f.t.Helper()
	if err := f.DB.Read(context.Background(), func(tx *db.Tx) error {
		got, _, err := db.One(tx, db.Column[int64], query)
		if err == nil && got != want {
			f.t.Errorf("%d, want %d: %s", got, want, query)
		}
		return err
	}); err != nil {
		f.t.Fatal(err)
	}
}

const (
	opened = `SELECT count(*) FROM notice WHERE event = 'own_alert'`
	over   = `SELECT count(*) FROM notice WHERE event = 'own_alert_over'`
	events = `SELECT count(*) FROM event`
)

// What goes on for long is notified once, its end once, and what begins again is notified again.
func TestOwnerIsNotifiedOnceUntilItEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for range 10 {
		f.raise(0, "Warning")
		f.after(time.Minute)
	}
	f.count(1, opened)
	f.count(0, over)
	f.after(5 * time.Minute)
	f.after(time.Minute)
	f.count(1, over)
	f.raise(0, "Warning")
	f.count(2, opened)
	f.raise(0, "Critical") // a rise is news
	f.count(3, opened)
	f.count(0, events)
}

// A repetition that the caller asks for is sent once, also after another has begun to count again; hiding is not the end.
func TestRepetitionIsSentOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i, repeat := range []int64{0, 0, 1, 1, 0, 1, 2} {
		f.write(func(tx *db.Tx) error {
			return f.Raise(tx, selfalert.Alert{Account: apitest.AccountA, Key: "k", Title: "x", Severity: "Warning", Lasts: time.Hour, Repeat: repeat}, f.clock.Now())
		})
		f.count([]int64{1, 1, 2, 2, 2, 2, 3}[i], opened)
	}
	f.write(func(tx *db.Tx) error { return f.Hide(tx, apitest.AccountA, "k", f.clock.Now()) })
	f.count(0, `SELECT count(*) FROM own_alert`)
	f.count(0, over)
}

// In a channel it is an event like any other; a channel that does not take alerts leaves it to the owner.
func TestChannelGetsEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(func(tx *db.Tx) error {
		return channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: shop, ChannelName: "Shop", Status: "enabled"}})
	})
	f.raise(shop, "Critical")
	f.raise(shop, "Critical")
	f.count(1, events)
	f.count(0, opened)
	f.after(5 * time.Minute)
	f.count(2, events)
	f.count(1, `SELECT count(*) FROM event WHERE body LIKE '%"event_status":"Ok"%'`)
	f.raise(999, "Critical")
	f.count(1, opened)
}

// The end of an alert is no call and no text message, and names what ended. A person who has only these gets a mail.
func TestEndIsNotPhoned(t *testing.T) {
	t.Parallel()
	const calls = `SELECT count(*) FROM notice WHERE way IN ('voice', 'sms') AND event = `
	for _, methods := range [][]string{{"voice", "sms", "email"}, {"voice"}} {
		f := newFixture(t)
		f.write(func(tx *db.Tx) error {
			if err := tx.Do(`UPDATE person SET phone = '+4917012345', email = 'owner@example.com' WHERE account_id = $1`, apitest.AccountA); err != nil {
				return err
			}
			owner, err := auth.OwnerOf(tx, apitest.AccountA)
			if err != nil {
				return err
			}
			p := preference.Preference{PersonID: owner, Trigger: preference.Trigger{Critical: methods}}
			return preference.Kind.Load(tx, apitest.Box(t), apitest.AccountA, []preference.Preference{p})
		})
		f.raise(0, "Critical")
		f.count(1, `SELECT count(*) FROM notice WHERE way = 'voice' AND event = 'own_alert'`)
		f.after(6 * time.Minute)
		f.count(0, calls+`'own_alert_over'`)
		f.count(1, over+` AND way = 'email' AND detail LIKE '%Events are refused. It began Sat 21 Nov 18:00 CST and is over%'`)
	}
}
