package monitor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/core/event"
	"tocsin/internal/datasource"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/engine/evaluator/remote"
	"tocsin/internal/platform/db"
	"tocsin/internal/querier"
)

// look runs the job that looks at edges, as often as it runs in a time.
func (e *edges) look(over time.Duration) {
	e.t.Helper()
	for _, j := range e.center.Module().Jobs {
		if j.Name != "edges that are lost" {
			continue
		}
		for range int(over / j.Interval) {
			e.Clock.Add(j.Interval)
			if _, err := j.Run(e.t.Context(), e.Clock.Now()); err != nil {
				e.t.Fatal(err)
			}
		}
	}
}

// own returns the events of alerts of Tocsin's own, as severity and title.
func (e *edges) own() (all []string) {
	e.t.Helper()
	e.Read(func(tx *db.Tx) error {
		bodies, err := db.All(tx, db.Column[string], `SELECT body FROM event ORDER BY event_id`)
		for _, text := range bodies {
			var one event.Event
			if err := json.Unmarshal([]byte(text), &one); err != nil {
				return err
			}
			all = append(all, one.Status+" "+one.Title)
		}
		return err
	})
	return all
}

// intoChannel lets the cluster's alert begin in a channel.
func (e *edges) intoChannel() {
	e.t.Helper()
	var ch struct {
		ChannelID int64 `json:"channel_id"`
	}
	e.do("/channel/create", fmt.Sprintf(`{"channel_name": "Platform", "team_id": %d}`, apitest.TeamA)).Into(&ch)
	e.do("/monit/edge/cluster/update", fmt.Sprintf(`{"cluster_name": "fra", "settings": {"enabled": true, "severity": "Warning", "lost_seconds": 120, "times": 1, "channel_id": %d}}`, ch.ChannelID))
}

// set changes settings of the cluster.
func (e *edges) set(more string) {
	e.t.Helper()
	var list struct {
		Items []struct {
			Name     string `json:"cluster_name"`
			Settings struct {
				ChannelID int64 `json:"channel_id"`
			}
		}
	}
	e.do("/monit/edge/cluster/list", `{}`).Into(&list)
	e.do("/monit/edge/cluster/update", fmt.Sprintf(`{"cluster_name": "fra", "settings": {"enabled": true, "severity": "Warning", "lost_seconds": 120,
		"channel_id": %d, %s}}`, list.Items[1].Settings.ChannelID, more))
}

// The alert of a lost cluster is sent three times within ten minutes, or as its settings have it, also over a restart.
func TestLostClusterIsSentAgain(t *testing.T) {
	t.Parallel()
	e := newEdges(t)
	e.intoChannel()
	e.set(`"times": 0`)
	e.join("fra-1").sync(nil)
	e.look(2*time.Minute + 10*time.Second)
	for _, each := range []struct {
		over time.Duration
		want int
	}{{4 * time.Minute, 1}, {2 * time.Minute, 2}, {5 * time.Minute, 3}, {time.Hour, 3}} {
		if e.look(each.over); len(e.own()) != each.want {
			t.Errorf("after %v: %q", each.over, e.own())
		}
	}
	e.center = e.start()
	e.look(30 * time.Minute)
	if all := e.own(); len(all) != 3 {
		t.Errorf("after a restart: %q", all)
	}
}

func TestEdgeThatDoesNotCountHidesNoLoss(t *testing.T) {
	t.Parallel()
	e := newEdges(t)
	e.intoChannel()
	e.set(`"times": 1, "exclude": ["*-trial"]`)
	e.join("fra-1").sync(nil)
	trial := e.join("fra-trial")
	for range 27 {
		trial.sync(nil)
		e.look(5 * time.Second)
	}
	if all := e.own(); len(all) != 1 || all[0] != "Warning The edges of cluster fra are lost but fra-trial" {
		t.Errorf("alerts %q", all)
	}
}

