package monitor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/engine/evaluator/remote"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/egress"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/moved"
	"tocsin/internal/querier"
)

// disk is a datasource with one series.
type disk struct {
	answers
	used atomic.Int64
	new  atomic.Bool // the member does not know how to ask it
}

func (d *disk) Query(context.Context, querier.Ask) ([]evaluate.Row, *evaluate.Failure) {
	if d.new.Load() {
		return nil, &evaluate.Failure{Kind: evaluate.Unsupported, Message: "this edge does not know such queries"}
	}
	return []evaluate.Row{{Labels: map[string]string{"host": "web1"}, Values: evaluate.Values{{Number: float64(d.used.Load())}}}}, nil
}

// running is a member as tocsin edge runs it, which calls its server over HTTP.
type running struct {
	*edges
	job     jobs.Job
	now     *clock.Corrected
	url     string
	disk    disk
	fail    atomic.Pointer[http.HandlerFunc] // answers instead of the server
	dir     string
	stopped error
}

func (e *edges) run() *running {
	e.t.Helper()
	m := &running{edges: e, dir: e.t.TempDir()}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if fail := m.fail.Load(); fail != nil {
			(*fail)(w, q)
			return
		}
		e.handler.ServeHTTP(w, q)
	}))
	e.t.Cleanup(s.Close)
	m.url = s.URL
	m.start(0)
	return m
}

// ahead is the clock of a machine that is wrong by so much.
type ahead struct {
	clock.Clock
	off time.Duration
}

func (a ahead) Now() time.Time { return a.Clock.Now().Add(a.off) }

// start goes on with a new process, on a machine whose clock is wrong by so much.
func (m *running) start(off time.Duration) {
	e, log := m.edges, slog.New(slog.DiscardHandler)
	m.now = clock.Correct(ahead{e.Clock, off})
	c, err := remote.New(remote.Config{
		Server: m.url, Key: e.key, Dir: m.dir, Name: "fra-1", Types: []string{"prometheus"}, StaleConfig: time.Hour, Timeout: 500 * time.Millisecond,
		Clock: m.now, Machine: e.Clock, Log: log, Stop: func(err error) { m.stopped = err },
		Out: egress.New(egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}),
	})
	if err != nil {
		e.t.Fatal(err)
	}
	m.job = evaluator.New(evaluator.Config{
		Center: c, Clock: m.now, Log: log, Wake: jobs.NewSignal(), Journal: c.Journal,
		Open: func(querier.Datasource) (querier.Querier, *evaluate.Failure) { return &m.disk, nil },
	}).Evaluating()
}

// pass lets time pass, and evaluates on the way.
func (m *running) pass(d time.Duration) {
	m.t.Helper()
	for end := m.Clock.Now().Add(d); m.Clock.Now().Before(end); m.Clock.Add(time.Second) {
		if _, err := m.job.Run(m.t.Context(), m.now.Now()); err != nil {
			m.t.Fatal(err)
		}
		m.job.Wait()
	}
}

// wantState compares the state of the rule, in its list and by itself, and that of its first watch of the cluster.
func (e *edges) wantState(rule int, runtime, watch, reason string) {
	e.t.Helper()
	type watchOf struct {
		Name   string `json:"ds_name"`
		State  string
		Reason string
	}
	var one struct {
		State   string `json:"runtime_state"`
		Watches []watchOf
	}
	e.do("/monit/rule/state", fmt.Sprintf(`{"id": %d}`, rule)).Into(&one)
	var list []struct {
		ID    int
		State string `json:"runtime_state"`
	}
	e.do("/monit/rule/list/basic", `{"folder_id": 0}`).Into(&list)
	listed := ""
	for _, item := range list {
		if item.ID == rule {
			listed = item.State
		}
	}
	at := slices.IndexFunc(one.Watches, func(w watchOf) bool { return w.Name != "a" }) // which the server evaluates
	if one.State != runtime || listed != runtime || one.Watches[at].State != watch || !strings.HasPrefix(one.Watches[at].Reason, reason) {
		e.t.Errorf("listed as %s, state %+v, want %s", listed, one, runtime)
	}
}

func TestStatesFollowMembers(t *testing.T) {
	t.Parallel()
	e := newEdges(t)
	e.wantState(1, "offline", "unknown", "no edge of cluster fra is live")
	m := e.run()
	m.pass(time.Second)
	e.wantState(1, "config_pending", "known", "")
	m.pass(10 * time.Second)
	e.wantState(1, "normal", "known", "")
	e.do("/monit/rule/update/fields", `{"ids": [1], "fields": ["labels"], "labels": {"team": "a"}}`)
	e.wantState(1, "config_pending", "known", "")
	m.pass(11 * time.Second)
	e.wantState(1, "normal", "known", "")
	e.do("/monit/datasource/create", `{"type_ident": "mysql", "name": "shop", "address": "db:3306", "edge_cluster_name": "fra", "payload": {"mysql": {"username": "u", "password": "p"}}}`)
	e.do("/monit/rule/create", `{"name": "Orders", "ds_type": "mysql", "ds_list": ["*"], "cron_pattern": "@every 30s",
		"rule_configs": {"queries": [{"name": "A", "expr": "SELECT 1"}], "check_anydata": {"enabled": true, "severity": "Info"}}}`)
	m.pass(11 * time.Second)
	e.wantState(2, "unsupported", "unknown", "no edge of cluster fra can ask datasources of type mysql")
	e.wantState(1, "normal", "known", "")
	m.disk.new.Store(true)
	m.pass(3 * time.Minute)
	e.wantState(1, "unsupported", "unknown", "this edge does not know such queries")
	m.Clock.Add(20 * time.Second)
	e.wantState(1, "offline", "unknown", "no edge of cluster fra is live; the last, fra-1, was seen")
}

