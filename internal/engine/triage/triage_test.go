package triage_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/core/event"
	"tocsin/internal/engine/triage"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
	"tocsin/internal/platform/jobs"
)

const account, person, shop, sink, shared = 7000000000001, 7000000000011, 7000000000041, 7000000000051, 7000000000052

var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

var file = fmt.Sprintf(`{"format": "tocsin.account/1",
	"account": {"account_id": %d, "account_name": "Triage", "time_zone": "UTC", "owner_id": %d}, "persons": [{"person_id": %[2]d, "person_name": "Olga"}],
	"channels": [{"channel_id": %[3]d, "channel_name": "Shop", "flapping": {"is_disabled": true}}],
	"integrations": [{"integration_id": %[4]d, "integration_name": "a", "integration_type": "standard", "channel_id": %[3]d}, {"integration_id": %[5]d, "integration_name": "b", "integration_type": "standard"}],
	"routes": [{"integration_id": %[5]d, "cases": [{"if": [{"key": "labels.team", "oper": "IN", "vals": ["*"]}], "channel_ids": [], "fallthrough": false, "routing_mode": "name_mapping", "name_mapping_label": "team"}]}],
	"drop_rules": [{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e01", "channel_id": %[3]d, "rule_name": "noise", "filters": [[{"key": "title", "oper": "IN", "vals": ["noise"]}]]}]}`, account, person, shop, sink, shared)

// fixture is a triage service with a real database and one account.
type fixture struct {
	*triage.Service
	t    *testing.T
	now  time.Time
	n    int64         // events so far
	late time.Duration // of the job's clock
}

func newFixture(t *testing.T) *fixture { return newFixtureOf(t, file) }

func newFixtureOf(t *testing.T, text string) *fixture {
	r := &fixture{t: t, now: start}
	d := apitest.Start(t).DB
	r.Service = triage.New(triage.Config{DB: d, Bus: &activity.Bus{}, Log: slog.New(slog.DiscardHandler), Configs: triage.NewConfigs(d), Decide: jobs.NewSignal()})
	r.load(text)
	return r
}

func (r *fixture) exec(query string, args ...any) {
	r.t.Helper()
	err := r.DB.Write(context.Background(), func(tx *db.Tx) error { _, err := tx.Exec(query, args...); return err })
	if err != nil {
		r.t.Fatal(err)
	}
}

// take stores an event as package ingest does, and returns its id.
func (r *fixture) take(integration int64, title, key, status string, labels map[string]string) string {
	r.t.Helper()
	r.n++
	e := event.Event{ID: id.Object(r.now), Integration: integration, AlertKey: key, TitleRule: title, Title: title, Status: status, Severity: status, Labels: labels, Time: r.now.Unix(), Received: r.now.UnixNano() + r.n}
	body, _ := json.Marshal(e)
	if err := r.DB.Write(r.t.Context(), func(tx *db.Tx) error {
		return triage.Accept(tx, account, []event.Event{e}, []string{string(body)})
	}); err != nil {
		r.t.Fatal(err)
	}
	return e.ID
}

// store stores an event as an earlier program did.

func (r *fixture) store(event string, received int64, body string) {
	r.t.Helper()
	r.exec(`INSERT INTO event (account_id, event_id, received_at, integration_id, body) VALUES ($1, $2, $3, $4, $5)`, account, event, received, sink, body)
	r.exec(`INSERT INTO event_waiting (account_id, event_id, received_at) VALUES ($1, $2, $3)`, account, event, received)
}

// run runs the deciding job once and returns the errors of its rounds. After a failure its clock is moved on, so that the
// retry is due. Most tests ignore the error and check the result.
func (r *fixture) run() error {
	task := r.Jobs()[0]
	if _, err := task.Run(context.Background(), r.now.Add(r.late)); err != nil {
		return err
	}
	task.Wait()
	err := r.Failed()
	if err != nil {
		r.late += 2 * time.Second
	}
	return err
}

