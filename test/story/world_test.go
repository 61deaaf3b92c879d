// Package story tests how an alert becomes a notification, with the whole program:
// its HTTP handler, its real database, its real senders, a mail server and an HTTP server that record what
// reaches them over the network, and a clock that the stories move.
package story

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
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/sender/email"
	"tocsin/internal/sender/gateway"
)

// The world's people and things.
const (
	account = 7000000000001
	olga    = 7000000000011 // owner
	ann     = 7000000000012 // on call by day
	bob     = 7000000000013 // in team ops
	cid     = 7000000000014 // in team ops
	dee     = 7000000000015 // has neither e-mail nor phone
	ops     = 7000000000021
	empty   = 7000000000022 // an empty team
	day     = 7000000000031 // Ann, always
	night   = 7000000000032 // Bob from 22:00 to 06:00, else no one
	shop    = 7000000000041 // a channel
	mail    = 7000000000042 // another
	sink    = 7000000000051 // integration of shop
	shared  = 7000000000052 // one with a route
	ownKey  = "owner-key-of-the-stories-0123456789"
	annKey  = "anns-key-of-the-stories-01234567890"
)

const shopKey, sharedKey = "00112233445566778899aabbccddeeff131", "ffeeddccbbaa99887766554433221100131"

// start is a Saturday, ten o'clock in the morning.
var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// world is a program with an account in it.
type world struct {
	t      *testing.T
	clock  *clock.Manual
	dir    string
	dsn    string
	change func(*app.Config)
	app    *app.App
	http   *httptest.Server
	peer   *app.App      // a second program on the database; nil: there is none
	drift  time.Duration // between two runs of the jobs while time passes
	next   time.Time     // when the next row is due as far as the program knows
	calm   bool          // next did not change when the jobs last ran: no row that it knows was due

	mail    email.Server
	gateway gateway.Gateway
	chats   string // URL of what stands for chats

	mu        sync.Mutex
	answering sync.Mutex // answer is called for one page at a time
	pages     []page
	answer    func(page) answer // of the receivers
}

// begin starts a world. The texts of more are merged into its account file, section by section.
func begin(t *testing.T, more ...string) *world {
	t.Helper()
	return beginWith(t, func(*app.Config) {}, more...)
}

// beginWith is begin with a program that change configures differently.
func beginWith(t *testing.T, change func(*app.Config), more ...string) *world {
	t.Helper()
	return beginOn(t, dbtest.Migrated(t), change, more...)
}

// beginOn is beginWith on a database that is empty.
func beginOn(t *testing.T, dsn string, change func(*app.Config), more ...string) *world {
	t.Helper()
	w := &world{t: t, clock: clock.At(start), dir: t.TempDir(), dsn: dsn, drift: 10 * time.Second, change: change}
	w.acceptAll()
	w.receivers()
	w.open()
	file := map[string]any{}
	w.must(json.Unmarshal([]byte(base), &file))
	for _, text := range more {
		var extra map[string]any
		w.must(json.Unmarshal([]byte(w.placed(text)), &extra))
		for section, value := range extra {
			if list, ok := value.([]any); ok {
				have, _ := file[section].([]any)
				file[section] = append(have, list...)
			} else {
				file[section] = value
			}
		}
	}
	text, err := json.Marshal(file)
	w.must(err)
	f, err := accountfile.Read(bytes.NewReader(text))
	w.must(err)
	w.must(accountfile.Import(context.Background(), w.app.DB, w.app.Keyring, f, w.clock.Now(), false))
	t.Cleanup(func() { w.http.Close(); w.app.Close() })
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) open() {
	w.t.Helper()
	w.app, w.http = w.program()
}

// join starts a second program on the database. From then on both do the background work, at the same time.
func (w *world) join() (http *httptest.Server) {
	w.t.Helper()
	w.peer, http = w.program()
	w.t.Cleanup(func() { http.Close(); w.peer.Close() })
	return http
}

