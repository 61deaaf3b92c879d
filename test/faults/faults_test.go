// Package faults tests webhooks against endpoints that misbehave: what the ledger has of each attempt is what the
// endpoint saw, and no other endpoint and no other account waits for it.
package faults

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

var trusted *authority

// TestMain makes the program trust an authority of the tests. The file is read once in a process.
func TestMain(m *testing.M) {
	var err error
	trusted, err = newAuthority()
	if err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		panic(err)
	}
	file := filepath.Join(dir, "authority.pem")
	if err := os.WriteFile(file, trusted.pem, 0o600); err != nil {
		panic(err)
	}
	os.Setenv("SSL_CERT_FILE", file)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// good is of HTTP/1.0, whose connections serve one request: a client that kept the connection could send its next request
// as the receiver closes it.
const good = "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"

// faults lists all ways to misbehave. trap is an address to which redirects lead.
func faults(t *testing.T, trap string) (all []fault) {
	here, now := "127.0.0.1", time.Now()
	soon := [2]time.Duration{3 * time.Second, 7 * time.Second} // the first retry
	retried := func(code int, headers ...string) fault {
		return fault{answer: status(code, headers...), codes: []int{code}, why: fmt.Sprint(code), after: soon}
	}
	add := func(name string, f fault) {
		f.name = name
		all = append(all, f)
	}
	none := []int{0}
	for _, code := range []int{200, 201, 204, 299} {
		add(fmt.Sprint(code), fault{answer: status(code), codes: []int{code}})
	}
	for _, code := range []int{300, 304, 400, 401, 404, 410, 451} {
		add(fmt.Sprint(code), fault{answer: status(code), codes: []int{code}, why: fmt.Sprint(code)})
	}
	for _, code := range []int{301, 302, 303, 307, 308} {
		add(fmt.Sprintf("redirect %d", code), fault{answer: status(code, "Location: "+trap), codes: []int{code}, why: fmt.Sprint(code)})
	}
	for _, code := range []int{408, 500, 502, 503, 599} {
		add(fmt.Sprint(code), retried(code))
	}
	for after, want := range map[string][2]time.Duration{
		"0": soon, "-7": soon, "soon": soon, "1e9": soon, "99999999999999999999": soon, "60": {time.Minute, time.Minute},
		"999999999": {24 * time.Hour, 24 * time.Hour}, begin.Add(-time.Hour).Format(http.TimeFormat): soon,
		begin.Add(10 * time.Minute).Format(http.TimeFormat): {9 * time.Minute, 10 * time.Minute},
	} {
		f := retried(429, "Retry-After: "+after)
		f.after = want
		add("429 after "+after, f)
	}
	add("100 first", fault{answer: text("HTTP/1.1 100 Continue\r\n\r\n" + good), codes: []int{200}})
	add("103 first", fault{answer: text(strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 3) + good), codes: []int{200}})
	add("103 for ever", fault{answer: forever("", "HTTP/1.1 103 Early Hints\r\n\r\n", time.Millisecond), codes: none, why: " ", after: soon, hangs: true})
	add("101", fault{answer: text("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"), codes: []int{101}, why: "101"})
	add("no HTTP", fault{answer: text("SSH-2.0-OpenSSH_9.9\r\n"), codes: none, why: "malformed", after: soon})
	add("no status", fault{answer: text("HTTP/1.1 OK\r\n\r\n"), codes: none, why: "malformed", after: soon})
	add("never answers", fault{answer: gone, codes: none, why: "did not answer", after: soon, hangs: true})
	add("slow headers", fault{answer: forever("HTTP/1.1 200 OK\r\nX: ", "x", 50*time.Millisecond), codes: none, why: "did not answer", after: soon, hangs: true})
	add("slow body", fault{answer: forever("HTTP/1.1 200 OK\r\n\r\n", "x", 50*time.Millisecond), codes: []int{200}, hangs: true})
	add("slow body of an error", fault{answer: forever("HTTP/1.1 500 X\r\n\r\n", "x", 50*time.Millisecond), codes: []int{500}, why: "500", after: soon, hangs: true})
	add("endless body", fault{answer: forever("HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("x", 4096), 0), codes: []int{200}})
	add("huge headers", fault{answer: forever("HTTP/1.1 200 OK\r\nX: ", strings.Repeat("x", 4096), 0), codes: none, why: "header", after: soon})
	add("many headers", fault{answer: forever("HTTP/1.1 200 OK\r\n", strings.Repeat("X: y\r\n", 500), 0), codes: none, why: "header", after: soon})
	add("gzip bomb", fault{answer: bomb(), codes: []int{200}})
	add("not gzip", fault{answer: text("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok"), codes: []int{200}})
	add("length too long", fault{answer: text("HTTP/1.1 204 X\r\nContent-Length: 999\r\n\r\n"), codes: []int{204}})
	add("two lengths", fault{answer: text("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nok"), codes: none, why: "Content-Length", after: soon})
	body := strings.Index(good, "ok")
	for n := range len(good) + 1 {
		f := fault{answer: text(good[:n]), codes: none, why: " ", after: soon}
		if n >= body {
			f = fault{answer: text(good[:n]), codes: []int{200}}
		}
		add(fmt.Sprintf("closed after %d bytes", n), f)
		f.answer = reset(good[:n])
		if n >= body { // a reset may overtake what was sent before it
			f.codes = []int{0, 200}
		}
		add(fmt.Sprintf("reset after %d bytes", n), f)
	}
	add("TLS", fault{answer: status(200), https: true, secure: trusted.sign(t, here, now.Add(time.Hour)), codes: []int{200}})
	add("expired", fault{https: true, secure: trusted.sign(t, here, now.Add(-time.Hour)), codes: none, why: "expired", after: soon, unseen: true})
	add("wrong name", fault{https: true, secure: trusted.sign(t, "192.0.2.1", now.Add(time.Hour)), codes: none, why: "192.0.2.1", after: soon, unseen: true})
	other, err := newAuthority()
	if err != nil {
		t.Fatal(err)
	}
	add("unknown authority", fault{https: true, secure: other.sign(t, here, now.Add(time.Hour)), codes: none, why: "TLS", after: soon, unseen: true})
	add("plain HTTP for https", fault{answer: status(200), https: true, codes: none, why: "TLS", after: soon, unseen: true})
	add("TLS for http", fault{answer: status(200), secure: trusted.sign(t, here, now.Add(time.Hour)), codes: []int{0, 400}, after: soon, why: " ", unseen: true})
	return all
}

var begin = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

const messages = 6 // to each endpoint: fewer than it may refuse before it is held

// program is the whole program with an account whose webhooks misbehave, and one with a webhook that does not.
type program struct {
	t     *testing.T
	app   *app.App
	clock *clock.Manual
	url   string
}

const firstHook = 1001

func run(t *testing.T, receivers []*receiver, healthy string) *program {
	t.Helper()
	p := &program{t: t, clock: clock.At(begin)}
	a, err := app.New(context.Background(), app.Config{DB: dbtest.Migrated(t), SealKeyFile: filepath.Join(t.TempDir(), "tocsin.key"), Clock: p.clock, Log: slog.New(slog.DiscardHandler), Version: "test",
		Senders: app.Senders{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	handler, err := a.Handler()
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	p.app, p.url = a, s.URL
	var hooks []string
	for n, r := range receivers {
		hooks = append(hooks, hookAt(firstHook+n, r.url()))
	}
	p.account(1, append(hooks, hookAt(500, healthy))...)
	p.account(2, hookAt(501, healthy))
	return p
}

func hookAt(id int, url string) string {
	return fmt.Sprintf(`{"integration_id": %d, "integration_name": "h", "integration_type": "webhook_alert", "settings": {"endpoint": %q, "event_types": ["a_new"]}}`, id, url)
}

// account imports an account with a source and webhooks.
func (p *program) account(n int, hooks ...string) {
	p.t.Helper()
	file := fmt.Sprintf(`{"format": "tocsin.account/1", "account": {"account_id": %[1]d, "account_name": "A", "time_zone": "UTC", "owner_id": %[1]d1},
		"persons": [{"person_id": %[1]d1, "person_name": "O", "email": "o%[1]d@example.com"}], "channels": [{"channel_id": %[1]d2, "channel_name": "C"}],
		"integrations": [{"integration_id": %[1]d3, "integration_name": "s", "integration_type": "standard", "channel_id": %[1]d2, "integration_key": "key-of-the-source-%[1]d"}, %[2]s]}`,
		n, strings.Join(hooks, ","))
	f, err := accountfile.Read(strings.NewReader(file))
	if err == nil {
		err = accountfile.Import(context.Background(), p.app.DB, p.app.Keyring, f, p.clock.Now(), false)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// push sends an event of an alert to an account.
func (p *program) push(account, alert int) {
	p.t.Helper()
	body := fmt.Sprintf(`{"title_rule": "t", "event_status": "Info", "alert_key": "a%d"}`, alert)
	reply, err := http.Post(fmt.Sprintf("%s/event/push/alert/standard?integration_key=key-of-the-source-%d", p.url, account), "application/json", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	defer reply.Body.Close()
	if text, _ := io.ReadAll(reply.Body); reply.StatusCode != http.StatusOK {
		p.t.Fatalf("%s", text)
	}
}

func (p *program) settle() {
	p.t.Helper()
	if err := p.app.Runner.Settle(context.Background()); err != nil {
		p.t.Fatal(err)
	}
}

// attempt is a record of the ledger.
type attempt struct {
	message, status, why, body string
	code, number               int
}

// ledger returns the records of a webhook, and when its messages that are retried are due, counted from their attempt.
func (p *program) ledger(hook int) (all []attempt, due []time.Duration) {
	p.t.Helper()
	err := p.app.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		all, err = db.All(tx, func(scan db.Scan) (a attempt, err error) {
			err = scan(&a.message, &a.status, &a.code, &a.number, &a.why, &a.body)
			a.why = sentence.Value(a.why).English()
			return a, err
		}, `SELECT x.message_id, d.status, d.status_code, d.attempt, x.error_message, x.response_body FROM webhook_delivery d
			JOIN webhook_exchange x ON x.account_id = d.account_id AND x.event_id = d.event_id WHERE d.integration_id = $1 ORDER BY d.event_time, d.event_id`, hook)
		if err != nil {
			return err
		}
		due, err = db.All(tx, func(scan db.Scan) (d time.Duration, err error) {
			var ms int64
			err = scan(&ms)
			return time.UnixMilli(ms).Sub(p.clock.Now()), err
		}, `SELECT due_at FROM webhook_message WHERE integration_id = $1 AND settled_at = 0 AND attempts = 1`, hook)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return all, due
}

// compare compares the ledger of an endpoint with what it saw.
func (p *program) compare(r *receiver, hook int) {
	p.t.Helper()
	all, due := p.ledger(hook)
	seen, requests := r.saw()
	made := map[string]int{}
	for _, a := range all {
		if a.number == 0 { // given up or cancelled without an attempt
			continue
		}
		made[a.message]++
		failed := r.why != ""
		if !slices.Contains(r.codes, a.code) || len(r.codes) == 1 && (a.status == "failed") != failed || !strings.Contains(a.why, strings.TrimSpace(r.why)) || (a.why == "") != (a.status == "success") {
			p.t.Errorf("%s: the ledger has %+v, want one of %v because of %q", r.name, a, r.codes, r.why)
		}
		if len(a.body) > 16<<10 {
			p.t.Errorf("%s: the ledger has %d bytes of the body", r.name, len(a.body))
		}
	}
	if r.unseen {
		if requests != 0 || len(made) == 0 {
			p.t.Errorf("%s: it saw %d requests, the ledger has %d messages", r.name, requests, len(made))
		}
	} else if !maps.Equal(made, seen) {
		p.t.Errorf("%s: it saw %d requests for %d messages, the ledger has attempts for %d: %v and %v", r.name, requests, len(seen), len(made), seen, made)
	}
	if len(r.codes) > 1 { // either is right, and only one of them is retried
		return
	}
	for _, d := range due {
		if r.after[1] == 0 || d < r.after[0]-time.Second || d > r.after[1] {
			p.t.Errorf("%s: it is retried after %v, want %v", r.name, d, r.after)
		}
	}
	if r.after[1] > 0 && len(due) == 0 {
		p.t.Errorf("%s: nothing is retried", r.name)
	}
}

func TestLedgerIsWhatReceiverSaw(t *testing.T) {
	trap := start(t, fault{name: "trap", answer: status(200)})
	var receivers []*receiver
	for _, f := range faults(t, trap.url()) {
		receivers = append(receivers, start(t, f))
	}
	healthy := start(t, fault{name: "healthy", answer: status(200), codes: []int{200}})
	p := run(t, receivers, healthy.url())
	for n := range messages {
		p.push(1, n)
	}
	p.push(2, 0)
	p.settle()
	for n, r := range receivers {
		p.compare(r, firstHook+n)
	}
	if seen, _ := healthy.saw(); len(seen) != messages+1 {
		t.Errorf("the healthy endpoint got %d messages of %d", len(seen), messages+1)
	}
	p.clock.Add(2 * time.Hour)
	p.push(2, 1)
	p.settle()
	for n, r := range receivers {
		r.after = [2]time.Duration{}
		all, _ := p.ledger(firstHook + n)
		attempts := 0
		for _, a := range all {
			if a.number > 0 {
				attempts++
			}
		}
		if _, requests := r.saw(); !r.unseen && attempts != requests {
			t.Errorf("%s: it saw %d requests, the ledger has %d attempts", r.name, requests, attempts)
		}
	}
	if n := trap.requests(); n != 0 {
		t.Errorf("a redirect was followed %d times", n)
	}
}

// Endpoints that hang keep all their slots for seconds. Meanwhile the healthy ones of the same account and of another get
// their messages.
func TestNoOneWaitsForEndpointThatHangs(t *testing.T) {
	var receivers []*receiver
	for _, f := range faults(t, "http://127.0.0.1:1") {
		if f.hangs {
			receivers = append(receivers, start(t, f), start(t, f), start(t, f))
		}
	}
	healthy := start(t, fault{name: "healthy", answer: status(200), codes: []int{200}})
	p := run(t, receivers, healthy.url())
	p.app.Runner.Start()
	for n := range 3 * messages {
		p.push(1, n)
		p.push(2, n)
	}
	for healthy.requests() < 6*messages {
		time.Sleep(10 * time.Millisecond)
	}
	for _, r := range receivers {
		r.mu.Lock()
		if r.why != "" && len(r.seen) == 3*messages {
			t.Errorf("the healthy endpoint had its messages only after all those of %s", r.name)
		}
		r.mu.Unlock()
	}
	p.app.Runner.Stop()
}