// A member that its server does not answer, however it fails, evaluates on, keeps what it finds, and sends it afterwards.
func TestMemberGoesOnWhileServerFails(t *testing.T) {
	t.Parallel()
	e := newEdges(t)
	m := e.run()
	m.disk.used.Store(10)
	m.pass(45 * time.Second)
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			fmt.Fprint(w, "<html>of a proxy</html>")
		}
	}
	held := ""
	e.center.Held = func() string { return held }
	events := int64(0)
	for name, fail := range map[string]http.HandlerFunc{
		"held": nil, "502": status(502), "503": status(503), "504": status(504),
		"no answer": func(_ http.ResponseWriter, q *http.Request) {
			_, _ = io.Copy(io.Discard, q.Body) // else the end of the call is not seen
			<-q.Context().Done()
		},
	} {
		m.disk.used.Store(97)
		if name == "held" {
			held = "it was restored"
		} else {
			m.fail.Store(&fail)
		}
		m.pass(45 * time.Second)
		e.want(0, events, events)
		held = ""
		e.wantState(1, "offline", "unknown", "no edge of cluster fra is live; the last")
		m.fail.Store(nil)
		m.pass(10 * time.Second)
		e.want(2, events+2, events+2) // on two datasources
		e.wantState(1, "normal", "known", "")
		m.disk.used.Store(10)
		m.pass(45 * time.Second)
		events += 4
		e.want(0, events, events)
		if m.stopped != nil {
			t.Fatalf("%s: %v", name, m.stopped)
		}
	}
	e.Exec(`UPDATE edge_key SET status = 'disabled'`)
	m.pass(6 * time.Second)
	if m.stopped == nil || !strings.Contains(m.stopped.Error(), "does not accept the key") {
		t.Errorf("stopped: %v", m.stopped)
	}
	for _, name := range []string{"member", "watches"} {
		if _, err := os.Stat(filepath.Join(m.dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A member that starts with a wrong clock while its server is away writes no untrue moment into the history: not when it learns of it,
// nor when the clock is set right before, and the process starts again.
func TestWrongClockWritesNoUntrueMoment(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{2 * time.Minute, -2 * time.Minute} {
		for _, again := range []bool{false, true} {
			e := newEdges(t)
			m := e.run()
			m.disk.used.Store(97)
			m.pass(45 * time.Second)
			e.want(2, 2, 2)
			fail := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
			m.fail.Store(&fail)
			m.start(off)
			var over time.Time
			for _, used := range []int64{10, 97, 10} {
				over = m.Clock.Now()
				m.disk.used.Store(used)
				m.pass(40 * time.Second)
			}
			if again {
				m.start(0)
				m.pass(10 * time.Second)
			}
			m.fail.Store(nil)
			m.pass(time.Minute)
			e.want(0, 4, 4)
			var ends []int64
			e.Read(func(tx *db.Tx) (err error) {
				ends, err = db.All(tx, db.Column[int64], `SELECT at FROM rule_transition WHERE account_id = $1 AND change = 'recovered'`, apitest.AccountA)
				return err
			})
			for _, at := range ends {
				if at < over.UnixMilli() || at > m.Clock.Now().UnixMilli() {
					t.Errorf("%s: an end is stored of %s, and it was at %s", off, time.UnixMilli(at), over)
				}
			}
		}
	}
}

// The key of an account that was moved is answered with the new address; a stranger is answered as always.
func TestEdgeOfMovedAccountIsNamedItsServer(t *testing.T) {
	t.Parallel()
	e := newEdges(t)
	e.Write(func(tx *db.Tx) error {
		hash, _, err := db.One(tx, db.Column[string], `SELECT key_hash FROM edge_key`)
		if err != nil {
			return err
		}
		return moved.Save(tx, moved.Account{ID: apitest.AccountA, Address: "https://two.example.com", At: 1}, []string{hash})
	})
	e.Exec(`DELETE FROM edge_key`)
	for key, want := range map[string]string{e.key: "503 https://two.example.com", "ek_other": "401 "} {
		q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, remote.PathSync, strings.NewReader("{}"))
		q.Header.Set("Authorization", "Bearer "+key)
		w := httptest.NewRecorder()
		e.handler.ServeHTTP(w, q)
		if got := fmt.Sprint(w.Code, " ", w.Header().Get(remote.HeaderMoved)); got != want || strings.Contains(w.Body.String(), "two.example.com") != (w.Code == 503) {
			t.Errorf("%s, want %s: %s", got, want, w.Body)
		}
	}
}
