package webhook_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/integration"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

const days = `"start_time":1775952000000,"end_time":1776096000000`

func TestReplayScenarios(t *testing.T) {
	t.Parallel()
	s := withExchange(t)
	s.Grant(auth.IntegrationsManage, auth.IntegrationsRead)
	const hook = `"integration_ids":[5321026051131],` + days
	s.Scenarios(t, "/webhook/replay", []apitest.Scenario{
		{Name: "no permission", Key: apitest.KeyNothing, Body: `{` + hook + `,"dry_run":true}`, Code: "AccessDenied", Says: []string{"Integrations Manage (on-call)"}},
		{Name: "another account", Key: apitest.KeyB, Body: `{` + hook + `,"dry_run":true}`, Code: "ResourceNotFound"},
		{Name: "no webhook", Body: `{"integration_ids":[],` + days + `,"dry_run":true}`, Code: "InvalidParameter", Says: []string{"integration_ids"}},
		{Name: "window of no length", Body: `{"integration_ids":[1],"start_time":1775952000000,"end_time":1775952000000,"dry_run":true}`, Code: "InvalidParameter", Says: []string{"end_time"}},
		{Name: "window too long", Body: `{"integration_ids":[1],"start_time":1775952000000,"end_time":1778544000001,"dry_run":true}`, Code: "InvalidParameter", Says: []string{"30 days"}},
		{Name: "without a count", Body: `{` + hook + `}`, Code: "InvalidParameter", Says: []string{"count", "dry run"}},
		{Name: "count", Body: `{` + hook + `,"dry_run":true}`, Data: `{"count":1,"webhooks":[{"integration_id":5321026051131,"count":1,"replay_id":""}]}`},
		{Name: "the private channel is left out", Key: apitest.KeyReader, Body: `{` + hook + `,"dry_run":true}`, Data: `{"count":0,"webhooks":[{"integration_id":5321026051131,"count":0,"replay_id":""}]}`},
		{Name: "failed", Body: `{` + hook + `,"status":"failed","event_types":["a_update"],"dry_run":true}`, Data: `{"count":1,"webhooks":[{"integration_id":5321026051131,"count":1,"replay_id":""}]}`},
		{Name: "delivered", Body: `{` + hook + `,"status":"success","dry_run":true}`, Data: `{"count":0,"webhooks":[{"integration_id":5321026051131,"count":0,"replay_id":""}]}`},
		{Name: "another type", Body: `{` + hook + `,"event_types":["a_new"],"dry_run":true}`, Data: `{"count":0,"webhooks":[{"integration_id":5321026051131,"count":0,"replay_id":""}]}`},
		{Name: "another object", Body: `{` + hook + `,"ref_id":"x","dry_run":true}`, Data: `{"count":0,"webhooks":[{"integration_id":5321026051131,"count":0,"replay_id":""}]}`},
		{Name: "another count", Body: `{` + hook + `,"count":100}`, Code: "BadRequest", Says: []string{"found 1", "not 100"}},
	})
	s.Converse(t, []apitest.Turn{
		{Path: "/webhook/replay", Body: `{` + hook + `,"count":1}`, Keep: map[string]string{"id": "webhooks.0.replay_id"}, Golden: "webhook_replay"},
		{Path: "/webhook/replay", Body: `{` + hook + `,"count":1}`, Code: "BadRequest", Says: []string{"goes on"}},
		{Path: "/webhook/replay/list", Body: `{}`, Has: `{"items":[{"replay_id":"$id","status":"running","count":1,"sent":0}]}`, Golden: "webhook_replay_list"},
		{Path: "/webhook/replay/list", Key: apitest.KeyB, Body: `{}`, Data: `{"items":[]}`},
		{Path: "/webhook/replay/cancel", Key: apitest.KeyB, Body: `{"replay_id":"$id"}`, Code: "ResourceNotFound"},
		{Path: "/webhook/replay/cancel", Key: apitest.KeyNothing, Body: `{"replay_id":"$id"}`, Code: "AccessDenied"},
		{Path: "/webhook/replay/cancel", Body: `{"replay_id":"$id"}`, Data: `{}`, Golden: "webhook_replay_cancel"},
		{Path: "/webhook/replay/cancel", Body: `{"replay_id":"$id"}`, Code: "BadRequest", Says: []string{"cancelled"}},
		{Path: "/webhook/replay/list", Body: `{"integration_id":5321026051131}`, Has: `{"items":[{"status":"cancelled"}]}`},
	})
}