// outcomes returns the verdicts on an event, in order.
func (r *fixture) outcomes(event string) (all []string) {
	r.t.Helper()
	err := r.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		all, err = db.All(tx, db.Column[string], `SELECT outcome FROM verdict WHERE account_id = $1 AND event_id = $2 ORDER BY verdict_id`, account, event)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

func (r *fixture) count(query string, args ...any) (n int64) {
	r.t.Helper()
	err := r.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		n, _, err = db.One(tx, db.Column[int64], query, args...)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

// An event that cannot be decided fails for good after five attempts, whatever the cause, and does not block others.
func TestUndecidableEventsAreSetAside(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		events int
		bad    func(*fixture) string
	}{
		{"unreadable", 110, func(r *fixture) string {
			bad := id.Object(r.now)
			r.n++
			r.store(bad, r.now.UnixNano()+r.n, `{"integration_id": "not a number"}`)
			return bad
		}},
		{"refused by who listens", 30, func(r *fixture) string { return r.take(sink, "refuse", "bad", event.Critical, nil) }},
		{"panics", 30, func(r *fixture) string { return r.take(sink, "panic", "bad", event.Critical, nil) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newFixture(t)
			r.Bus.Subscribe(func(_ *db.Tx, item activity.Item) error {
				e, _ := item.Event.(activity.AlertDecided)
				switch e.Title {
				case "refuse":
					return fmt.Errorf("not with me")
				case "panic":
					panic("at the disco")
				}
				return nil
			})
			var good []string
			for n := range c.events {
				if n == 20 {
					good = append(good, c.bad(r))
				}
				good = append(good, r.take(sink, "t", fmt.Sprint("k", n), event.Critical, nil))
			}
			bad := good[20]
			good = slices.Delete(good, 20, 21)
			for n := int64(1); n <= 5; n++ {
				if err := r.run(); err == nil {
					t.Fatalf("attempt %d did not fail", n)
				}
				if attempts, waits := r.count(`SELECT coalesce(max(attempts), 0) FROM event_waiting WHERE event_id = $1`, bad), r.count(`SELECT count(*) FROM event_waiting WHERE event_id = $1`, bad); attempts != n%5 || (waits > 0) != (n < 5) {
					t.Fatalf("after attempt %d: %d attempts, %d wait", n, attempts, waits)
				}
				if n == 1 {
					for _, e := range good[:min(89, c.events)] { // as many as are decided one by one
						if got := r.outcomes(e); !slices.Equal(got, []string{"opened"}) {
							t.Fatalf("a good one has %v", got)
						}
					}
				}
			}
			if err := r.run(); err != nil {
				t.Errorf("after it was set aside: %v", err)
			}
			if got := r.outcomes(bad); !slices.Equal(got, []string{"failed"}) {
				t.Errorf("it has %v", got)
			}
			for _, e := range good {
				if got := r.outcomes(e); !slices.Equal(got, []string{"opened"}) {
					t.Fatalf("a good one has %v", got)
				}
			}
			if n := r.count(`SELECT count(*) FROM alert WHERE alert_key = 'bad'`); n != 0 {
				t.Errorf("%d alerts are left of it", n)
			}
		})
	}
}

// An error while looking up channels must not count as "no channel".
func TestLookupErrorsAreNotUnrouted(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	e := r.take(shared, "t", "k", event.Critical, map[string]string{"team": "Shop"})
	r.exec(`ALTER TABLE channel RENAME TO elsewhere`)
	for range 3 {
		if r.run() == nil {
			t.Fatal("it was decided without its channels")
		}
	}
	r.exec(`ALTER TABLE elsewhere RENAME TO channel`)
	if err := r.run(); err != nil {
		t.Fatal(err)
	}
	if got := r.outcomes(e); !slices.Equal(got, []string{"opened"}) {
		t.Errorf("it has %v", got)
	}
}

// Events are decided once, in the order in which they came, whatever the size of the batches.
func TestEventsAreDecidedInOrder(t *testing.T) {
	t.Parallel()
	const seed = 20261124
	rng := rand.New(rand.NewPCG(seed, 1))
	r := newFixture(t)
	open, last := map[string]string{}, int64(0)
	for range 15 {
		want, taken := []string{}, []string{}
		for range rng.IntN(60) {
			title := []string{"t", "u", "noise"}[rng.IntN(3)]
			key := fmt.Sprint("k", rng.IntN(5))
			status := []string{event.Critical, event.Warning, event.Ok}[rng.IntN(3)]
			taken = append(taken, r.take(sink, title, key, status, nil))
			before, isOpen := open[key]
			switch {
			case status == event.Ok && !isOpen:
				want = append(want, "unmatched")
			case status == event.Ok:
				want = append(want, "recovered")
				delete(open, key)
			case title == "noise":
				want = append(want, "dropped")
			case !isOpen:
				want = append(want, "opened")
				open[key] = title + status
			case before == title+status:
				want = append(want, "repeated")
			default:
				want = append(want, "grouped")
				open[key] = before[:1] + status // the title is that of the first event
			}
		}
		for r.count(`SELECT count(*) FROM event_waiting`) > 0 {
			if err := r.run(); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.run(); err != nil {
			t.Fatal(err)
		}
		for n, e := range taken {
			got := r.outcomes(e)
			if !slices.Equal(got, want[n:n+1]) {
				t.Fatalf("seed %d: event %d has %v, want %s", seed, n, got, want[n])
			}
			at := r.count(`SELECT verdict_id FROM verdict WHERE event_id = $1`, e)
			if at <= last {
				t.Fatalf("seed %d: event %d was decided as number %d, after %d", seed, n, at, last)
			}
			last = at
		}
		r.now = r.now.Add(time.Minute)
	}
}

// Decided events are deleted when their retention ends, exactly at that moment. Events that wait are never deleted.
func TestPrune(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	cached := []string{"opened", "dropped", "repeated", "unmatched"}
	for _, title := range []string{"t", "noise", "t"} {
		r.take(sink, title, "k", event.Critical, nil)
	}
	r.take(sink, "t", "nobody", event.Ok, nil)
	if err := r.run(); err != nil {
		t.Fatal(err)
	}
	waits := r.take(sink, "later", "w", event.Critical, nil)
	prune := func(fn func(*db.Tx, time.Time) (bool, error), before time.Time) (left []string) {
		t.Helper()
		var more bool
		err := r.DB.Write(context.Background(), func(tx *db.Tx) (err error) {
			more, err = fn(tx, before)
			if err == nil {
				left, err = db.All(tx, db.Column[string], `SELECT outcome FROM verdict ORDER BY verdict_id`)
			}
			return err
		})
		if err != nil || more {
			t.Fatal(err, more)
		}
		return left
	}
	for name, fn := range map[string]func(*db.Tx, time.Time) (bool, error){"all": triage.Prune, "dropped": triage.PruneDropped} {
		if left := prune(fn, r.now); len(left) != len(cached) {
			t.Errorf("%s: %v are left of those that are not older", name, left)
		}
	}
	if left := prune(triage.PruneDropped, r.now.Add(time.Millisecond)); !slices.Equal(left, []string{"opened"}) {
		t.Errorf("%v of the dropped events are left", left)
	}
	if left := prune(triage.Prune, r.now.Add(time.Millisecond)); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
	if n := r.count(`SELECT count(*) FROM event`); n != 1 || r.count(`SELECT count(*) FROM event WHERE event_id = $1`, waits) != 1 {
		t.Errorf("%d events are left, want the one that waits", n)
	}
}
