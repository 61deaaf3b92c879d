package triage_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/core/event"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
)

const other = account + 1_000_000 // another account, with the same objects

// load imports an account file into the fixture's database.
func (r *fixture) load(text string) {
	r.t.Helper()
	f, err := accountfile.Read(strings.NewReader(text))
	if err == nil {
		err = accountfile.Import(context.Background(), r.DB, apitest.Box(r.t), f, start, false)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// otherFile is the file of another account; all its ids differ.
var otherFile = strings.NewReplacer("7000000000", "7000001000", "5e5e5e5e5e5e5e5e5e5e5e01", "5e5e5e5e5e5e5e5e5e5e5e02").Replace(file)

// once runs a change between deciding and storing, the first time only.
func (r *fixture) once(change func()) {
	done := false
	r.Between(func(int64) {
		if !done {
			done = true
			change()
		}
	})
}

func (r *fixture) runs() {
	r.t.Helper()
	for r.count(`SELECT count(*) FROM event_waiting`) > 0 {
		if err := r.run(); err != nil {
			r.t.Fatal(err)
		}
	}
}

// writer changes the incident of an alert key as a person would.
func (r *fixture) writer(key string, do func(incident.Writer, *incident.Incident) error) {
	r.t.Helper()
	err := r.DB.Write(context.Background(), func(tx *db.Tx) error {
		d := incident.Writer{Tx: tx, Bus: r.Bus, Account: account, Now: r.now, Person: person}
		id, found, err := db.One(tx, db.Column[string], `SELECT incident_id FROM alert WHERE account_id = $1 AND alert_key = $2 AND incident_id <> '' ORDER BY alert_id DESC LIMIT 1`, account, key)
		if err != nil || !found {
			return err
		}
		i, err := d.Get(id)
		if err != nil {
			return err
		}
		return do(d, &i)
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *fixture) wants(event, want string) {
	r.t.Helper()
	if got := strings.Join(r.outcomes(event), " "); got != want {
		r.t.Errorf("the event has %q, want %q", got, want)
	}
}

// An account whose decision hangs does not block the others.
func TestNoAccountWaitsForAnother(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.load(otherFile)
	stuck, free := make(chan struct{}), make(chan struct{})
	r.Between(func(id int64) {
		if id == account {
			close(stuck)
			<-free
		}
	})
	mine := r.take(sink, "t", "k", event.Critical, nil)
	task := r.Jobs()[0]
	if _, err := task.Run(t.Context(), r.now); err != nil {
		t.Fatal(err)
	}
	<-stuck
	r.exec(`INSERT INTO event_waiting (account_id, event_id, received_at) VALUES ($1, 'other', 1)`, other)
	r.exec(`INSERT INTO event (account_id, event_id, received_at, integration_id, body) VALUES ($1, 'other', 1, 0, $2)`, other,
		fmt.Sprintf(`{"event_id": "other", "integration_id": %d, "alert_key": "k", "title": "t", "event_status": "Critical", "event_severity": "Critical"}`, sink+1_000_000))
	if _, err := task.Run(t.Context(), r.now); err != nil {
		t.Fatal(err)
	}
	<-task.Signal.C() // the round of the other account has ended
	if n := r.count(`SELECT count(*) FROM verdict WHERE account_id = $1 AND outcome = 'opened'`, other); n != 1 {
		t.Errorf("%d incidents of the other account", n)
	}
	r.wants(mine, "")
	close(free)
	task.Wait()
	r.wants(mine, "opened")
}

// A rule over its budget counts as not matching. The verdict records it, and the account's owner is notified once.
func TestRuleOverItsBudgetDoesNotMatch(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	bus := &activity.Bus{}
	r.Notify = notify.New(notify.Config{DB: r.DB, Bus: bus, Keyring: apitest.Box(t), Clock: clock.System, Log: slog.New(slog.DiscardHandler), Can: func(string) bool { return true }})
	for n := range 10 { // each is allowed, all together are not: 990 instructions over 8,000 bytes
		r.exec(`INSERT INTO object (account_id, kind, id, parent, rank, name_folded, team_id, creator_id, created_at, updated_at, body)
			SELECT account_id, kind, $1, parent, rank + $2 + 1, name_folded, team_id, creator_id, created_at, updated_at, replace(replace(replace(body, '"noise"]', '"/[xy]{990}z/"]'), '"key":"title"', '"key":"labels.x"'), '5e5e5e5e5e5e5e5e5e5e5e01', $1)
			FROM object WHERE account_id = $3 AND kind = 'drop_rule' AND id = '5e5e5e5e5e5e5e5e5e5e5e01'`, fmt.Sprintf("5e5e5e5e5e5e5e5e5e5e60%02d", n), n, account)
	}
	if n := r.count(`SELECT count(*) FROM object WHERE kind = 'drop_rule' AND body LIKE '%990}z%' AND body LIKE '%labels.x%'`); n != 10 {
		t.Fatalf("%d rules were written", n)
	}
	r.exec(`UPDATE account SET revision = revision + 1`)
	long := map[string]string{"x": strings.Repeat("x", 7999) + "z"}
	first, second := r.take(sink, "t", "k", event.Critical, long), r.take(sink, "t", "l", event.Critical, long)
	r.runs()
	r.wants(first, "dropped") // by the first of them
	r.wants(second, "dropped")
	long["x"] = strings.Repeat("x", 8000)
	first, second = r.take(sink, "t", "m", event.Critical, long), r.take(sink, "t", "n", event.Critical, long)
	r.runs()
	r.wants(first, "opened")
	r.wants(second, "opened")
	if n := r.count(`SELECT count(*) FROM verdict WHERE trace LIKE '%"over_event"%'`); n != 2 {
		t.Errorf("%d verdicts record it", n)
	}
	if n := r.count(`SELECT count(*) FROM notice WHERE account_id = $1 AND person_id = $2 AND cause = 'slow_rule'`, account, person); n != 5 { // the last five rules, once each
		t.Errorf("the owner has %d notifications", n)
	}
}

// When rows change between deciding and storing, the event is decided again.
func TestChangesBeforeStoringAreSeen(t *testing.T) {
	t.Parallel()
	drop := func(r *fixture) {
		r.exec(`UPDATE object SET body = replace(body, '"noise"', '"t"') WHERE account_id = $1 AND kind = 'drop_rule'`, account)
		r.exec(`UPDATE account SET revision = revision + 1 WHERE account_id = $1`, account)
	}
	ack := func(r *fixture) {
		r.writer("k", func(d incident.Writer, i *incident.Incident) error { return d.Ack(i) })
	}
	resolve := func(r *fixture) {
		r.writer("k", func(d incident.Writer, i *incident.Incident) error { return d.Resolve(i, "", "") })
	}
	for name, c := range map[string]struct {
		change func(*fixture)
		want   string
	}{
		"a rule that matches":          {drop, "dropped"},
		"its incident is acknowledged": {ack, "grouped"},
		"its incident is resolved":     {resolve, "opened"},
		"its incident is removed": {func(r *fixture) {
			r.writer("k", func(d incident.Writer, i *incident.Incident) error { return d.Remove(i) })
		}, "opened"},
		"nothing": {func(*fixture) {}, "grouped"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newFixture(t)
			first := r.take(sink, "t", "k", event.Critical, nil)
			r.runs()
			r.wants(first, "opened")
			next := r.take(sink, "t", "k", event.Warning, nil)
			r.once(func() { c.change(r) })
			r.runs()
			r.wants(next, c.want)
		})
	}
}

// Actions of persons between deciding and storing have the same result as actions before the events: decisions are
// serializable. TOCSIN_TRIAGE_SEEDS sets how many runs the test makes.
func TestActionsWhileDecidingAreSerializable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(apitest.Setting(t, "TOCSIN_TRIAGE_SEEDS", 4)) {
		concurrent, serial := newFixture(t), newFixture(t)
		for name, r := range map[string]*fixture{"concurrent": concurrent, "serial": serial} {
			t.Log(name)
			script(r, seed, r == concurrent)
		}
		got, want := concurrent.story(), serial.story()
		if got != want {
			t.Fatalf("seed %d:\n%s\nwant\n%s", seed, got, want)
		}
	}
}

// script sends events and changes incidents, between deciding and storing or before.
func script(r *fixture, seed uint64, between bool) {
	rng := rand.New(rand.NewPCG(seed, 7))
	for range 12 {
		for range 1 + rng.IntN(6) {
			r.take(sink, []string{"t", "noise"}[rng.IntN(2)], fmt.Sprint("k", rng.IntN(3)), []string{event.Critical, event.Warning, event.Ok}[rng.IntN(3)], nil)
		}
		key := fmt.Sprint("k", rng.IntN(3))
		what := rng.IntN(5)
		target := fmt.Sprint("k", rng.IntN(3))
		change := func() {
			r.writer(key, func(d incident.Writer, i *incident.Incident) error {
				switch {
				case what == 0 && i.Progress == incident.Triggered:
					return d.Ack(i)
				case what == 1 && i.Progress != incident.Closed:
					return d.Resolve(i, "", "")
				case what == 2:
					return d.Remove(i)
				case what == 3:
					return mergeInto(d, i, target)
				case i.Progress == incident.Closed:
					return d.Reopen(i, "again")
				}
				return nil
			})
		}
		if between {
			r.once(change)
		} else {
			change()
		}
		r.runs()
		r.Between(nil)
		r.now = r.now.Add(7 * time.Minute)
	}
}

// mergeInto merges an incident into that of an alert key, if there is another that is open.
func mergeInto(d incident.Writer, i *incident.Incident, key string) error {
	id, found, err := db.One(d.Tx, db.Column[string], `SELECT incident_id FROM alert WHERE account_id = $1 AND alert_key = $2 AND incident_id <> '' ORDER BY alert_id DESC LIMIT 1`, account, key)
	if err != nil || !found || id == i.IncidentID || i.Progress == incident.Closed {
		return err
	}
	target, err := d.Get(id)
	if err != nil || target.Progress == incident.Closed {
		return err
	}
	return d.MergeInto(i, &target, false)
}

// story returns the final state of all alerts and incidents, without random ids.
func (r *fixture) story() string {
	r.t.Helper()
	var lines []string
	err := r.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		for _, query := range []string{
			`SELECT 'verdict ' || v.verdict_id || ' ' || v.outcome FROM verdict v WHERE account_id = $1 ORDER BY v.verdict_id`,
			`SELECT 'alert ' || alert_key || ' ' || alert_status || ' ' || start_time || ' ' || end_time || ' ' || event_cnt || ' ' || muted || ' ' || (incident_id <> '') FROM alert WHERE account_id = $1 ORDER BY alert_key, start_time, end_time, event_cnt, alert_status, muted`,
			`SELECT 'incident ' || title || ' ' || progress || ' ' || severity || ' ' || start_time || ' ' || alert_cnt FROM incident WHERE account_id = $1 ORDER BY start_time, title, progress, severity, alert_cnt`,
		} {
			more, err := db.All(tx, db.Column[string], query, account)
			if err != nil {
				return err
			}
			lines = append(lines, more...)
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
