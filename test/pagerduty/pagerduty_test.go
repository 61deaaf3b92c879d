// Package pagerduty sends to the program with PagerDuty's own client for Go. It is a module of its own, so that the client is
// not among the product's dependencies.
package pagerduty

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/PagerDuty/go-pagerduty"

	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
)

// world is the program with an integration, and a client that sends to it.
type world struct {
	t      *testing.T
	url    string
	owner  string // app key
	key    string // of the integration
	client *pagerduty.Client
}

func begin(t *testing.T) *world {
	t.Helper()
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { handler.ServeHTTP(rw, r) }))
	t.Cleanup(server.Close)
	a, err := app.New(t.Context(), app.Config{
		DB: "sqlite:" + filepath.Join(t.TempDir(), "tocsin.db"), Clock: clock.At(time.Now()), Version: "test", PublicURL: server.URL,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	first, err := a.FirstStart(context.Background(), "UTC")
	if err != nil {
		t.Fatal(err)
	}
	handler, err = a.Handler()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, url: server.URL, owner: first.Key}
	var made struct {
		IntegrationKey string `json:"integration_key"`
	}
	w.api("/integration/create", `{"integration_name": "Pager", "integration_type": "pagerduty"}`, &made)
	w.key = made.IntegrationKey
	w.client = pagerduty.NewClient("not used", pagerduty.WithV2EventsAPIEndpoint(server.URL))
	return w
}

// api calls an operation as the account's owner.
func (w *world) api(path, body string, into any) {
	w.t.Helper()
	r, err := http.Post(w.url+path+"?app_key="+w.owner, "application/json", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	defer r.Body.Close()
	reply := struct{ Data any }{into}
	if err := json.NewDecoder(r.Body).Decode(&reply); err != nil || r.StatusCode != 200 {
		w.t.Fatalf("%s: %s %v", path, r.Status, err)
	}
}

// TestClientTriggersAndResolves: the client gets the key that the server made, and resolves with it.
func TestClientTriggersAndResolves(t *testing.T) {
	w := begin(t)
	event := pagerduty.V2Event{RoutingKey: w.key, Action: "trigger", Payload: &pagerduty.V2Payload{Summary: "Disk is full", Source: "db-1", Severity: "critical"}}
	made, err := w.client.ManageEventWithContext(t.Context(), &event)
	if err != nil || made.Status != "success" || made.Message == "" || made.DedupKey == "" {
		t.Fatalf("%+v %v", made, err)
	}
	for _, action := range []string{"acknowledge", "resolve"} {
		reply, err := w.client.ManageEventWithContext(t.Context(), &pagerduty.V2Event{RoutingKey: w.key, Action: action, DedupKey: made.DedupKey})
		if err != nil || reply.Status != "success" || reply.DedupKey != made.DedupKey {
			t.Errorf("%s: %+v %v", action, reply, err)
		}
	}
}

// TestClientReadsErrors: the client knows the status and shows no failure of its own to read the reply.
func TestClientReadsErrors(t *testing.T) {
	w := begin(t)
	for _, event := range []pagerduty.V2Event{{RoutingKey: "guessed", Action: "trigger"}, {RoutingKey: w.key, Action: "trigger", Payload: &pagerduty.V2Payload{}}} {
		_, err := w.client.ManageEventWithContext(t.Context(), &event)
		var failed pagerduty.APIError
		if !errors.As(err, &failed) || failed.StatusCode != http.StatusBadRequest || strings.Contains(err.Error(), "decode failed") {
			t.Errorf("%v", err)
		}
	}
}

func TestClientSendsChanges(t *testing.T) {
	w := begin(t)
	reply, err := w.client.CreateChangeEventWithContext(t.Context(), pagerduty.ChangeEvent{RoutingKey: w.key,
		Payload: pagerduty.ChangeEventPayload{Summary: "Deployed 1.4.2", Source: "ci", CustomDetails: map[string]any{"build": 7}},
		Links:   []pagerduty.ChangeEventLink{{Href: "https://ci.example.com/7", Text: "Build"}}})
	if err != nil || reply.Status != "success" {
		t.Fatalf("%+v %v", reply, err)
	}
	var list struct {
		Items []struct {
			Title, Link string
			Labels      map[string]string
		}
	}
	w.api("/change/list", `{}`, &list)
	if len(list.Items) != 1 || list.Items[0].Title != "Deployed 1.4.2" || list.Items[0].Link != "https://ci.example.com/7" || list.Items[0].Labels["build"] != "7" {
		t.Errorf("%+v", list)
	}
}
