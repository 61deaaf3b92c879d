package webhook_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/configstore"
	"tocsin/internal/engine/webhook"
	"tocsin/internal/incident"
	"tocsin/internal/integration"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/egress"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/secret"
)

// hooked is a service beside a server whose account A has webhooks.
type hooked struct {
	*apitest.Server
	*webhook.Service
	t       testing.TB
	keyring *secret.Keyring
	metrics *prometheus.Registry
}

func hook(t testing.TB, hooks ...integration.Integration) *hooked {
	t.Helper()
	h := &hooked{Server: apitest.Start(t), t: t, keyring: apitest.Box(t)}
	h.restart()
	h.Write(func(tx *db.Tx) error {
		if err := configstore.BumpRevision(tx, apitest.AccountA); err != nil {
			return err
		}
		return integration.Load(tx, h.keyring, apitest.AccountA, hooks)
	})
	return h
}

func (h *hooked) restart() {
	h.metrics = prometheus.NewRegistry()
	h.Service = webhook.New(webhook.Config{DB: h.Server.DB, Keyring: h.keyring, Clock: clock.At(apitest.Now), Log: slog.New(slog.DiscardHandler), Metrics: h.metrics,
		Out: egress.New(egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})})
}

var events = map[string]activity.Event{"i_new": activity.Opened{}, "i_ack": activity.Acknowledged{}, "i_rslv": activity.Resolved{}, "i_comm": activity.Commented{}}

// happen publishes an event of an incident.
func (h *hooked) happen(event, title string) {
	h.t.Helper()
	h.Write(func(tx *db.Tx) error {
		return h.Handle(tx, []activity.Item{{Account: apitest.AccountA, Event: events[event], ID: "5e5e5e5e5e5e5e5e5e5e5e01", At: apitest.Now,
			Subject: incident.Incident{IncidentID: "5e5e5e5e5e5e5e5e5e5e5e01", Title: title, Severity: "Info", Progress: "Triggered"}}})
	})
}

func subscriber(n int, s integration.Settings) integration.Integration {
	return integration.Integration{IntegrationID: int64(n), IntegrationName: fmt.Sprint("Hook ", n), IntegrationType: integration.WebhookIncident, Settings: &s}
}

