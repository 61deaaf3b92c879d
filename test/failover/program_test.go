// Package failover tests the whole program on PostgreSQL servers that fail: killed, promoted, full, frozen, cut off. While
// a server is away every request is answered with 503 and Retry-After within seconds; afterwards everything that was
// acknowledged is there, and work goes on by itself.
package failover

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/sender"
	"tocsin/test/pgserver"
)

// startServer starts a PostgreSQL server that is removed with the test.
func startServer(t testing.TB, o pgserver.Options) *pgserver.Server {
	t.Helper()
	s, err := pgserver.Start(o)
	if errors.Is(err, pgserver.ErrMissing) {
		t.Skip(err)
	}
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const (
	appKey    = "the-owners-key-of-the-failovers-0123456789"
	sourceKey = "00112233445566778899aabbccddeeff141"
)

// program is the whole program on a database, with a webhook that receives every new alert.
type program struct {
	t   testing.TB
	app *app.App
	url string

	mu   sync.Mutex
	told map[string]bool // the keys of the alerts that the webhook has received

	pause time.Duration // of a client between two requests
}

// begin starts the program on a new database. Further sections of its account may be given as JSON.
func begin(t testing.TB, dsn string, sections ...string) *program {
	t.Helper()
	p := &program{t: t, told: map[string]bool{}, pause: 20 * time.Millisecond}
	hook := httptest.NewServer(http.HandlerFunc(p.receive))
	t.Cleanup(hook.Close)
	a, err := app.New(t.Context(), app.Config{
		DB: dsn, SealKeyFile: filepath.Join(t.TempDir(), "key"), Listen: "127.0.0.1:0", Version: "test",
		Clock: clock.System, Log: slog.New(slog.NewTextHandler(logTo(), &slog.HandlerOptions{Level: slog.LevelError})),
		Senders: app.Senders{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Deliver: deliver},
	})
	must(t, err)
	file, err := accountfile.Read(strings.NewReader(fmt.Sprintf(`{"format": "tocsin.account/1",
		"account": {"account_id": 1, "account_name": "A", "time_zone": "UTC", "owner_id": 11},
		"persons": [{"person_id": 11, "person_name": "Olga", "email": "olga@example.com"}],
		"app_keys": [{"name": "owner", "person_id": 11, "app_key": %q}],
		"channels": [{"channel_id": 41, "channel_name": "Nodes"}],
		"integrations": [
			{"integration_id": 51, "integration_name": "I", "integration_type": "standard", "channel_id": 41, "integration_key": %q},
			{"integration_id": 52, "integration_name": "h", "integration_type": "webhook_alert",
				"settings": {"endpoint": %q, "event_types": ["a_new"]}}]%s}`,
		appKey, sourceKey, hook.URL, strings.Join(append([]string{""}, sections...), ", "))))
	must(t, err)
	must(t, accountfile.Import(t.Context(), a.DB, a.Keyring, file, time.Now(), false))
	s, err := a.Start()
	must(t, err)
	t.Cleanup(func() { must(t, s.Stop()) })
	p.app, p.url = a, s.URL
	return p
}

// deliver takes every notification.
func deliver(context.Context, string, notify.Address, sender.Message) (sender.Receipt, error) {
	return sender.Receipt{}, nil
}

// logTo is where the program logs: nowhere, or with TOCSIN_FAILOVER_LOG to standard error.
func logTo() io.Writer {
	if os.Getenv("TOCSIN_FAILOVER_LOG") != "" {
		return os.Stderr
	}
	return io.Discard
}

// receive is the endpoint of the webhook.
func (p *program) receive(_ http.ResponseWriter, r *http.Request) {
	var message struct {
		Alert struct {
			Key string `json:"alert_key"`
		} `json:"alert"`
	}
	if json.NewDecoder(r.Body).Decode(&message) == nil {
		p.mu.Lock()
		p.told[message.Alert.Key] = true
		p.mu.Unlock()
	}
}

// reply is the answer to a request.
type reply struct {
	status int
	retry  string // Retry-After
	body   []byte
	took   time.Duration
	path   string
}

func (p *program) do(method, path string, body any) reply {
	text, err := json.Marshal(body)
	if err != nil {
		return reply{body: []byte(err.Error())}
	}
	request, err := http.NewRequestWithContext(context.Background(), method, p.url+path, bytes.NewReader(text))
	if err != nil {
		return reply{body: []byte(err.Error())}
	}
	request.Header.Set("Content-Type", "application/json")
	began := time.Now()
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		return reply{body: []byte(err.Error()), took: time.Since(began), path: request.URL.Path}
	}
	defer r.Body.Close()
	text, err = io.ReadAll(r.Body)
	if err != nil {
		return reply{body: []byte(err.Error())}
	}
	return reply{r.StatusCode, r.Header.Get("Retry-After"), text, time.Since(began), request.URL.Path}
}

// push sends an event of a new alert. event is its id if it was accepted.
func (p *program) push(key string) (r reply, event string) {
	r = p.do(http.MethodPost, "/event/push/alert/standard?integration_key="+sourceKey,
		map[string]string{"title_rule": "Trouble", "event_status": "Critical", "alert_key": key})
	var taken struct {
		Data struct {
			Events []struct {
				ID string `json:"event_id"`
			} `json:"events"`
		} `json:"data"`
	}
	if r.status == http.StatusOK && json.Unmarshal(r.body, &taken) == nil && len(taken.Data.Events) == 1 {
		event = taken.Data.Events[0].ID
	}
	return r, event
}

// create makes a channel.
func (p *program) create(name string) reply {
	return p.do(http.MethodPost, "/channel/create?app_key="+appKey, map[string]any{"channel_name": name, "team_id": 0})
}

// list reads the channels.
func (p *program) list() reply {
	return p.do(http.MethodPost, "/channel/list?app_key="+appKey, map[string]any{"limit": 1})
}

func (p *program) ready() reply { return p.do(http.MethodGet, "/health/ready", nil) }

// count returns the number that a query selects; -1: the database does not answer.
func (p *program) count(query string, args ...any) (n int64) {
	err := p.app.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		n, _, err = db.One(tx, db.Column[int64], query, args...)
		return err
	})
	if err != nil {
		return -1
	}
	return n
}

// within waits until something is so.
func (p *program) within(limit time.Duration, what string, is func() bool) {
	p.t.Helper()
	for end := time.Now().Add(limit); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("not within %s: %s", limit, what)
		}
	}
}
