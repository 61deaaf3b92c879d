package monitor_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"tocsin/internal/alertrule"
	"tocsin/internal/api/apitest"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/engine/monitor"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/node"
	"tocsin/internal/platform/secret"
)

// sending is a center with the watch of one rule.
type sending struct {
	*apitest.Server
	t      *testing.T
	center *monitor.Service
	watch  evaluator.Watch
	epoch  int64
}

func newSending(t *testing.T) *sending {
	t.Helper()
	keyring, err := secret.Open(filepath.Join(t.TempDir(), "keys"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s := apitest.Start(t, alertrule.New(alertrule.Config{}).Ops(), (&datasource.Service{Keyring: keyring}).Ops())
	d := s.Again()
	m := monitor.New(monitor.Config{
		DB: d, Keyring: keyring, Clock: s.Clock, Log: slog.New(slog.DiscardHandler), Decide: jobs.NewSignal(),
		Nodes: node.New(node.Config{DB: d, Clock: s.Clock, SealKeys: func() []string { return nil }, Offset: func() time.Duration { return 0 }}),
	})
	s.Call(apitest.KeyA, "/monit/datasource/create",
		`{"type_ident": "prometheus", "name": "Prometheus", "address": "http://p:9090", "edge_cluster_name": "default", "payload": {"prometheus": {}}}`).Into(new(any))
	s.Call(apitest.KeyA, "/monit/rule/create", `{"name": "Disk", "ds_type": "prometheus", "ds_list": ["*"], "cron_pattern": "@every 30s",
		"rule_configs": {"queries": [{"name": "A", "expr": "disk"}], "check_threshold": {"enabled": true, "critical": "$A > 95"}}}`).Into(new(any))
	orders, err := m.Sync(t.Context(), evaluator.Report{At: s.Clock.Now()})
	if err != nil || len(orders.Slots) != 256 {
		t.Fatal(len(orders.Slots), err)
	}
	watches, err := m.Watches(t.Context(), apitest.AccountA)
	if err != nil || len(watches) != 1 {
		t.Fatal(len(watches), err)
	}
	return &sending{s, t, m, watches[0], orders.Slots[watches[0].Slot]}
}

// send sends transitions of one host each.
func (s *sending) send(epoch int64, to evaluate.To, hosts ...string) evaluator.Taken {
	s.t.Helper()
	b := evaluator.Batch{Watch: &s.watch, Epoch: epoch, AsOf: s.Clock.Now()}
	for _, host := range hosts {
		labels := map[string]string{"host": host}
		b.Transitions = append(b.Transitions, evaluate.Transition{Check: "threshold", Query: "A", Key: evaluate.Key(labels), Labels: labels,
			At: s.Clock.Now(), Since: s.Clock.Now(), To: to, Severity: "Critical"})
	}
	taken, err := s.center.Send(s.t.Context(), b)
	if err != nil {
		s.t.Fatal(err)
	}
	return taken
}

// want compares how many instances are open, and how many transitions and events are stored.
func (s *sending) want(open, transitions, events int64) {
	s.t.Helper()
	var got []int64
	s.Read(func(tx *db.Tx) (err error) {
		got, err = db.All(tx, db.Column[int64], `SELECT count(*) FROM rule_instance UNION ALL SELECT count(*) FROM rule_transition UNION ALL SELECT count(*) FROM event`)
		return err
	})
	if want := []int64{open, transitions, events}; fmt.Sprint(got) != fmt.Sprint(want) {
		s.t.Errorf("open, transitions and events are %v, want %v", got, want)
	}
}

func TestSendStoresEachTransitionOnce(t *testing.T) {
	t.Parallel()
	s := newSending(t)
	s.send(s.epoch, evaluate.Recovered, "web1")
	s.want(0, 0, 0)
	s.send(s.epoch, evaluate.Begin, "web1", "web2")
	s.want(2, 2, 2)
	s.send(s.epoch, evaluate.Begin, "web1", "web2", "web3")
	s.want(3, 3, 3)
	s.send(s.epoch, evaluate.Repeat, "web1", "web9")
	s.want(3, 3, 4)
	s.send(s.epoch, evaluate.Recovered, "web1")
	s.send(s.epoch, evaluate.Gone, "web1", "web2")
	s.want(1, 5, 6)
}

func TestSendOfOldEpochIsRefused(t *testing.T) {
	t.Parallel()
	s := newSending(t)
	s.send(s.epoch, evaluate.Begin, "web1")
	if taken := s.send(s.epoch-1, evaluate.Recovered, "web1"); !taken.Fenced {
		t.Error("an old epoch was taken")
	}
	s.want(1, 1, 1)
	s.Exec(`UPDATE node_slot SET epoch = epoch + 1, node_id = 'other'`)
	if taken := s.send(s.epoch, evaluate.Recovered, "web1"); !taken.Fenced {
		t.Error("what another process has was taken")
	}
	s.want(1, 1, 1)
	if err := s.center.Save(t.Context(), apitest.AccountA, []evaluator.Saved{{Key: s.watch.Key, Slot: s.watch.Slot, Epoch: s.epoch, State: "old"}}); err != nil {
		t.Fatal(err)
	}
	stored, err := s.center.State(t.Context(), apitest.AccountA, []evaluator.Key{s.watch.Key})
	if one := stored[s.watch.Key]; err != nil || one.State != "" || len(one.Open) != 1 {
		t.Errorf("stored %+v, %v", one, err)
	}
}

func TestSendOfRuleThatIsNotEvaluatedIsRefused(t *testing.T) {
	t.Parallel()
	for _, change := range []string{`UPDATE alert_rule SET enabled = false`, `DELETE FROM alert_rule`, `UPDATE datasource SET enabled = false`,
		`UPDATE datasource SET type_ident = 'loki'`, `DELETE FROM datasource`} {
		s := newSending(t)
		s.Exec(change)
		if taken := s.send(s.epoch, evaluate.Begin, "web1"); !taken.Gone {
			t.Errorf("%s: taken", change)
		}
		s.want(0, 0, 0)
	}
}

func TestManyInstancesBeginTogether(t *testing.T) {
	t.Parallel()
	s := newSending(t)
	hosts := make([]string, 1001)
	for i := range hosts {
		hosts[i] = fmt.Sprint("web", i)
	}
	s.send(s.epoch, evaluate.Begin, hosts...)
	s.want(1001, 1001, 1001)
}