func TestTestScenarios(t *testing.T) {
	t.Parallel()
	s := withExchange(t)
	s.Grant(auth.IntegrationsManage)
	s.Scenarios(t, "/webhook/test", []apitest.Scenario{
		{Name: "no permission", Key: apitest.KeyNothing, Body: `{"integration_id":5321026051131}`, Code: "AccessDenied"},
		{Name: "another account", Key: apitest.KeyB, Body: `{"integration_id":5321026051131}`, Code: "ResourceNotFound"},
		{Name: "event of incidents", Body: `{"integration_id":5321026051131,"event_type":"i_new"}`, Code: "InvalidParameter", Says: []string{"event_type", "a_new"}},
		{Name: "waits too long", Body: `{"integration_id":5321026051131,"wait_seconds":11}`, Code: "InvalidParameter", Says: []string{"wait_seconds"}},
	})
	s.Converse(t, []apitest.Turn{{Path: "/webhook/test", Body: `{"integration_id":5321026051131,"event_type":"a_close","wait_seconds":0}`,
		Keep: map[string]string{"id": "message_id", "attempt": "event_id"}, Has: `{"status":"waiting"}`, Golden: "webhook_test"}})
	s.Exec(`UPDATE object SET body = replace(body, '"enabled"', '"disabled"')`)
	s.Scenarios(t, "/webhook/test", []apitest.Scenario{{Name: "disabled", Body: `{"integration_id":5321026051131}`, Code: "BadRequest", Says: []string{"disabled"}}})
}

// gated is an endpoint whose calls wait until they are let through.
type gated struct {
	*httptest.Server
	came chan http.Header
	pass chan int // the status of one call
}