// Subscriptions cost the writer nothing: one row is stored, whatever the number of subscribers and the size of their
// bodies.
func TestNothingIsMatchedInWriteTransaction(t *testing.T) {
	t.Parallel()
	var hooks []integration.Integration
	for n := range 50 {
		hooks = append(hooks, subscriber(n+1, integration.Settings{Endpoint: "https://example.com/", Body: strings.Repeat("{{incident}}", 2000)}))
	}
	h := hook(t, hooks...)
	h.happen("i_new", "T")
	if n := rows(t, h.Server, "webhook_message"); n != 0 {
		t.Errorf("%d messages were made in the transaction of the event", n)
	}
	if n := rows(t, h.Server, "webhook_event WHERE length(payload) < 4000"); n != 1 {
		t.Errorf("%d events are stored", n)
	}
	if err := h.Match(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n, left := rows(t, h.Server, "webhook_message"), rows(t, h.Server, "webhook_event"); n != 50 || left != 0 {
		t.Errorf("%d messages, %d events are left", n, left)
	}
}

// The events of one account wait for no other account's, however long those take.
func TestAccountsDoNotWaitForEachOthersEvents(t *testing.T) {
	t.Parallel()
	h := hook(t, subscriber(1, integration.Settings{Endpoint: "https://example.com/"}))
	h.Write(func(tx *db.Tx) error {
		if err := configstore.BumpRevision(tx, apitest.AccountB); err != nil {
			return err
		}
		return integration.Load(tx, h.keyring, apitest.AccountB, []integration.Integration{subscriber(2, integration.Settings{Endpoint: "https://example.com/"})})
	})
	for _, account := range []int64{apitest.AccountA, apitest.AccountB} {
		h.Write(func(tx *db.Tx) error {
			return h.Handle(tx, []activity.Item{{Account: account, Event: activity.Opened{}, ID: "5e5e5e5e5e5e5e5e5e5e5e01", At: apitest.Now,
				Subject: incident.Incident{IncidentID: "5e5e5e5e5e5e5e5e5e5e5e01", Title: "T", Severity: "Info", Progress: "Triggered"}}})
		})
	}
	came := map[int64]chan struct{}{apitest.AccountA: make(chan struct{}), apitest.AccountB: make(chan struct{})}
	h.Between(func(account int64) { // each goes on only once the other has come as far
		close(came[account])
		<-came[apitest.AccountA]
		<-came[apitest.AccountB]
	})
	if err := h.Match(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := rows(t, h.Server, "webhook_message"); n != 2 {
		t.Errorf("%d messages, want 2", n)
	}
}

// Each subscriber gets one message of each event that it matches, in the order of the events, even if the program stops
// or the database fails in between.
func TestEachSubscriberGetsEachEventOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(apitest.Setting(t, "TOCSIN_WEBHOOK_SEEDS", 2)) {
		random := rand.New(rand.NewPCG(seed, 2))
		types := []string{"i_new", "i_ack", "i_rslv", "i_comm"}
		var hooks []integration.Integration
		want := map[int64][]string{}
		for n := range 1 + random.IntN(12) {
			s := integration.Settings{Endpoint: "https://example.com/", Body: "{{incident.title}}" + strings.Repeat(" ", random.IntN(9000))}
			for _, event := range types {
				if random.IntN(2) == 0 {
					s.EventTypes = append(s.EventTypes, event)
				}
			}
			hooks = append(hooks, subscriber(n+1, s))
		}
		h := hook(t, hooks...)
		h.Write(func(tx *db.Tx) error {
			if _, err := tx.Exec(`CREATE TABLE broken (after BIGINT)`); err != nil {
				return err
			}
			return dbtest.Trigger{Name: "breaks", At: "BEFORE INSERT ON webhook_message", When: "NEW.number % 7 = (SELECT min(after) FROM broken)"}.Make(tx)
		})
		for n := range 200 {
			event := oneOf(random, types...)
			h.happen(event, fmt.Sprint(n))
			for _, i := range hooks {
				if len(i.Settings.EventTypes) == 0 || slices.Contains(i.Settings.EventTypes, event) {
					want[i.IntegrationID] = append(want[i.IntegrationID], fmt.Sprint(n))
				}
			}
			switch random.IntN(20) {
			case 0:
				h.restart()
			case 1:
				h.Match(context.Background()) // it may fail
			case 2:
				h.Write(func(tx *db.Tx) error { _, err := tx.Exec(`INSERT INTO broken VALUES ($1)`, random.IntN(7)); return err })
			case 3:
				h.Write(func(tx *db.Tx) error { _, err := tx.Exec(`DELETE FROM broken`); return err })
			}
		}
		h.Write(func(tx *db.Tx) error { _, err := tx.Exec(`DELETE FROM broken`); return err })
		if err := h.Match(context.Background()); err != nil {
			t.Fatal(err)
		}
		got := map[int64][]string{}
		err := h.Server.DB.Read(context.Background(), func(tx *db.Tx) error {
			_, err := db.All(tx, func(scan db.Scan) (struct{}, error) {
				var to int64
				var body string
				err := scan(&to, &body)
				got[to] = append(got[to], strings.Trim(body, ` "`))
				return struct{}{}, err
			}, `SELECT integration_id, payload FROM webhook_message ORDER BY integration_id, number`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range hooks {
			if !slices.Equal(got[i.IntegrationID], want[i.IntegrationID]) {
				t.Errorf("seed %d: %d got %q, want %q", seed, i.IntegrationID, got[i.IntegrationID], want[i.IntegrationID])
			}
		}
		if n := rows(t, h.Server, "webhook_event"); n != 0 {
			t.Errorf("seed %d: %d events are left", seed, n)
		}
	}
}

// An attempt whose record is rolled back is not counted: it is made again, and counted then.
func TestRolledBackAttemptsAreNotCounted(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer s.Close()
	h := hook(t, subscriber(1, integration.Settings{Endpoint: s.URL}))
	now := clock.At(apitest.Now)
	runner := jobs.New(now, slog.New(slog.DiscardHandler), nil)
	for _, j := range h.Service.Jobs() {
		runner.Add(j)
	}
	breaks := dbtest.Trigger{Name: "breaks", At: "BEFORE UPDATE OF failures ON webhook_endpoint"}
	h.Write(breaks.Make)
	h.happen("i_new", "T")
	for _, want := range []float64{0, 1} {
		if err := runner.Settle(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got, stored := h.counted("tocsin_webhook_attempts_total"), rows(t, h.Server, "webhook_delivery"); got != want || float64(stored) != want {
			t.Errorf("%v attempts are counted and %d stored, want %v", got, stored, want)
		}
		if want == 0 {
			h.Write(breaks.Drop)
		}
		now.Add(time.Minute)
	}
}

// counted adds up a counter.
func (h *hooked) counted(name string) (sum float64) {
	families, err := h.metrics.Gather()
	if err != nil {
		h.t.Fatal(err)
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
