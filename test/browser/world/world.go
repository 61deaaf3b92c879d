// Package world serves the whole program with the demo's account, on a clock that is moved, to a browser or to a client
// without one.
package world

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
	_ "time/tzdata" // the demo's people live in many zones

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
	"tocsin/internal/auth"
	"tocsin/internal/demo"
	"tocsin/internal/engine/notify"
	"tocsin/internal/person"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/sender"
)

// Start is a Monday, 03:12 in the demo's Berlin.
var Start = time.Date(2026, 11, 23, 2, 12, 0, 0, time.UTC)

// deliveries is how many webhook deliveries of the demo are stored: all of them would take most of the time of a test.
const deliveries = 150

// World is a running program.
type World struct {
	Clock *clock.Manual
	App   *app.App
	URL   string
	Keys  demo.Keys

	server   *httptest.Server
	away     atomic.Bool
	mu       sync.Mutex
	messages []string
}

// Reporter is what a world needs of a test: Fatalf does not return.
type Reporter interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Begin starts a program whose database is in a folder. Its account is the demo's, which change may alter; nil: as it is.
func Begin(t Reporter, dir string, change func(*accountfile.File)) *World {
	t.Helper()
	if change != nil {
		return demoIn(t, begin(t, dir, false, nil), change)
	}
	return beginFilled(t, dir, false, nil)
}

// BeginSecure is Begin with HTTPS, as the demo's account.
func BeginSecure(t Reporter, dir string) *World {
	t.Helper()
	return beginFilled(t, dir, true, nil)
}

// BeginOpen is Begin with webhooks that are really sent, to addresses of this machine.
func BeginOpen(t Reporter, dir string) *World {
	t.Helper()
	return beginFilled(t, dir, false, func(c *app.Config) {
		c.Senders.Closed, c.Senders.Allow = false, []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
}

func beginFilled(t Reporter, dir string, secure bool, change func(*app.Config)) *World {
	t.Helper()
	keys := copyFilled(t, dir)
	w := begin(t, dir, secure, change)
	w.Keys = keys
	return w
}

// BeginEmpty starts a program with the account of a first start: one person, and nothing configured.
func BeginEmpty(t Reporter, dir string) *World {
	t.Helper()
	return BeginWith(t, dir, nil)
}

// BeginWith is BeginEmpty with another configuration of the program.
func BeginWith(t Reporter, dir string, change func(*app.Config)) *World {
	t.Helper()
	w := begin(t, dir, false, change)
	first, err := w.App.FirstStart(context.Background(), "Europe/Berlin")
	if err != nil {
		t.Fatalf("%v", err)
	}
	w.Keys.All, w.Keys.LinkPath = first.Key, first.LinkPath
	return w
}

func begin(t Reporter, dir string, secure bool, change func(*app.Config)) *World {
	t.Helper()
	w := &World{Clock: clock.At(Start)}
	c := app.Config{
		DB: "sqlite:" + filepath.Join(dir, databaseName), Clock: w.Clock, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Version: "test",
		Senders: app.Senders{Closed: true, Deliver: w.deliver},
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%v", err)
		}
	}
	var handler http.Handler
	w.server = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.away.Load() {
			panic(http.ErrAbortHandler)
		}
		handler.ServeHTTP(rw, r)
	}))
	w.URL = "http://" + w.server.Listener.Addr().String()
	if secure {
		w.URL = "https://" + w.server.Listener.Addr().String()
	}
	c.PublicURL = w.URL
	if change != nil {
		change(&c)
		w.Clock, _ = c.Clock.(*clock.Manual)
	}
	var err error
	w.App, err = app.New(context.Background(), c)
	must(err)
	handler, err = w.App.Handler()
	must(err)
	if secure {
		w.server.StartTLS()
	} else {
		w.server.Start()
	}
	return w
}

// Close ends the program. Pages that show it are closed before.
func (w *World) Close() error {
	w.App.Frame.StopWaiting()
	w.server.CloseClientConnections()
	w.server.Close()
	return w.App.Close()
}

// Cut ends all connections of browsers, as a network does that fails.
func (w *World) Cut() { w.server.CloseClientConnections() }

// Away makes the server answer nothing, and answer again.
func (w *World) Away(away bool) { w.away.Store(away) }

