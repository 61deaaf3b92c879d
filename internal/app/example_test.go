package app_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/app"
	"tocsin/internal/demo"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db/dbtest"
)

// exceptions are the operations whose example cannot answer 200 on any demo, or whose reply has a member of the request with
// another meaning, each with the reason. Shorten it.
var exceptions = map[string]string{
	"/incident/war-room/add-member":   "the demo calls no chat service, and an open group is not known to one",
	"/monit/edge/delete":              "the demo has no edge",
	"/monit/edge/key/delete":          "the demo has no key of edges",
	"/monit/edge/key/update":          "the demo has no key of edges",
	"/monit/datasource/sls/projects":  "the service is in a cloud",
	"/monit/datasource/sls/logstores": "the service is in a cloud",
	"/person/email/prove":             "the demo has no mail server",
	"/person/password/update":         "no one signs in to the demo with a password, which a reader of the reference would know",
	"/person/second-factor/confirm":   "the code is what an authenticator shows at this moment",
	"/template/preview":               "content is a template in the request, and its text in the reply",
	"/webhook/history/replay":         "event_id is the attempt to send again in the request, and the new attempt in the reply",
	"/webhook/replay/cancel":          "a replay of the demo ends before it can be cancelled",
}

// onDemo starts the program with the demo account, and returns a key of its owner. Few deliveries are enough.
func onDemo(t *testing.T) (a *app.App, url, key string) {
	t.Helper()
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	config := app.Config{
		DB: dbtest.Migrated(t), SealKeyFile: filepath.Join(t.TempDir(), "tocsin.key"), Clock: clock.At(now), Log: slog.New(slog.DiscardHandler), Version: "test",
	}
	config.Senders.Webhooks = &demo.Receiver{}
	config.DatasourceAllow = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	a, err := app.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := demo.FillWith(t.Context(), a.DB, a.Keyring, now, func(now time.Time) *accountfile.File {
		f := demo.Account(now)
		f.Deliveries = f.Deliveries[len(f.Deliveries)-200:]
		return f
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(a.Frame)
	metrics := httptest.NewServer(demo.Metrics{Now: config.Clock.Now})
	t.Cleanup(func() { server.Close(); a.Close(); metrics.Close() })
	if err := demo.Watch(t.Context(), server.URL, keys, metrics.URL); err != nil {
		t.Fatal(err)
	}
	return a, server.URL, keys.All
}

// TestExamplesWorkOnDemo calls each operation with its example on the demo account, deletions last. With -update it
// records the replies, which the reference shows beside the examples.
func TestExamplesWorkOnDemo(t *testing.T) {
	t.Parallel()
	a, url, key := onDemo(t)
	ops := a.Frame.Ops()
	slices.Reverse(ops) // what creates an object comes after what needs one, so that no example depends on another
	slices.SortStableFunc(ops, func(x, y api.Op) int { return cmp.Compare(lateness(x), lateness(y)) })
	for _, op := range ops {
		reply, status := calledOnDemo(t, url+op.Path, key, op.Example)
		shown := op.Reply
		if status == http.StatusOK && apitest.Updating() && json.Valid(reply) {
			shown = recorded(t, op.Path, reply)
		}
		found := disagreements(op.Path, []byte(op.Example), shown)
		if status != http.StatusOK {
			found = fmt.Sprintf("%s answers %d: %s", op.Path, status, messageOf(reply))
		}
		reason, excepted := exceptions[op.Path]
		switch {
		case found == "" && excepted:
			t.Errorf("%s needs no exception any more: %s", op.Path, reason)
		case found != "" && !excepted:
			t.Error(found)
		}
	}
}

// lateness orders reads before writes, and what ends or deletes an object after all others.
func lateness(op api.Op) int {
	switch {
	case op.Effect != api.Write:
		return 0
	case strings.Contains(op.Example, `"dry_run": true`):
		return 1
	case slices.Contains([]string{"delete", "remove", "revoke"}, path.Base(op.Path)):
		return 3
	case slices.Contains([]string{"disable", "merge", "close", "end", "resolve"}, path.Base(op.Path)):
		return 2
	}
	return 1
}

func calledOnDemo(t *testing.T, address, key, body string) (reply []byte, status int) {
	t.Helper()
	r, err := http.Post(address+"?app_key="+key, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	reply, err = io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply, r.StatusCode
}

func messageOf(reply []byte) string {
	var refused struct{ Error struct{ Message string } }
	_ = json.Unmarshal(reply, &refused) // the status is enough otherwise
	return refused.Error.Message
}

var (
	oneRequest = regexp.MustCompile(`"request_id":"[0-9A-Z]{26}"`)
	oneSecret  = regexp.MustCompile(`(tk_|whsec_|otpauth://|[?&/](?:key|token|link|integration_key|feed)[=/]|"(?:secret|integration_key|client_token)":")[^"]{8,}`)
)

// recorded writes a reply without its secrets, and returns it.
func recorded(t *testing.T, operation string, reply []byte) []byte {
	t.Helper()
	reply = oneRequest.ReplaceAll(reply, []byte(`"request_id":"01JRQ0000000000000000000ID"`))
	reply = oneSecret.ReplaceAll(reply, []byte("${1}EXAMPLE"))
	var b bytes.Buffer
	if err := json.Indent(&b, reply, "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	if err := os.WriteFile(filepath.Join("example", path.Base(api.GoldenFile(operation))), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// disagreements names the members of a request that the reply, or an item in the reply, repeats with another value; empty: there
// are none.
func disagreements(operation string, request, reply []byte) string {
	var asked map[string]any
	var answered struct {
		Data map[string]any `json:"data"`
	}
	if json.Unmarshal(request, &asked) != nil || json.Unmarshal(reply, &answered) != nil {
		return "" // a file, or a list of values
	}
	about := []any{answered.Data}
	if items, ok := answered.Data["items"].([]any); ok {
		about = append(about, items...)
	}
	var found []string
	for name, value := range asked {
		if slices.ContainsFunc(about, func(one any) bool {
			object, _ := one.(map[string]any)
			got, repeated := object[name]
			return repeated && scalar(value) && scalar(got) && got != value
		}) {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return ""
	}
	slices.Sort(found)
	return fmt.Sprintf("%s repeats %s with another value", operation, strings.Join(found, ", "))
}

func scalar(v any) bool {
	switch v.(type) {
	case string, float64, bool:
		return true
	}
	return false
}
