package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
	"tocsin/internal/core/event"
	"tocsin/internal/engine/triage"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/id"
	"tocsin/internal/platform/jobs"
)

const decidingID = 7000000000001

const decidingKey = "a-key-of-the-account-that-decides"

const decidingAccount = `{"format": "tocsin.account/1",
	"account": {"account_id": 7000000000001, "account_name": "Deciding", "time_zone": "UTC", "owner_id": 7000000000011},
	"persons": [{"person_id": 7000000000011, "person_name": "Olga"}],
	"app_keys": [{"name": "all", "person_id": 7000000000011, "app_key": "` + decidingKey + `", "permissions": null}],
	"channels": [{"channel_id": 7000000000041, "channel_name": "Shop"}, {"channel_id": 7000000000042, "channel_name": "Grouped",
		"auto_resolve_timeout": 86400, "group": {"method": "p", "equals": [["labels.host"]]}}],
	"integrations": [
		{"integration_id": 7000000000051, "integration_name": "a", "integration_type": "standard", "channel_id": 7000000000041},
		{"integration_id": 7000000000052, "integration_name": "b", "integration_type": "standard", "channel_id": 7000000000042}]}`

// BenchmarkDecide measures how fast the whole program decides events of each kind. On PostgreSQL it counts statements and
// round trips, and measures over a slow network too.
func BenchmarkDecide(b *testing.B) {
	delays := map[string]time.Duration{"near": 0}
	if dbtest.Server != "" {
		delays["far"] = 1200 * time.Microsecond
	}
	for name, delay := range delays {
		b.Run(name, func(b *testing.B) {
			d := newDeciding(b, delay)
			for life := 0; b.Loop(); life++ {
				for _, kind := range decidingKinds {
					d.take(kind, fmt.Sprint("life ", life, " "), 1200)
					cost := d.decide()
					b.ReportMetric(cost.perSecond, kind.name+"/s")
					if d.link != nil {
						b.ReportMetric(cost.statements, kind.name+"-statements")
						b.ReportMetric(cost.trips, kind.name+"-trips")
					}
				}
			}
		})
	}
}

// Events are decided in batches, so that the wait for the network is shared: an event needs less than one round trip.
func TestDecidingSharesRoundTrips(t *testing.T) {
	t.Parallel()
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL")
	}
	d := newDeciding(t, 0)
	for _, kind := range decidingKinds {
		d.take(kind, "k", 600)
		if cost := d.decide(); cost.trips > kind.trips {
			t.Errorf("%s: %.2f round trips for each event, want at most %.2f (%.2f statements)", kind.name, cost.trips, kind.trips, cost.statements)
		}
	}
}

type decidingKind struct {
	name   string
	source int64
	status string
	title  string
	trips  float64 // of each event, at most
}

// decidingKinds are events as they follow each other in the life of an alert.
var decidingKinds = []decidingKind{
	{"opens", alone, event.Critical, "down", 0.5},
	{"repeats", alone, event.Critical, "down", 0.5},
	{"changes", alone, event.Critical, "still down", 0.5},
	{"recovers", alone, event.Ok, "down", 0.5},
	{"joins", grouped, event.Warning, "down", 0.5},
}

// Integrations of decidingAccount: alerts of one open incidents of their own, those of the other join five.
const alone, grouped = 7000000000051, 7000000000052

// deciding is the whole program with an account, of which the job that decides events is run by hand.
type deciding struct {
	testing.TB
	app  *app.App
	link *link // nil: the embedded engine
	job  jobs.Job
	now  time.Time
	n    float64 // events that wait
}

func newDeciding(b testing.TB, delay time.Duration) *deciding {
	b.Helper()
	return newDecidingOf(b, delay, decidingAccount)
}

// newDecidingOf is newDeciding with another account, of the same id.
func newDecidingOf(b testing.TB, delay time.Duration, account string) *deciding {
	b.Helper()
	d := &deciding{TB: b, now: time.Now()}
	dsn := dbtest.Migrated(b)
	if dbtest.Server != "" {
		d.link, dsn = newLink(b, dsn, delay)
	}
	a, err := app.New(b.Context(), app.Config{DB: dsn, Clock: clock.System, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Version: "test",
		SealKeyFile: b.TempDir() + "/seal.key", Senders: app.Senders{Deliver: takesAll, Webhooks: answersAll{}}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = a.Close() })
	d.app = a
	file, err := accountfile.Read(strings.NewReader(account))
	if err != nil {
		b.Fatal(err)
	}
	if err := accountfile.Import(b.Context(), a.DB, a.Keyring, file, d.now, false); err != nil {
		b.Fatal(err)
	}
	d.job = d.jobOf("decide")
	d.take(decidingKinds[0], "first", 1)
	d.decide()
	subscriptions := d.jobOf("webhook subscriptions")
	_, err = subscriptions.Run(b.Context(), time.Now())
	if err != nil { // it fills a cache
		b.Fatal(err)
	}
	subscriptions.Wait()
	return d
}

func (d *deciding) jobOf(name string) (found jobs.Job) {
	for _, m := range d.app.Modules {
		for _, job := range m.Jobs {
			if job.Name == name {
				found = job
			}
		}
	}
	return found
}

// take stores events of one kind as package ingest does, each of an alert of its own.
func (d *deciding) take(kind decidingKind, key string, n int) {
	d.Helper()
	var list []event.Event
	var bodies []string
	for i := range n {
		d.now = d.now.Add(1)
		e := event.Event{ID: id.Object(d.now), Integration: kind.source, AlertKey: fmt.Sprint(key, i), TitleRule: kind.title, Title: kind.title,
			Status: kind.status, Severity: kind.status, Labels: map[string]string{"host": fmt.Sprint("h", i%5)}, Time: d.now.Unix(), Received: d.now.UnixNano()}
		body, err := json.Marshal(e)
		if err != nil {
			d.Fatal(err)
		}
		list, bodies = append(list, e), append(bodies, string(body))
	}
	err := d.app.DB.Write(context.Background(), func(tx *db.Tx) error { return triage.Accept(tx, decidingID, list, bodies) })
	if err != nil {
		d.Fatal(err)
	}
	d.n = float64(n)
}

// decidingCost is what deciding took.
type decidingCost struct{ perSecond, statements, trips float64 }

// decide runs the job until no event waits, and returns what that took for each event.
func (d *deciding) decide() (cost decidingCost) {
	d.Helper()
	began := time.Now()
	var statements, trips int64
	if d.link != nil {
		statements, trips = d.link.Statements.Load(), d.link.Trips.Load()
	}
	for waiting := int64(1); waiting > 0; {
		if _, err := d.job.Run(context.Background(), time.Now()); err != nil {
			d.Fatal(err)
		}
		d.job.Wait()
		err := errors.Join(d.app.DB.Analyse(context.Background()), d.app.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
			waiting, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM event_waiting`)
			return err
		}))
		if err != nil {
			d.Fatal(err)
		}
	}
	cost.perSecond = d.n / time.Since(began).Seconds()
	if d.link != nil {
		cost.statements, cost.trips = float64(d.link.Statements.Load()-statements)/d.n, float64(d.link.Trips.Load()-trips)/d.n
	}
	return cost
}