// AckLink returns the link in a message to a person of the demo about an incident.
func (w *World) AckLink(t Reporter, incident, name string) string {
	t.Helper()
	key, err := w.App.Keyring.DeriveKey("links")
	if err != nil {
		t.Fatalf("%v", err)
	}
	f := demo.Account(Start)
	for _, p := range f.Persons {
		if p.PersonName == name {
			return (&notify.Links{Base: w.URL, Key: key}).Ack(f.Account.AccountID, incident, p.PersonID, w.Clock.Now())
		}
	}
	t.Fatalf("the demo has no %s", name)
	return ""
}

// deliver stands for all senders.
func (w *World) deliver(_ context.Context, method string, to notify.Address, m sender.Message) (sender.Receipt, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.messages = append(w.messages, fmt.Sprintf("%s %s: %s", method, to.To, m.Subject))
	return sender.Receipt{Reply: "not really sent"}, nil
}

// Sent returns the messages that were sent since the last call.
func (w *World) Sent() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	sent := w.messages
	w.messages = nil
	return sent
}

// KeyOf makes an app key of a person of the demo, by name.
func (w *World) KeyOf(t Reporter, name string) string {
	t.Helper()
	f := demo.Account(Start)
	for _, p := range f.Persons {
		if p.PersonName != name {
			continue
		}
		key := ""
		err := w.App.DB.Write(context.Background(), func(tx *db.Tx) (err error) {
			_, key, err = person.CreateKey(tx, auth.NewKey{Account: f.Account.AccountID, Person: p.PersonID, Name: "test"}, w.Clock.Now().Unix())
			return err
		})
		if err != nil {
			t.Fatalf("%v", err)
		}
		return key
	}
	t.Fatalf("the demo has no %s", name)
	return ""
}

// Pass lets time pass and does the background work that is due on the way.
func (w *World) Pass(t Reporter, d time.Duration) {
	t.Helper()
	const step = 10 * time.Second
	for end := w.Clock.Now().Add(d); ; w.Clock.Add(min(step, end.Sub(w.Clock.Now()))) {
		if err := w.App.Runner.Settle(context.Background()); err != nil {
			t.Fatalf("%v", err)
		}
		if !w.Clock.Now().Before(end) {
			return
		}
	}
}

// Do calls an operation as the owner and reads its data into reply, which may be nil.
func (w *World) Do(t Reporter, path string, request, reply any) {
	t.Helper()
	w.post(t, path+"?app_key="+w.Keys.All, request, reply)
}

// Push sends an event to the demo's own integration and lets the program handle it. It returns the event's id.
func (w *World) Push(t Reporter, key, title, status string, labels map[string]string) string {
	t.Helper()
	var reply struct {
		Events []struct {
			ID string `json:"event_id"`
		} `json:"events"`
	}
	w.post(t, "/event/push/alert/standard?integration_key="+w.Keys.Push,
		map[string]any{"title_rule": title, "event_status": status, "alert_key": key, "labels": labels}, &reply)
	w.Pass(t, 0)
	if len(reply.Events) == 0 {
		t.Fatalf("the event %s was not accepted", key)
	}
	return reply.Events[0].ID
}

// PushDemo sends events that the demo's rules page for, group, silence and drop, and lets a few minutes pass.
func PushDemo(t Reporter, w *World) {
	t.Helper()
	for _, e := range []struct {
		key, title, status string
		labels             map[string]string
	}{
		{"latency", "Payments are slow", "Critical", map[string]string{"service": "payment-api", "check": "latency_p99", "region": "eu-1"}},
		{"sandbox", "Sandbox declines everything", "Critical", map[string]string{"service": "payment-api", "environment": "sandbox"}},
		{"card", "Card provider answers late", "Warning", map[string]string{"service": "payment-api", "provider": "cardstream"}},
		{"basket", "Basket pod restarts", "Critical", map[string]string{"service": "basket", "pod": "basket-1"}},
		{"orders", "Orders replica falls behind", "Warning", map[string]string{"service": "orders-db", "check": "lag_seconds"}},
	} {
		w.Push(t, e.key, e.title, e.status, e.labels)
	}
	w.Pass(t, 3*time.Minute)
}

func (w *World) post(t Reporter, path string, request, reply any) {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	answer, err := http.Post(w.URL+path, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer answer.Body.Close()
	var envelope struct {
		Data  json.RawMessage
		Error any
	}
	if err := json.NewDecoder(answer.Body).Decode(&envelope); err != nil || envelope.Error != nil {
		t.Fatalf("%s: %d %v %v", path, answer.StatusCode, err, envelope.Error)
	}
	if reply != nil {
		if err := json.Unmarshal(envelope.Data, reply); err != nil {
			t.Fatalf("%s: %v in %s", path, err, envelope.Data)
		}
	}
}
