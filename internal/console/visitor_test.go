package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/app"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/sender"
)

// server is the whole program with one account, and a clock that tests move.
type server struct {
	t     *testing.T
	app   *app.App
	url   string
	first *app.First
	clock *clock.Manual
	dsn   string

	mu    sync.Mutex
	log   bytes.Buffer
	mails []sender.Message
	to    []string
}

func (s *server) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(b)
}

// beginServer starts the program; change modifies its configuration.
func beginServer(t *testing.T, change func(*app.Config)) *server {
	t.Helper()
	s := &server{t: t, clock: clock.At(apitest.Now), dsn: dbtest.Migrated(t)}
	c := app.Config{
		DB: s.dsn, SealKeyFile: filepath.Join(t.TempDir(), "tocsin.key"), Clock: s.clock, Log: slog.New(slog.NewTextHandler(s, &slog.HandlerOptions{Level: slog.LevelDebug})), Version: "test",
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Senders: app.Senders{Deliver: func(_ context.Context, _ string, to notify.Address, m sender.Message) (sender.Receipt, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.mails, s.to = append(s.mails, m), append(s.to, to.To)
			return sender.Receipt{}, nil
		}},
	}
	change(&c)
	a, err := app.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	s.first, err = a.FirstStart(t.Context(), "Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	handler, err := a.Handler()
	if err != nil {
		t.Fatal(err)
	}
	http := httptest.NewServer(handler)
	t.Cleanup(http.Close)
	s.app, s.url = a, http.URL
	return s
}

func plain(*app.Config) {}

// api calls an operation as the account's owner and returns its data.
func (s *server) api(path, body string) map[string]any {
	s.t.Helper()
	r, err := http.Post(s.url+path+"?app_key="+s.first.Key, "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	var reply struct{ Data map[string]any }
	if err := json.Unmarshal(text, &reply); err != nil || r.StatusCode != 200 {
		s.t.Fatalf("%s %s: %d %s", path, body, r.StatusCode, text)
	}
	return reply.Data
}

// visitor is a browser: it keeps cookies and follows no redirect.
type visitor struct {
	t      *testing.T
	s      *server
	client *http.Client
	ip     string // that a proxy reports; empty: none
	header http.Header
}

func (s *server) browser() *visitor {
	jar, _ := cookiejar.New(nil)
	return &visitor{t: s.t, s: s, header: http.Header{}, client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// response is what a browser received.
type response struct {
	status int
	to     string // of a redirect
	body   string
	header http.Header
}

func (b *visitor) do(r *http.Request) response {
	b.t.Helper()
	for name, values := range b.header {
		r.Header[name] = values
	}
	if b.ip != "" {
		r.Header.Set("X-Forwarded-For", b.ip)
	}
	reply, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer reply.Body.Close()
	body, _ := io.ReadAll(reply.Body)
	return response{reply.StatusCode, reply.Header.Get("Location"), string(body), reply.Header}
}

func (b *visitor) get(path string) response {
	b.t.Helper()
	r, _ := http.NewRequest(http.MethodGet, b.s.url+path, nil)
	return b.do(r)
}

// post sends a form of names and values.
func (b *visitor) post(path string, fields ...string) response {
	b.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	r, _ := http.NewRequest(http.MethodPost, b.s.url+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.do(r)
}

// cookie returns the value of a cookie that the browser has.
func (b *visitor) cookie(name string) string {
	u, _ := url.Parse(b.s.url)
	for _, c := range b.client.Jar.Cookies(u) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

func (b *visitor) setCookie(name, value string) {
	u, _ := url.Parse(b.s.url)
	b.client.Jar.SetCookies(u, []*http.Cookie{{Name: name, Value: value, Path: "/"}})
}

// in reports whether the browser is signed in.
func (b *visitor) in() bool {
	b.t.Helper()
	return b.get("/me/sessions").status == 200
}

// expect compares the status, and the address of a redirect.
func (b *visitor) expect(what string, a response, status int, to string) response {
	b.t.Helper()
	if a.status != status || a.to != to {
		b.t.Fatalf("%s: %d to %q, want %d to %q\n%.600s", what, a.status, a.to, status, to, a.body)
	}
	return a
}

const phrase = "correct horse battery staple"

// owner stores an e-mail address and a password of the account's owner, and returns a browser that is signed in.
func (s *server) owner() *visitor {
	s.t.Helper()
	s.api("/member/info/reset", `{"member_id":`+json.Number(number(s.first.OwnerID)).String()+`,"email":"olga@example.com"}`)
	b := s.browser()
	b.expect("set the password", b.post(s.first.LinkPath, "new_password", phrase, "again", phrase), 303, "/")
	return b
}