// A rule that is not known is hidden by the loss of its cluster, as a datasource is: neither is over, and the account's owner is
// notified of the cluster alone. The member reports it again.
func TestLostClusterHidesWhatIsUnknown(t *testing.T) {
	t.Parallel()
	e := newEdges(t)
	e.intoChannel()
	m := e.join("fra-1")
	m.sync(nil)
	w := m.watches[0]
	report := remote.SyncRequest{Member: m.Member, Report: evaluator.Report{Watches: []evaluator.WatchState{{
		Key: evaluator.Key{Rule: w.Rule, Datasource: w.Source}, Unknown: true, Kind: evaluate.BadQuery, Since: e.Clock.Now(),
	}}, Sources: []evaluator.SourceState{{ID: m.watches[1].Source, Lost: true, Kind: evaluate.Unreachable, Since: e.Clock.Now()}}}}
	rule, source := fmt.Sprintf("monit/rule/%d/%d", w.Rule, w.Source), fmt.Sprintf("monit/source/%d", m.watches[1].Source)
	m.must(remote.PathSync, report, nil)
	e.wantOwn(rule, source)
	e.look(125 * time.Second)
	e.wantOwn("monit/edges/fra")
	m.must(remote.PathSync, report, nil)
	e.look(5 * time.Second)
	e.wantOwn(rule, source)
	e.Read(func(tx *db.Tx) error {
		over, err := db.All(tx, db.Column[string], `SELECT notice_key FROM notice WHERE event = 'own_alert_over'`)
		if len(over) > 0 {
			t.Errorf("over: %q", over)
		}
		return err
	})
}

// wantOwn compares which alerts of Tocsin's own are open.
func (e *edges) wantOwn(keys ...string) {
	e.t.Helper()
	e.Read(func(tx *db.Tx) error {
		open, err := db.All(tx, db.Column[string], `SELECT alert_key FROM own_alert`)
		slices.Sort(keys)
		slices.Sort(open)
		if !slices.Equal(open, keys) {
			e.t.Errorf("open %q, want %q", open, keys)
		}
		return err
	})
}

func TestLostClusterHasOneAlert(t *testing.T) {
	t.Parallel()
	e := newEdges(t)
	e.intoChannel()
	m := e.join("fra-1")
	m.sync(nil)
	e.look(115 * time.Second)
	if all := e.own(); len(all) > 0 {
		t.Fatalf("too soon: %v", all)
	}
	e.look(10 * time.Second)
	want := "Warning The edges of cluster fra are lost: 2 rules on datasources do not see"
	if all := e.own(); len(all) != 1 || all[0] != want {
		t.Fatalf("alerts %q", all)
	}
	e.look(10 * time.Minute)
	if all := e.own(); len(all) != 1 {
		t.Fatalf("alerts %q", all)
	}
	m.sync(nil)
	e.look(5 * time.Second)
	if all := e.own(); len(all) != 2 || !strings.HasPrefix(all[1], "Ok ") {
		t.Errorf("alerts %q", all)
	}
}

// A process that starts has read no rules yet, and was in touch with no edge: it does not know that one is back.
func TestLostClusterStaysLostAfterRestart(t *testing.T) {
	t.Parallel()
	e := newEdges(t)
	e.intoChannel()
	e.join("fra-1").sync(nil)
	e.look(2*time.Minute + 10*time.Second)
	if all := e.own(); len(all) != 1 {
		t.Fatalf("alerts %q", all)
	}
	e.center = e.start()
	e.look(4 * time.Minute)
	if all := e.own(); len(all) != 1 {
		t.Errorf("alerts %q", all)
	}
}

