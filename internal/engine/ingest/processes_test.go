package ingest

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/configstore"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// beats is a service whose job is run by hand, with one heartbeat of a minute.
type beats struct {
	*testing.T
	*apitest.Server
	service *Service
	i       integration.Integration
}

func newBeats(t *testing.T) *beats {
	s := apitest.Start(t)
	b := &beats{T: t, Server: s, service: New(Config{DB: s.DB, Log: slog.New(slog.DiscardHandler), Decide: jobs.NewSignal()})}
	b.i = integration.Integration{AccountID: apitest.AccountA, IntegrationID: 5, IntegrationName: "Backup",
		IntegrationType: integration.Heartbeat, Settings: &integration.Settings{IntervalSeconds: 60}}
	b.looks(apitest.Now.Add(-time.Hour)) // no grace
	b.service.awake = apitest.Now.Add(-time.Hour)
	return b
}

// store replaces the integration, without a word to the job.
func (b *beats) store(status string, interval int64) {
	b.i.Status, b.i.Settings.IntervalSeconds = status, interval
	b.Write(func(tx *db.Tx) error {
		if _, err := tx.Exec(`DELETE FROM object WHERE account_id = $1 AND kind = 'integration' AND id = '5'`, b.i.AccountID); err != nil {
			return err
		}
		if _, err := integration.Kind.Insert(tx, b.i.AccountID, &b.i); err != nil {
			return err
		}
		return configstore.BumpRevision(tx, b.i.AccountID)
	})
}

func (b *beats) beats(at time.Time) {
	b.Write(func(tx *db.Tx) error { return beat(tx, b.i, at.Unix()) })
}

func (b *beats) looks(at time.Time) {
	b.service.looked = at
	if _, err := b.service.watch(b.Context(), at); err != nil {
		b.Fatal(err)
	}
}

// is returns the row.
func (b *beats) is() (row string) {
	b.Read(func(tx *db.Tx) error {
		h, found, err := db.One(tx, scanHeartbeat, `SELECT `+heartbeatColumns+` FROM heartbeat WHERE account_id = $1`, b.i.AccountID)
		since := func(at int64) int64 {
			if at <= unknown {
				return at
			}
			return at - apitest.Now.Unix()
		}
		row = fmt.Sprintf("last %d missed %t due %d", since(h.last), h.missed, since(h.due))
		if !found {
			row = "none"
		}
		return err
	})
	return row
}

// A heartbeat that is new to the job does not overwrite what another process has stored since: a later beat, or that it is
// missed.
func TestNewHeartbeatIsNotOverwritten(t *testing.T) {
	t.Parallel()
	b := newBeats(t)
	b.store("enabled", 60)
	b.beats(apitest.Now.Add(20 * time.Second))
	b.Exec(`UPDATE heartbeat SET missed = TRUE WHERE account_id = $1`, b.i.AccountID)
	b.looks(apitest.Now)
	if is := b.is(); is != "last 20 missed true due 81" {
		t.Error(is)
	}
}

// The row follows the integration: a shorter interval counts from the last beat, also if that beat came between the change
// and the job; a heartbeat that is disabled raises no alert, also when the job has not seen that yet.
func TestHeartbeatFollowsItsIntegration(t *testing.T) {
	t.Parallel()
	b := newBeats(t)
	at := func(seconds int64) time.Time { return apitest.Now.Add(time.Duration(seconds) * time.Second) }
	for n, step := range []struct {
		do   func()
		want string
	}{
		{func() { b.store("enabled", 86400); b.looks(at(0)) }, "last 0 missed false due 86401"},
		{func() { b.store("enabled", 60); b.beats(at(10)) }, "last 10 missed false due 86411"},
		{func() { b.looks(at(11)) }, "last 10 missed false due 71"},
		{func() { b.looks(at(70)) }, "last 10 missed false due 71"},
		{func() { b.store("disabled", 60); b.raises(at(71)) }, "last 10 missed false due 0"},
		{func() { b.beats(at(80)); b.looks(at(90)) }, "last 80 missed false due 0"},
		{func() { b.store("enabled", 60); b.looks(at(91)) }, "last 80 missed false due 141"},
		{func() { b.looks(at(141)) }, "last 80 missed true due 141"},
		{func() { b.beats(at(150)) }, "last 150 missed false due 211"},
	} {
		if step.do(); b.is() != step.want {
			t.Fatalf("step %d: %s, want %s", n+1, b.is(), step.want)
		}
	}
}

func (b *beats) raises(at time.Time) {
	if err := b.service.raise(b.Context(), late{b.i.AccountID, b.i.IntegrationID}, at); err != nil {
		b.Fatal(err)
	}
}

// An earlier program beside this one knows no due times: it leaves them as they were. Its rows are looked at too early, and
// never too late.
func TestHeartbeatsOfEarlierProgram(t *testing.T) {
	t.Parallel()
	b := newBeats(t)
	b.store("enabled", 60)
	old := func(at int64) {
		b.Exec(`INSERT INTO heartbeat (account_id, integration_id, last_at, missed) VALUES ($1, $2, $3, $4)
			ON CONFLICT (account_id, integration_id) DO UPDATE SET last_at = excluded.last_at, missed = excluded.missed`,
			b.i.AccountID, b.i.IntegrationID, apitest.Now.Unix()+at, false)
	}
	want := func(step, want string) {
		t.Helper()
		if is := b.is(); is != want {
			t.Fatalf("%s: %s, want %s", step, is, want)
		}
	}
	old(0)
	b.Exec(`UPDATE account SET revision_heartbeat = revision`)
	want("the first beat", "last 0 missed false due 1")
	b.looks(apitest.Now.Add(time.Second))
	want("seen", "last 0 missed false due 61")
	old(50)
	b.looks(apitest.Now.Add(61 * time.Second))
	want("beaten", "last 50 missed false due 111")
	b.looks(apitest.Now.Add(111 * time.Second))
	want("missed", "last 50 missed true due 111")
	old(120)
	b.looks(apitest.Now.Add(121 * time.Second))
	want("back", "last 120 missed false due 181")
	b.looks(apitest.Now.Add(181 * time.Second))
	want("missed again", "last 120 missed true due 181")
}
