package escalation_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/untold"
	"tocsin/internal/incident"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// many is a server with 60 incidents that are escalated by a rule which pages Reader after a minute.
type many struct {
	*apitest.Server
	t     *testing.T
	bus   *activity.Bus
	ids   []string
	now   time.Time
	nodes []*escalation.Service
}

func beginMany(t *testing.T, nodes int) *many {
	m := &many{Server: begin(t), t: t, bus: &activity.Bus{}, now: apitest.Now}
	keyring, log := apitest.Box(t), slog.New(slog.DiscardHandler)
	for range nodes {
		notifier := notify.New(notify.Config{DB: m.DB, Bus: m.bus, Keyring: keyring, Clock: clock.At(m.now), Log: log,
			Can: func(string) bool { return true }})
		m.nodes = append(m.nodes, escalation.New(escalation.Service{DB: m.DB, Bus: m.bus, Keyring: keyring, Log: log, Notify: notifier,
			Untold: &untold.Service{DB: m.DB, Bus: m.bus, Log: log, Notify: notifier, Wake: jobs.NewSignal()}, Wake: jobs.NewSignal()}))
	}
	m.bus.SubscribeAll(m.nodes[0].Handle)
	m.Write(func(tx *db.Tx) error {
		w := incident.Writer{Tx: tx, Bus: m.bus, Account: apitest.AccountA, Now: m.now}
		for n := range 60 {
			i := incident.Incident{IncidentID: fmt.Sprintf("663a1b2c3d4e5f6789ab%04d", n), Title: "Disk", ChannelID: 1001, Severity: "Critical"}
			if err := w.Open(&i); err != nil {
				return err
			}
			m.ids = append(m.ids, i.IncidentID)
		}
		return nil
	})
	m.run(0) // it chooses the rules
	m.now = m.now.Add(time.Minute)
	return m
}

// run runs the job of a node once.
func (m *many) run(node int) {
	m.t.Helper()
	job := m.nodes[node].Job()
	if _, err := job.Run(context.Background(), m.now); err != nil {
		m.t.Fatal(err)
	}
	job.Wait()
}

// before makes a node do something between what it reads and what it writes, once.
func (m *many) before(node int, fn func()) {
	done := false
	m.nodes[node].Silences = func(context.Context, int64, time.Time) func(int64, string) (int64, sentence.Value, int64, error) {
		if !done {
			done = true
			fn()
		}
		return func(int64, string) (int64, sentence.Value, int64, error) { return 0, "", 0, nil }
	}
}

// paged returns the incidents of which Reader was notified, and how often.
func (m *many) paged() map[string]int {
	times := map[string]int{}
	m.Read(func(tx *db.Tx) error {
		all, err := db.All(tx, db.Column[string], `SELECT incident_id FROM notice WHERE cause = 'page' AND person_id = $1`, apitest.Reader)
		for _, id := range all {
			times[id]++
		}
		return err
	})
	return times
}

// pagedAllBut checks that Reader was notified once of all incidents but those.
func (m *many) pagedAllBut(others ...string) {
	m.t.Helper()
	times := m.paged()
	for _, id := range others {
		if times[id] != 0 {
			m.t.Errorf("Reader was notified of %s", id)
		}
	}
	for _, id := range m.ids {
		if times[id] > 1 {
			m.t.Errorf("Reader was notified of %s %d times", id, times[id])
		}
	}
	if want := len(m.ids) - len(others); len(times) != want {
		m.t.Errorf("Reader was notified of %d incidents, want %d", len(times), want)
	}
}

func TestIncidentAcknowledgedMeanwhileIsNotPaged(t *testing.T) {
	t.Parallel()
	m := beginMany(t, 1)
	m.before(0, func() {
		err := m.DB.WriteOf(context.Background(), apitest.AccountA, func(tx *db.Tx) error {
			w := incident.Writer{Tx: tx, Bus: m.bus, Account: apitest.AccountA, Now: m.now, Person: apitest.Reader}
			i, err := w.Get(m.ids[7])
			if err != nil {
				return err
			}
			return w.Ack(&i)
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	m.run(0)
	m.pagedAllBut(m.ids[7])
}

func TestCorruptEscalationBlocksNoOtherOfItsBatch(t *testing.T) {
	t.Parallel()
	for name, corrupt := range map[string]string{
		"rule":     `UPDATE escalation SET rule = 'not JSON' WHERE incident_id = $1`,
		"progress": `UPDATE escalation SET timing = 'not JSON' WHERE incident_id = $1`,
		"incident": `UPDATE incident SET body = 'not JSON' WHERE incident_id = $1`,
	} {
		t.Run(name, func(t *testing.T) {
			m := beginMany(t, 1)
			for _, n := range []int{0, 31} {
				m.Write(func(tx *db.Tx) error { return tx.Do(corrupt, m.ids[n]) })
			}
			m.run(0)
			m.pagedAllBut(m.ids[0], m.ids[31])
			m.Read(func(tx *db.Tx) error {
				n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM escalation WHERE ended = 'failing' AND next_at > $1`, m.now.Unix())
				if n != 2 {
					t.Errorf("%d escalations are tried again later", n)
				}
				return err
			})
		})
	}
}

// The last of a batch fails when all others are written: they are written again, once.
func TestFailedBatchStoresNothingTwice(t *testing.T) {
	t.Parallel()
	m := beginMany(t, 1)
	failing := m.ids[59]
	m.bus.Subscribe(func(_ *db.Tx, item activity.Item) error {
		if item.ID == failing {
			return fmt.Errorf("no event of %s", item.ID)
		}
		return nil
	})
	m.run(0)
	m.pagedAllBut(failing)
	m.Read(func(tx *db.Tx) error { // and no number of a feed is left out or comes twice
		n, _, err := db.One(tx, db.Column[int64],
			`SELECT count(*) FROM (SELECT 1 FROM feed GROUP BY ref_id HAVING max(feed_id) <> count(*)) AS gaps`)
		if n != 0 {
			t.Errorf("%d feeds have gaps", n)
		}
		return err
	})
}

func TestTwoNodesThatTakeBatchPageOnce(t *testing.T) {
	t.Parallel()
	m := beginMany(t, 2)
	m.before(0, func() { m.run(1) })
	m.run(0)
	m.pagedAllBut()
	m.Read(func(tx *db.Tx) error {
		n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM (SELECT 1 FROM feed WHERE type = 'i_assign' GROUP BY ref_id HAVING count(*) > 1) AS twice`)
		if n != 0 {
			t.Errorf("%d incidents were assigned twice", n)
		}
		return err
	})
}

// An account whose escalations another process advances is left to that one for a moment: else each process would prepare
// all of them.
func TestAccountIsLeftToProcessThatAdvancesIt(t *testing.T) {
	t.Parallel()
	m := beginMany(t, 2)
	m.before(0, func() { m.run(1) })
	m.run(0)
	m.pagedAllBut()
	again, err := m.nodes[0].Job().Run(t.Context(), m.now)
	if wait := again.Sub(m.now); err != nil || wait <= 0 || wait >= time.Second {
		t.Errorf("the job runs again after %s, want less than a second (%v)", wait, err)
	}
	asked := false
	m.before(0, func() { asked = true })
	m.Write(func(tx *db.Tx) error {
		return tx.Do(`UPDATE escalation SET next_at = $1, ended = '', done = 0`, m.now.Unix())
	})
	m.run(0)
	if asked {
		t.Error("the account was not left to the other process")
	}
	m.now = m.now.Add(time.Second)
	m.run(0)
	if !asked {
		t.Error("the account is left to the other process for more than a second")
	}
}
