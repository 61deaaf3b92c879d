package untold_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/untold"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/jobs"
)

// fallbacks is a service whose accounts' owners are reached by mail.
type fallbacks struct {
	*apitest.Server
	*untold.Service
	t   *testing.T
	bus *activity.Bus
}

// newFallbacks returns such a service. It calls asked about each incident, before the transaction that notifies the fallback.
func newFallbacks(t *testing.T, asked func(account int64, incident string)) *fallbacks {
	notifier := notify.New(notify.Config{Keyring: apitest.Box(t), Can: func(method string) bool { return method == "email" }})
	f := &fallbacks{t: t, bus: &activity.Bus{}}
	f.Service = untold.New(untold.Service{Notify: notifier, Bus: f.bus, Log: slog.New(slog.DiscardHandler), Wake: jobs.NewSignal(),
		Silences: func(_ context.Context, account int64, _ time.Time) func(int64, string) (int64, sentence.Value, int64, error) {
			return func(_ int64, incident string) (until int64, why sentence.Value, steps int64, err error) {
				asked(account, incident)
				return 0, "", 0, nil
			}
		}})
	f.Server = apitest.Start(t, f.Ops())
	f.Service.DB = f.Server.DB
	f.Exec(`UPDATE person SET email = 'owner@example.com'`)
	return f
}

// add opens Critical incidents that reach no person, and returns their ids.
func (f *fallbacks) add(account int64, n int) (ids []string) {
	f.Write(func(tx *db.Tx) error {
		for i := range n {
			one := incident.Incident{AccountID: account, IncidentID: fmt.Sprintf("%012x%012x", account, i), Title: "Checkout is down", Severity: event.Critical}
			if err := incident.Load(tx, account, []incident.Incident{one}); err != nil {
				return err
			}
			if err := f.Add(tx, &one, "the channel has no escalation rule", f.Clock.Now()); err != nil {
				return err
			}
			ids = append(ids, one.IncidentID)
		}
		return nil
	})
	return ids
}

// run runs the job until its rounds have ended.
func (f *fallbacks) run() {
	f.t.Helper()
	if _, err := f.Job().Run(f.t.Context(), f.Clock.Now()); err != nil {
		f.t.Error(err)
	}
	f.Job().Wait()
}

// notified returns how often the fallback was notified of each incident.
func (f *fallbacks) notified() map[string]int {
	all := map[string]int{}
	f.Read(func(tx *db.Tx) error {
		_, err := db.All(tx, func(scan db.Scan) (id string, err error) {
			err = scan(&id)
			all[id]++
			return id, err
		}, `SELECT incident_id FROM notice`)
		return err
	})
	return all
}

// An account whose rows take long does not hold up the fallback of another.
func TestSlowAccountHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	slow, told := make(chan struct{}), make(chan struct{})
	f := newFallbacks(t, func(account int64, _ string) {
		if account == apitest.AccountA {
			<-slow
		}
	})
	f.bus.Subscribe(func(tx *db.Tx, item activity.Item) error {
		if item.Account == apitest.AccountB {
			tx.OnCommit(func() { close(told) })
		}
		return nil
	})
	first, other := f.add(apitest.AccountA, 1)[0], f.add(apitest.AccountB, 1)[0]
	if _, err := f.Job().Run(t.Context(), f.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	<-told
	if all := f.notified(); all[first] != 0 || all[other] != 1 {
		t.Errorf("while an account is slow: %v", all)
	}
	close(slow)
	f.Job().Wait()
	if all := f.notified(); all[first] != 1 || all[other] != 1 {
		t.Errorf("afterwards: %v", all)
	}
}

// An incident that is acknowledged after it was read pages no one; the others of its batch do.
func TestWhatIsAcknowledgedMeanwhilePagesNoOne(t *testing.T) {
	t.Parallel()
	var f *fallbacks
	var ids []string
	f = newFallbacks(t, func(_ int64, incident string) {
		if incident == ids[1] {
			f.Exec(`UPDATE incident SET progress = 'Processing' WHERE incident_id = $1`, incident)
		}
	})
	ids = f.add(apitest.AccountA, 3)
	f.run()
	f.run()
	if all := f.notified(); all[ids[0]] != 1 || all[ids[1]] != 0 || all[ids[2]] != 1 {
		t.Errorf("%v", all)
	}
}

// Of a batch with an incident that cannot be read the fallback is notified of all others, once, and of that one when it can be read.
func TestOneThatFailsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	f := newFallbacks(t, func(int64, string) {})
	ids := f.add(apitest.AccountA, 7)
	var body string
	f.Read(func(tx *db.Tx) (err error) {
		body, _, err = db.One(tx, db.Column[string], `SELECT body FROM incident WHERE incident_id = $1`, ids[4])
		return err
	})
	f.Exec(`UPDATE incident SET body = '{' WHERE incident_id = $1`, ids[4])
	want := func(n int) {
		t.Helper()
		all := f.notified()
		for i, id := range ids {
			if i != 4 && all[id] != 1 || i == 4 && all[id] != n {
				t.Errorf("incident %d was notified of %d times", i, all[id])
			}
		}
	}
	f.run()
	want(0)
	f.Exec(`UPDATE incident SET body = $1 WHERE incident_id = $2`, body, ids[4])
	f.run()
	want(0)
	f.Exec(`UPDATE notice SET status = 'sent', settled_at = 1`)
	f.Clock.Add(time.Minute)
	f.run()
	want(1)
}