// A server that starts, or was frozen, was in touch with no edge meanwhile: they are not lost.
func TestClusterIsNotLostAfterStandstill(t *testing.T) {
	t.Parallel()
	e := newEdges(t)
	m := e.join("fra-1")
	m.sync(nil)
	e.look(10 * time.Second)
	e.Clock.Add(time.Hour)
	e.look(115 * time.Second)
	e.Read(func(tx *db.Tx) error {
		n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM own_alert`)
		if n > 0 {
			t.Error("the cluster is lost")
		}
		return err
	})
}

func TestDatasourceIsAskedThroughEdge(t *testing.T) {
	t.Parallel()
	e := newEdges(t)
	source := datasource.Connection{ID: 2, Cluster: "fra", Datasource: querier.Datasource{Type: "prometheus", Name: "b", Address: "http://p:9090", Payload: []byte(`{"p": "hunter2"}`)}}
	ask := func(ctx context.Context) ([]evaluate.Row, *evaluate.Failure) {
		q, failed := e.center.Connect(ctx, apitest.AccountA, source)
		if failed != nil {
			return nil, failed
		}
		return q.Query(ctx, querier.Ask{Expr: "up", Limit: 10})
	}
	if _, failed := ask(t.Context()); failed == nil || failed.Message != "no edge of cluster fra is live" {
		t.Errorf("%+v", failed)
	}
	m := e.join("fra-1")
	done := make(chan string)
	go func() {
		rows, failed := ask(t.Context())
		done <- fmt.Sprint(rows, failed)
	}()
	var got remote.RequestsReply
	for len(got.Requests) == 0 { // each call is held until there are some
		m.must(remote.PathRequests, m.Member, &got)
	}
	var one remote.Request
	if err := remote.Unmarshal(got.Requests[0], &one); err != nil {
		t.Fatal(err)
	}
	if one.Kind != remote.KindQuery || one.Ask.Expr != "up" || one.Ask.Limit != 10 {
		t.Errorf("asked %+v", one)
	}
	e.Read(func(tx *db.Tx) error {
		n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM edge_request WHERE body LIKE '%hunter2%'`)
		if n > 0 {
			t.Error("a secret is stored in clear")
		}
		return err
	})
	answer := remote.AnswerRequest{Member: m.Member, ID: one.ID, Rows: []evaluate.Row{{Labels: map[string]string{"job": "x"}, Values: evaluate.Values{{Number: 1}}}}}
	stranger := e.join("fra-2")
	answer.Member = stranger.Member
	stranger.must(remote.PathAnswer, answer, nil) // it was not asked
	answer.Member = m.Member
	m.must(remote.PathAnswer, answer, nil)
	if text := <-done; text != "[{map[job:x] map[:1] map[]}] <nil>" {
		t.Error(text)
	}
	left, cancel := context.WithCancel(t.Context())
	cancel()
	if _, failed := ask(left); failed == nil {
		t.Error("a caller that left has an answer")
	}
	source.Type = "mysql"
	if _, failed := ask(t.Context()); failed == nil || failed.Kind != evaluate.Unsupported {
		t.Errorf("%+v", failed)
	}
	source.Type = "prometheus"
	e.Exec(fmt.Sprintf(`INSERT INTO edge_request SELECT %d, CAST(value AS TEXT), '', '', %d, false, '', '' FROM (SELECT 1 AS value UNION SELECT 2 UNION SELECT 3
		UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9 UNION SELECT 10) AS n`, apitest.AccountA, e.Clock.Now().UnixMilli()))
	if _, failed := ask(t.Context()); failed == nil || !strings.Contains(failed.Message, "10 queries") {
		t.Errorf("%+v", failed)
	}
}

// What a member reports of its watches and datasources is stored with the names of the server.
func TestEdgeReportsWhatIsUnknown(t *testing.T) {
	t.Parallel()
	m := newEdges(t).join("fra-1")
	m.sync(nil)
	w := m.watches[0]
	in := remote.SyncRequest{Member: m.Member, Report: evaluator.Report{Watches: []evaluator.WatchState{{
		Key: evaluator.Key{Rule: w.Rule, Datasource: w.Source}, Rule: "invented", Unknown: true, Lost: true, Kind: "own", Message: strings.Repeat("x", 9999),
		Since: m.Clock.Now().Add(time.Hour),
	}}}}
	m.must(remote.PathSync, in, nil)
	m.Read(func(tx *db.Tx) error {
		var since int64
		body := ""
		_, _, err := db.One(tx, func(scan db.Scan) (struct{}, error) { return struct{}{}, scan(&since, &body) }, `SELECT since, body FROM rule_watch`)
		if since != m.Clock.Now().UnixMilli() || !strings.Contains(body, `"kind":"invalid"`) || len(body) > 600 {
			t.Errorf("stored since %d: %s", since, body)
		}
		return err
	})
}