func newGated(t *testing.T) *gated {
	g := &gated{came: make(chan http.Header, 100), pass: make(chan int)}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		g.came <- r.Header
		select {
		case status := <-g.pass:
			w.WriteHeader(status)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(g.Close)
	return g
}

// history stores n messages of a webhook that were delivered, two a second, five about each object.
func (h *hooked) history(n int) {
	h.t.Helper()
	h.Write(func(tx *db.Tx) error {
		if _, err := tx.Exec(`INSERT INTO webhook_endpoint (account_id, integration_id, number, failures, held_until) VALUES ($1, 1, $2, 0, 0)`, apitest.AccountA, n); err != nil {
			return err
		}
		_, err := tx.Exec(`WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < $1)
			INSERT INTO webhook_message (account_id, message_id, integration_id, number, webhook_type, event_type, channel_id, ref_id, payload, attempt_id, attempts, status, started_at, due_at, settled_at, outcome, happened_at)
			SELECT $2, 'm' || n, 1, n, 'incident', 'i_comm', 0, 'r' || (n % 200), '{}', '', 1, 'delivered', $3 + n / 2, 1, $3 + n, '', $3 + n / 2 FROM series`,
			n, apitest.AccountA, apitest.Now.UnixMilli()-1_000_000)
		return err
	})
}

// replay begins a replay of the first webhook.
func (h *hooked) replay() {
	h.t.Helper()
	h.Write(func(tx *db.Tx) error {
		_, err := tx.Exec(`INSERT INTO webhook_replay (account_id, replay_id, integration_id, filter, found, sent, position_at, position_number, status, reason, person_id, created_at, ended_at)
			VALUES ($1, 'a', 1, $2, 1, 0, 0, 0, 'running', '', 1, 1, 0)`, apitest.AccountA, fmt.Sprintf(`{"start_time":0,"end_time":%d}`, apitest.Now.UnixMilli()))
		return err
	})
}

// A hundred thousand messages are replayed to an endpoint that does not answer. What happens now reaches it at once: the
// replay has two of its four slots.
func TestReplayLeavesSlotsForWhatHappensNow(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	h := hook(t, subscriber(1, integration.Settings{Endpoint: g.URL}))
	h.history(100_000)
	h.replay()
	h.Service.Clock = clock.System
	runner := jobs.New(clock.System, slog.New(slog.DiscardHandler), nil)
	for _, j := range h.Service.Jobs() {
		runner.Add(j)
	}
	runner.Start()
	defer runner.Stop()
	defer g.Close()
	for range 2 {
		if header := <-g.came; header.Get("Webhook-Origin") != "replay" || header.Get("Webhook-Id") == "" {
			t.Errorf("%v", header)
		}
	}
	h.happenTo(1, time.Now())
	if header := <-g.came; header.Get("Webhook-Origin") != "" || header.Get("Webhook-Number") != "100001" {
		t.Errorf("%v came before what happened now", header)
	}
	if n := rows(t, h.Server, "webhook_message WHERE settled_at = 0 AND origin = 'replay'"); n != 2 {
		t.Errorf("%d messages are being replayed", n)
	}
}

// A replay sends each message of its window once, those of an object in order, across restarts and failures of the
// endpoint, and marks each attempt. A message that is refused does not stop it.
func TestReplaySendsEachMessageOnce(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	taken := map[string]int{}
	last := map[int]int{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		number, _ := strconv.Atoi(r.Header.Get("Webhook-Number"))
		mu.Lock()
		defer mu.Unlock()
		if number%50 == 7 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		taken[r.Header.Get("Webhook-Id")]++
		if last[number%200] > number {
			t.Errorf("%d came after %d", number, last[number%200])
		}
		last[number%200] = number
	}))
	defer s.Close()
	h := hook(t, subscriber(1, integration.Settings{Endpoint: s.URL}))
	const all = 600
	h.history(all)
	h.replay()
	now := clock.At(apitest.Now)
	for range 5 {
		runner := h.runner(now)
		if err := runner.Settle(context.Background()); err != nil {
			t.Fatal(err)
		}
		now.Add(time.Second)
		h.restart()
	}
	failing := all / 50
	if len(taken) != all-failing || slices.Max(slices.Collect(maps.Values(taken))) != 1 {
		t.Errorf("%d of %d messages were taken", len(taken), all-failing)
	}
	if n := rows(t, h.Server, "webhook_replay WHERE status = 'done' AND sent = 600"); n != 1 {
		t.Error("the replay is not done")
	}
	if n := rows(t, h.Server, "webhook_delivery WHERE origin = 'replay' AND status = 'success'"); n != int64(len(taken)) {
		t.Errorf("%d attempts are marked", n)
	}
}

// A replay ends when its webhook is disabled, and does not begin again when that is enabled.
func TestReplayEndsWithItsWebhook(t *testing.T) {
	t.Parallel()
	h := hook(t, subscriber(1, integration.Settings{Endpoint: "http://127.0.0.1:1"}))
	h.history(10)
	h.replay()
	h.Exec(`UPDATE object SET body = replace(body, '"status":"enabled"', '"status":"disabled"')`)
	if n := rows(t, h.Server, `object WHERE body LIKE '%"disabled"%'`); n != 1 {
		h.Exec(`UPDATE object SET body = replace(body, '"settings"', '"status":"disabled","settings"')`)
	}
	runner := h.runner(clock.At(apitest.Now))
	if err := runner.Settle(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := rows(t, h.Server, "webhook_replay WHERE status = 'cancelled' AND reason LIKE '%disabled%' AND sent = 0"); n != 1 {
		t.Error("it goes on")
	}
}