// Events that fail hold up no incident, and an incident that fails no events. Each is tried again later.
func TestEventsAndIncidentsHoldUpNoOther(t *testing.T) {
	t.Parallel()
	for name, when := range map[string]string{
		"events": "NEW.incident_id = '' AND NEW.told_key <> ''", "incidents": "NEW.incident_id <> '' AND NEW.told_key <> ''",
	} {
		t.Run(name, func(t *testing.T) {
			f := newFallbacks(t, func(int64, string) {})
			breaks := dbtest.Trigger{Name: "breaks", At: "BEFORE UPDATE ON untold", When: when}
			f.Write(breaks.Make)
			f.add(apitest.AccountA, 3)
			f.Write(func(tx *db.Tx) error {
				return f.Strays(tx, apitest.AccountA, []untold.Stray{{Why: sentence.New("no_route"),
					Event: event.Event{ID: "bbbbbbbbbbbbbbbbbbbbbbb1", Integration: 2001, AlertKey: "k", Title: "Disk is full", Severity: event.Critical}}},
					f.Clock.Now())
			})
			told := func(events, incidents int) {
				t.Helper()
				f.run()
				all := f.notified()
				if all[""] != events || len(all)-min(events, 1) != incidents {
					t.Errorf("notified of %v, want %d events and %d incidents", all, events, incidents)
				}
			}
			if name == "events" {
				told(0, 3)
			} else {
				told(1, 0)
			}
			f.Read(func(tx *db.Tx) error {
				due, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM untold WHERE next_at <= $1`, f.Clock.Now().Unix())
				if due > 0 {
					t.Errorf("%d rows are not tried again later, but at once", due)
				}
				return err
			})
			f.Write(breaks.Drop)
			f.Exec(`UPDATE notice SET status = 'sent', settled_at = 1`)
			f.Clock.Add(time.Minute)
			told(1, 3)
		})
	}
}

// What a failed transaction would have stored is stored by the next.
func TestNothingIsLostWhenTransactionFails(t *testing.T) {
	t.Parallel()
	f := newFallbacks(t, func(int64, string) {})
	fails := true
	f.bus.Subscribe(func(*db.Tx, activity.Item) error {
		if fails {
			return fmt.Errorf("not now")
		}
		return nil
	})
	ids := f.add(apitest.AccountA, 5)
	f.run()
	if all := f.notified(); len(all) != 0 {
		t.Errorf("%v", all)
	}
	fails = false
	f.Clock.Add(time.Minute)
	f.run()
	f.run()
	for _, id := range ids {
		if all := f.notified(); all[id] != 1 {
			t.Errorf("%v", all)
		}
	}
}

// The fallback is notified of each severity that an incident rises to, once, also after a choice has ended; not of a lower one.
func TestEachRiseIsToldOnce(t *testing.T) {
	t.Parallel()
	f := newFallbacks(t, func(int64, string) {})
	id := f.add(apitest.AccountA, 1)[0]
	f.run()
	one := incident.Incident{AccountID: apitest.AccountA, IncidentID: id, Severity: event.Critical}

	for _, c := range []struct {
		stored, state, severity string
		again                   bool
	}{
		{event.Critical, "fallback", event.Critical, false}, {event.Critical, "fallback", event.Warning, false},
		{event.Warning, "fallback", event.Critical, true}, {event.Info, "fallback", event.Warning, true}, {"", "unreached", event.Info, true},
		{event.Warning, "unreached", event.Warning, false}, {event.Critical, "by_choice", event.Info, true},
	} {
		f.Exec(`UPDATE untold SET severity = $1, state = $2, told_key = 'k', next_at = 0`, c.stored, c.state)
		one.Severity = c.severity
		f.Write(func(tx *db.Tx) error { return f.Add(tx, &one, "again", f.Clock.Now()) })
		f.Read(func(tx *db.Tx) error {
			state, _, err := db.One(tx, db.Column[string], `SELECT state FROM untold`)
			if again := state == "waiting"; again != c.again {
				t.Errorf("%+v: told again %v", c, again)
			}
			return err
		})
	}
}

// A Critical incident that the fallback does not know is first, whatever waits longer; one whose result is awaited is not.
func TestCriticalIsFirstOfCrowd(t *testing.T) {
	t.Parallel()
	var asked []string
	f := newFallbacks(t, func(_ int64, incident string) { asked = append(asked, incident) })
	ids := f.add(apitest.AccountA, 310)
	pending, last := ids[308], ids[309]
	f.Exec(`UPDATE untold SET severity = 'Warning', next_at = next_at - 60 WHERE ref_id NOT IN ($1, $2)`, pending, last)
	f.Exec(`UPDATE untold SET told_key = 'k' WHERE ref_id = $1`, pending)
	f.run()
	f.run()
	if len(asked) != 310 || asked[0] != last || asked[309] != pending {
		t.Errorf("of %d the Critical one is number %d, and that with a message %d", len(asked), slices.Index(asked, last), slices.Index(asked, pending))
	}
	if all := f.notified(); all[last] != 1 {
		t.Error("the fallback was not notified of the Critical incident")
	}
}
