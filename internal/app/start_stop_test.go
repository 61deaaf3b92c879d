package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/sender"
)

// TestStartAndStopWithWorkDue starts and stops the server many times while events come in, so that it is stopped in the
// midst of deciding, escalating and sending. Then nothing of it runs any more, and after the last start all that was
// accepted is decided and sent, without any event that would wake it.
func TestStartAndStopWithWorkDue(t *testing.T) {
	const times, events = 12, 20
	var sent atomic.Int64
	c := app.Config{DB: dbtest.Migrated(t), SealKeyFile: filepath.Join(t.TempDir(), "tocsin.key"), Clock: clock.System, Log: slog.New(slog.DiscardHandler), Version: "test", Listen: "127.0.0.1:0",
		Budget: notify.Budget{Urgent: 10_000, Other: 10_000}, // a message for each event
		Senders: app.Senders{Deliver: func(context.Context, string, notify.Address, sender.Message) (sender.Receipt, error) {
			sent.Add(1)
			return sender.Receipt{}, nil
		}}}
	push := filled(t, c)
	client := &http.Client{Transport: &http.Transport{}}
	before := runtime.NumGoroutine()
	for n := range times {
		a, s := serve(t, c)
		for e := range events {
			body := fmt.Sprintf(`{"title_rule":"Trouble","event_status":"Critical","alert_key":"stress-%d-%d","labels":{"service":"checkout"}}`, n, e)
			reply, err := client.Post(s.URL+"/event/push/alert/standard?integration_key="+push, "application/json", bytes.NewReader([]byte(body)))
			if err != nil || reply.StatusCode != http.StatusOK {
				t.Fatalf("event %d of start %d: %v %v", e, n, reply, err)
			}
			reply.Body.Close()
		}
		if n == 0 {
			waitUntil(t, func() bool { return outstanding(t, a.DB) == 0 }) // woken by the events themselves
		}
		client.CloseIdleConnections()
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	waitUntil(t, func() bool { return runtime.NumGoroutine() <= before })
	a, s := serve(t, c)
	waitUntil(t, func() bool { return outstanding(t, a.DB) == 0 })
	decided := int64(0)
	err := a.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
		decided, _, err = db.One(tx, db.Column[int64], `SELECT count(DISTINCT event_id) FROM verdict`)
		return err
	})
	if err != nil || decided != times*events || sent.Load() < times*events {
		t.Errorf("%d of %d events are decided, %d notifications sent: %v", decided, times*events, sent.Load(), err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, func() bool { return runtime.NumGoroutine() <= before })
}

// filled fills a database with a channel that escalates to a chat, and returns the key of its integration.
func filled(t *testing.T, c app.Config) (push string) {
	t.Helper()
	a, err := app.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	first, err := a.FirstStart(t.Context(), "UTC")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(a.Frame)
	defer server.Close()
	call := func(path, body string) []byte {
		t.Helper()
		status, data := post(t, server.URL, first.Key, path, body)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, status, data)
		}
		return data
	}
	channel := idNames.FindSubmatch(call("/channel/create", `{"channel_name":"Stress","team_id":0}`))[2]
	call("/channel/escalate/rule/create", fmt.Sprintf(`{"channel_id":%s,"rule_name":"r","template_id":"000000000000000000000001","layers":[{"target":{"webhooks":[{"type":"slack","settings":{"token":"https://example.com/x"}}]}}]}`, channel))
	var made struct {
		Key string `json:"integration_key"`
	}
	if err := json.Unmarshal(call("/integration/create", fmt.Sprintf(`{"integration_name":"Stress","integration_type":"standard","channel_id":%s}`, channel)), &made); err != nil || made.Key == "" {
		t.Fatalf("%v %+v", err, made)
	}
	return made.Key
}

func serve(t *testing.T, c app.Config) (*app.App, *app.Server) {
	t.Helper()
	a, err := app.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.Start()
	if err != nil {
		t.Fatal(err)
	}
	return a, s
}

// outstanding counts events without a verdict, and the escalations and notifications that are due.
func outstanding(t *testing.T, d *db.DB) (n int64) {
	t.Helper()
	err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
		n, _, err = db.One(tx, db.Column[int64], `SELECT (SELECT count(*) FROM event_waiting) + (SELECT count(*) FROM escalation WHERE next_at > 0 AND next_at <= $1)
			+ (SELECT count(*) FROM notice WHERE settled_at = 0)`, clock.System.Now().Unix())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// waitUntil waits for a state that must come; the test's own limit ends it.
func waitUntil(t *testing.T, done func() bool) {
	t.Helper()
	for !done() {
		time.Sleep(5 * time.Millisecond)
	}
}