// program starts a program on the world's database.
func (w *world) program() (*app.App, *httptest.Server) {
	w.t.Helper()
	c := app.Config{
		DB: w.dsn, SealKeyFile: filepath.Join(w.dir, "tocsin.db.key"), Clock: w.clock, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Version: "test",
		FreeBytes: func() int64 { return 1 << 40 }, // whatever else fills this machine's disk while the clock is moved
		PublicURL: "https://tocsin.example.com", Senders: app.Senders{Mail: w.mail, Gateway: w.gateway, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
	}
	w.change(&c)
	a, err := app.New(context.Background(), c)
	w.must(err)
	handler, err := a.Handler()
	w.must(err)
	return a, httptest.NewServer(handler)
}

// restart replaces the program by a new process on the same database.
func (w *world) restart() {
	w.t.Helper()
	w.http.Close()
	w.must(w.app.Close())
	w.open()
}

// settle runs the jobs until no row is due.
func (w *world) settle() {
	w.t.Helper()
	w.must(w.trySettle())
}

func (w *world) trySettle() error {
	if w.peer == nil {
		next, err := w.app.Runner.Rest(context.Background())
		w.calm = next.Equal(w.next)
		w.next = next
		return err
	}
	var both sync.WaitGroup
	errs := make([]error, 2)
	for i, a := range []*app.App{w.app, w.peer} {
		both.Go(func() { errs[i] = a.Runner.Settle(context.Background()) })
	}
	both.Wait()
	for _, a := range []*app.App{w.app, w.peer, w.app} { // what the one has done may be work for the other
		errs = append(errs, a.Runner.Settle(context.Background()))
	}
	return errors.Join(errs...)
}

// sql changes the database behind the program's back.
func (w *world) sql(query string) {
	w.t.Helper()
	w.must(w.app.DB.Write(context.Background(), func(tx *db.Tx) error { _, err := tx.Exec(query); return err }))
}

// pass lets time pass and runs the jobs on the way: at the first of the moments that are a drift apart, and then at those
// after which a row is due, at least once a minute.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	step := w.drift
	for end := w.clock.Now().Add(d); w.clock.Now().Before(end); step = w.quiet() {
		w.clock.Add(min(step, end.Sub(w.clock.Now())))
		w.settle()
	}
}

// quiet returns for how long the jobs need not run, a multiple of the drift. Two programs run theirs each time: what the
// one does may be work for the other.
func (w *world) quiet() time.Duration {
	step := w.drift
	for most := min(time.Minute, w.next.Sub(w.clock.Now())); w.calm && w.peer == nil && step < most; {
		step += w.drift
	}
	return step
}

// reply is an answer of the program.
type reply struct {
	Status int             `json:"-"`
	Data   json.RawMessage `json:"data"`
	Error  *struct{ Code, Message string }
}

func (r reply) String() string {
	if r.Error != nil {
		return fmt.Sprintf("%d %s %s", r.Status, r.Error.Code, r.Error.Message)
	}
	return string(r.Data)
}

// get reads a member of the data, such as items.0.title.
func (r reply) get(path string) string {
	var v any
	if json.Unmarshal(r.Data, &v) != nil {
		return ""
	}
	for _, name := range strings.Split(path, ".") {
		switch node := v.(type) {
		case map[string]any:
			v = node[name]
		case []any:
			n := 0
			if _, err := fmt.Sscan(name, &n); err != nil || n >= len(node) {
				return ""
			}
			v = node[n]
		default:
			return ""
		}
	}
	switch v := v.(type) {
	case string:
		return v
	case nil:
		return ""
	}
	text, _ := json.Marshal(v)
	return string(text)
}

