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
	"tocsin/internal/auth"
	"tocsin/internal/demo"
	"tocsin/internal/person"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// exceptions names the examples that the demo refuses, because they need an id that is made at random or a moment in the
// future, and the members that a reply repeats with another value than the request's. Shorten it, and lower maxExceptions.
const (
	exceptions    = "testdata/example_exceptions.txt"
	maxExceptions = 38
)

// onDemo starts the program with the demo account, and returns a key of its owner. Few deliveries are enough.
func onDemo(t *testing.T) (a *app.App, url, key string) {
	t.Helper()
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	config := app.Config{
		DB: dbtest.Migrated(t), SealKeyFile: filepath.Join(t.TempDir(), "tocsin.key"), Clock: clock.At(now), Log: slog.New(slog.DiscardHandler), Version: "test",
	}
	config.Senders.Webhooks = &demo.Receiver{}
	a, err := app.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	f := demo.Account(now)
	f.Deliveries = f.Deliveries[len(f.Deliveries)-200:]
	if err := accountfile.Import(t.Context(), a.DB, a.Keyring, f, now, false); err != nil {
		t.Fatal(err)
	}
	if err := a.DB.Write(t.Context(), func(tx *db.Tx) error {
		_, key, err = person.CreateKey(tx, auth.NewKey{Account: f.Account.AccountID, Person: f.Account.OwnerID, Name: "examples"}, now.Unix())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(a.Frame)
	t.Cleanup(func() { server.Close(); a.Close() })
	return a, server.URL, key
}

// TestExamplesWorkOnDemo calls each operation with its example on the demo account, deletions last. With -update it
// records the replies, which the reference shows beside the examples.
func TestExamplesWorkOnDemo(t *testing.T) {
	t.Parallel()
	a, url, key := onDemo(t)
	ops := a.Frame.Ops()
	slices.SortStableFunc(ops, func(x, y api.Op) int { return cmp.Compare(lateness(x), lateness(y)) })
	var found []string
	for _, op := range ops {
		reply, status := calledOnDemo(t, url+op.Path, key, op.Example)
		if status != http.StatusOK {
			found = append(found, fmt.Sprintf("%s answers %d: %s", op.Path, status, messageOf(reply)))
			continue
		}
		shown := op.Reply
		if apitest.Updating() && json.Valid(reply) {
			shown = recorded(t, op.Path, reply)
		}
		found = append(found, disagreements(op.Path, []byte(op.Example), shown)...)
	}
	slices.Sort(found)
	text := strings.Join(found, "\n") + "\n"
	if apitest.Updating() {
		if err := os.WriteFile(exceptions, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	known, err := os.ReadFile(exceptions)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range found {
		if !strings.Contains("\n"+string(known), "\n"+line+"\n") {
			t.Errorf("%s", line)
		}
	}
	for line := range strings.Lines(string(known)) {
		if !slices.Contains(found, strings.TrimSpace(line)) {
			t.Errorf("no exception any more: %s", line)
		}
	}
	if len(found) > maxExceptions {
		t.Errorf("%d exceptions, want at most %d", len(found), maxExceptions)
	}
}

// lateness orders reads before writes, and what ends or deletes an object after all others.
func lateness(op api.Op) int {
	switch {
	case op.Effect != api.Write:
		return 0
	case slices.Contains([]string{"delete", "remove", "revoke", "end", "resolve"}, path.Base(op.Path)):
		return 3
	case slices.Contains([]string{"disable", "merge", "close"}, path.Base(op.Path)):
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
	if reply, err = io.ReadAll(r.Body); err != nil {
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

// disagreements lists the members of a request that the reply, or an item in the reply, repeats with another value.
func disagreements(operation string, request, reply []byte) (found []string) {
	var asked map[string]any
	var answered struct {
		Data map[string]any `json:"data"`
	}
	if json.Unmarshal(request, &asked) != nil || json.Unmarshal(reply, &answered) != nil {
		return nil // a file, or a list of values
	}
	about := []any{answered.Data}
	if items, ok := answered.Data["items"].([]any); ok {
		about = append(about, items...)
	}
	for name, value := range asked {
		for _, one := range about {
			object, _ := one.(map[string]any)
			if got, repeated := object[name]; repeated && scalar(value) && scalar(got) && got != value {
				found = append(found, fmt.Sprintf("%s repeats %s with another value", operation, name))
				break
			}
		}
	}
	return found
}

func scalar(v any) bool {
	switch v.(type) {
	case string, float64, bool:
		return true
	}
	return false
}