func (w *world) post(path, body string) (r reply) {
	w.t.Helper()
	answer, err := http.Post(w.http.URL+path, "application/json", strings.NewReader(w.placed(body)))
	w.must(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	w.must(err)
	if err := json.Unmarshal(text, &r); err != nil {
		w.t.Fatalf("%s: %d %s", path, answer.StatusCode, text)
	}
	if !jsontext.Value(text).IsValid() {
		w.t.Fatalf("%s: the reply is not strict JSON, such as with a member given twice: %s", path, text)
	}
	r.Status = answer.StatusCode
	if operation, _, _ := strings.Cut(path, "?"); r.Error != nil && !w.app.Frame.Declares(operation, r.Error.Code) {
		w.t.Errorf("%s answers %s, which its Errors do not declare", operation, r.Error.Code)
	}
	return r
}

// try calls an operation with a person's key; do wants it to succeed.
func (w *world) try(key, path, format string, args ...any) reply {
	w.t.Helper()
	return w.post(path+"?app_key="+key, fmt.Sprintf(format, args...))
}

func (w *world) do(path, format string, args ...any) reply {
	w.t.Helper()
	return w.as(ownKey, path, format, args...)
}

func (w *world) as(key, path, format string, args ...any) reply {
	w.t.Helper()
	r := w.try(key, path, format, args...)
	if r.Error != nil {
		w.t.Fatalf("%s: %s", path, r)
	}
	w.readable(path, r)
	w.settle()
	return r
}

// push sends an event to the shop: key, status, and labels as name=value. It returns the event's id.
func (w *world) push(key, status string, labels ...string) string {
	w.t.Helper()
	return w.pushTo(shopKey, key, status, labels...)
}

func (w *world) pushTo(integration, key, status string, labels ...string) string {
	w.t.Helper()
	all := map[string]string{}
	for _, l := range labels {
		name, value, _ := strings.Cut(l, "=")
		all[name] = value
	}
	title := "Trouble with " + key
	if all["title"] != "" {
		title = all["title"]
		delete(all, "title")
	}
	body, _ := json.Marshal(map[string]any{"title_rule": title, "event_status": status, "alert_key": key, "labels": all})
	r := w.post("/event/push/alert/standard?integration_key="+integration, string(body))
	if r.Error != nil {
		w.t.Fatalf("push: %s", r)
	}
	w.settle()
	return r.get("events.0.event_id")
}

// notified wants exactly these pages since its last call, in any order: "ann@example.com email i_new".
func (w *world) notified(want ...string) {
	w.t.Helper()
	got := []string{}
	for _, p := range w.newPages() {
		got = append(got, p.String())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.t.Errorf("notified\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// last is the page that came last.
func (w *world) last() page {
	w.t.Helper()
	pages := w.reached()
	if len(pages) == 0 {
		w.t.Fatal("no page was sent")
	}
	return pages[len(pages)-1]
}

// want compares a member of an answer.
func (w *world) want(r reply, path, want string) {
	w.t.Helper()
	if got := r.get(path); got != want {
		w.t.Errorf("%s is %s, want %s\nin %s", path, got, want, r)
	}
}

// newPage and over are pages in short.
func newPage(person string) string { return person + "@example.com email i_new" }
func acked(person string) string   { return person + "@example.com email i_ack" }
func over(person string) string    { return person + "@example.com email i_rslv" }

// incident is the newest incident.
func (w *world) incident() string {
	w.t.Helper()
	now := w.clock.Now().Unix()
	return w.do("/incident/list", `{"start_time": %d, "end_time": %d}`, now-20*86400, now+3600).get("items.0.incident_id")
}

// ack acknowledges the newest incident.
func (w *world) ack(key string) {
	w.t.Helper()
	w.as(key, "/incident/ack", `{"incident_ids": [%q]}`, w.incident())
}

// outcome wants an event's first verdict.
func (w *world) outcome(event, want string) {
	w.t.Helper()
	r := w.do("/alert/explain", `{"event_id": %q}`, event)
	if got := r.get("verdicts.0.outcome"); got != want {
		w.t.Errorf("event %s was %s, want %s: %s", event, got, want, r.get("words"))
	}
}

// why returns the words of /alert/explain about the newest alert of a key.
func (w *world) why(key string) string {
	w.t.Helper()
	var words []string
	w.must(json.Unmarshal([]byte(w.explained(key).get("words")), &words))
	return strings.Join(words, "\n")
}

// whole returns the whole reply of /alert/explain.
func (w *world) whole(key string) string {
	w.t.Helper()
	return w.explained(key).String()
}

func (w *world) explained(key string) reply {
	w.t.Helper()
	now := w.clock.Now().Unix()
	alert := w.do("/alert/list", `{"start_time": %d, "end_time": %d, "alert_keys": [%q]}`, now-20*86400, now+3600, key).get("items.0.alert_id")
	if alert == "" {
		w.t.Fatalf("there is no alert %s", key)
	}
	return w.do("/alert/explain", `{"alert_id": %q}`, alert)
}

// lastIncident is the newest incident, without settling anything.
func (w *world) lastIncident() string {
	w.t.Helper()
	now := w.clock.Now().Unix()
	return w.try(ownKey, "/incident/list", `{"start_time": %d, "end_time": %d}`, now-86400, now+3600).get("items.0.incident_id")
}
