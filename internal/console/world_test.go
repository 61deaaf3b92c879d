package console_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/sender/email"
	"tocsin/internal/sender/mailtest"
)

// The keys and identifiers of the account of the tests.
const (
	ownerKey  = "owner-key-of-the-console-0123456789"
	annKey    = "anns-key-of-the-console-01234567890"
	bobKey    = "bobs-key-of-the-console-01234567890"
	readerKey = "readers-key-of-the-console-01234567"
	emptyKey  = "key-of-the-empty-account-0123456789"
	pushKey   = "00112233445566778899aabbccddeeff131"
)

// full is an account with what the pages can show; empty is one with nothing.
const full = `{
	"format": "tocsin.account/1",
	"account": {"account_id": 7000000000001, "account_name": "Shop", "time_zone": "UTC", "owner_id": 7000000000011},
	"roles": [
		{"role_id": 7, "role_name": "Responder", "permissions": ["Incidents Manage (on-call)", "Channels Manage (on-call)", "Schedules Read (on-call)", "Integrations Read (on-call)"]},
		{"role_id": 8, "role_name": "Reader", "permissions": ["Incidents Read (on-call)", "Channels Read (on-call)"]}
	],
	"teams": [{"team_id": 7000000000021, "team_name": "ops", "person_ids": [7000000000012, 7000000000013]}],
	"persons": [
		{"person_id": 7000000000011, "person_name": "Olga Owner", "email": "olga@example.com"},
		{"person_id": 7000000000012, "person_name": "Ann Day", "email": "ann@example.com", "time_zone": "Europe/Berlin", "role_ids": [7]},
		{"person_id": 7000000000013, "person_name": "Bob Night", "email": "bob@example.com", "role_ids": [7]},
		{"person_id": 7000000000014, "person_name": "Rita Reader", "email": "rita@example.com", "role_ids": [8]}
	],
	"app_keys": [
		{"name": "owner", "person_id": 7000000000011, "app_key": "` + ownerKey + `"}, {"name": "ann", "person_id": 7000000000012, "app_key": "` + annKey + `"},
		{"name": "bob", "person_id": 7000000000013, "app_key": "` + bobKey + `"}, {"name": "rita", "person_id": 7000000000014, "app_key": "` + readerKey + `"}
	],
	"schedules": [
		{"schedule_id": 7000000000031, "schedule_name": "Day", "layers": [{"layer_name": "always", "mode": 0, "layer_start": 1767225600, "rotation_unit": "day", "rotation_value": 1, "groups": [{"group_name": "A", "members": [{"role_id": 0, "person_ids": [7000000000012]}]}, {"group_name": "B", "members": [{"role_id": 0, "person_ids": [7000000000013]}]}]}]},
		{"schedule_id": 7000000000032, "schedule_name": "Nights only", "layers": [{"layer_name": "nights", "mode": 0, "layer_start": 1767225600, "rotation_unit": "day", "rotation_value": 1, "restrict_mode": 1, "restrict_periods": [{"restrict_start": 79200, "restrict_end": 21600}], "groups": [{"group_name": "N", "members": [{"role_id": 0, "person_ids": [7000000000013]}]}]}]}
	],
	"channels": [{"channel_id": 7000000000041, "channel_name": "Shop", "team_id": 7000000000021}],
	"fields": [
		{"field_id": "663a1b2c3d4e5f6789abcf01", "field_name": "region", "display_name": "Region", "field_type": "single_select", "value_type": "string", "options": ["eu", "us"]},
		{"field_id": "663a1b2c3d4e5f6789abcf02", "field_name": "parts", "display_name": "Parts", "field_type": "multi_select", "value_type": "string", "options": ["web", "mail"]},
		{"field_id": "663a1b2c3d4e5f6789abcf03", "field_name": "known", "display_name": "Known", "field_type": "checkbox", "value_type": "bool"},
		{"field_id": "663a1b2c3d4e5f6789abcf04", "field_name": "ticket", "display_name": "Ticket", "field_type": "text", "value_type": "string"}
	],
	"escalate_rules": [{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e01", "channel_id": 7000000000041, "rule_name": "on call", "template_id": "000000000000000000000001", "layers": [
		{"target": {"schedule_to_role_ids": {"7000000000031": []}, "by": {"follow_preference": true}}, "escalate_window": 30},
		{"target": {"schedule_to_role_ids": {"7000000000032": []}, "by": {"follow_preference": true}}, "escalate_window": 720}]}],
	"silence_rules": [{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e02", "channel_id": 7000000000041, "rule_name": "Staging is quiet", "filters": [[{"key": "labels.env", "oper": "IN", "vals": ["staging"]}]], "time_filter": {"start_time": 1790000000, "end_time": 1799999999}}],
	"inhibit_rules": [{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e03", "channel_id": 7000000000041, "rule_name": "The host is down", "source_filters": [[{"key": "labels.check", "oper": "IN", "vals": ["host"]}]], "target_filters": [[{"key": "labels.check", "oper": "IN", "vals": ["web"]}]], "equals": ["labels.host"]}],
	"drop_rules": [{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e04", "channel_id": 7000000000041, "rule_name": "Noise", "filters": [[{"key": "labels.env", "oper": "IN", "vals": ["test"]}]]}],
	"integrations": [
		{"integration_id": 7000000000051, "integration_name": "Probe", "integration_type": "standard", "channel_id": 7000000000041, "integration_key": "` + pushKey + `"}
	]
}`

const empty = `{
	"format": "tocsin.account/1",
	"account": {"account_id": 8000000000001, "account_name": "Empty", "time_zone": "UTC", "owner_id": 8000000000011},
	"persons": [{"person_id": 8000000000011, "person_name": "Emil", "email": "emil@example.com"}],
	"app_keys": [{"name": "owner", "person_id": 8000000000011, "app_key": "` + emptyKey + `"}]
}`

// world is the running program with both accounts.
type world struct {
	t     testing.TB
	clock *clock.Manual
	app   *app.App
	mail  *mailtest.Mailbox
	url   string
}

func begin(t testing.TB, change ...func(*app.Config)) *world {
	t.Helper()
	w := &world{t: t, clock: clock.At(time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC))}
	mailbox := mailtest.New(t, mailtest.Options{Plain: true})
	c := app.Config{
		DB: dbtest.Migrated(t), SealKeyFile: filepath.Join(t.TempDir(), "tocsin.key"), Clock: w.clock, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Version: "test", PublicURL: "http://tocsin.example.com",
		Senders: app.Senders{
			Mail:  email.Server{Host: mailbox.Host, Port: mailbox.Port, From: "Tocsin <tocsin@example.com>", TLS: email.None},
			Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		},
	}
	for _, fn := range change {
		fn(&c)
	}
	a, err := app.New(context.Background(), c)
	w.must(err)
	handler, err := a.Handler()
	w.must(err)
	server := httptest.NewServer(handler)
	t.Cleanup(func() { a.StopStreams(); server.Close(); a.Close() })
	w.app = a
	w.mail = mailbox
	w.url = server.URL
	for _, text := range []string{full, empty} {
		f, err := accountfile.Read(strings.NewReader(text))
		w.must(err)
		w.must(accountfile.Import(context.Background(), a.DB, a.Keyring, f, w.clock.Now(), false))
	}
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// push sends an alert and settles what follows.
func (w *world) push(body string) {
	w.t.Helper()
	r, err := http.Post(w.url+"/event/push/alert/standard?integration_key="+pushKey, "application/json", strings.NewReader(body))
	w.must(err)
	r.Body.Close()
	if r.StatusCode != http.StatusOK {
		w.t.Fatalf("push: %d", r.StatusCode)
	}
	w.settle()
}

func (w *world) settle() {
	w.t.Helper()
	w.must(w.app.Runner.Settle(context.Background()))
}

// browser is a person's browser.
type browser struct {
	w      *world
	client *http.Client
	lang   string
}

// answer is what a browser received, after redirects.
type answer struct {
	t      testing.TB
	status int
	path   string // with its parameters
	body   string
}

// signIn opens a browser for the owner of an app key.
func (w *world) signIn(key string) *browser {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	w.must(err)
	b := &browser{w: w, client: &http.Client{Jar: jar}, lang: "en"}
	if a := b.post("/sign-in", "app_key", key); a.status != http.StatusOK || a.path == "/sign-in" {
		w.t.Fatalf("sign in: %d at %s", a.status, a.path)
	}
	return b
}

func (b *browser) do(r *http.Request) answer {
	b.w.t.Helper()
	r.Header.Set("Accept-Language", b.lang)
	reply, err := b.client.Do(r)
	b.w.must(err)
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	b.w.must(err)
	return answer{b.w.t, reply.StatusCode, reply.Request.URL.RequestURI(), string(body)}
}

func (b *browser) get(path string) answer {
	b.w.t.Helper()
	r, err := http.NewRequest(http.MethodGet, b.w.url+path, nil)
	b.w.must(err)
	return b.do(r)
}

// post sends a form of names and values.
func (b *browser) post(path string, fields ...string) answer {
	b.w.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	r, err := http.NewRequest(http.MethodPost, b.w.url+path, strings.NewReader(form.Encode()))
	b.w.must(err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return b.do(r)
}

// shows checks that the answer is a page with some texts, and lacks those that begin with "!".
func (a answer) shows(texts ...string) answer {
	a.t.Helper()
	return a.showsWith(http.StatusOK, texts...)
}

func (a answer) showsWith(status int, texts ...string) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: %d, want %d: %s", a.path, a.status, status, a.main())
	}
	for _, text := range texts {
		missing, unwanted := strings.CutPrefix(text, "!")
		if strings.Contains(a.body, missing) == unwanted {
			a.t.Errorf("%s: wanted %q in\n%s", a.path, text, a.main())
		}
	}
	return a
}

var mainOf = regexp.MustCompile(`(?s)<main.*</main>`)

var space = regexp.MustCompile(`\s+`)

func (a answer) main() string { return space.ReplaceAllString(mainOf.FindString(a.body), " ") }

// link returns the first link that begins with a path.
func (a answer) link(prefix string) string {
	a.t.Helper()
	found := regexp.MustCompile(`href="(` + regexp.QuoteMeta(prefix) + `[0-9a-f]{24})["/?]`).FindStringSubmatch(a.body)
	if found == nil {
		a.t.Fatalf("%s has no link to %s: %s", a.path, prefix, a.main())
	}
	return found[1]
}

// anyone signs in the owner of a key, who need not be allowed to see the first page.
func (w *world) anyone(key string) *browser {
	w.t.Helper()
	b := w.visitor()
	b.post("/sign-in", "app_key", key, "next", "/me").shows("Sign out")
	return b
}

// visitor returns a browser in which no one signed in.
func (w *world) visitor() *browser {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	w.must(err)
	return &browser{w: w, client: &http.Client{Jar: jar}, lang: "en"}
}

// refuses reports whether an operation refuses the owner of a key, whatever is asked.
func (w *world) refuses(key, path string) bool {
	w.t.Helper()
	r, err := http.Post(w.url+path+"?app_key="+key, "application/json", strings.NewReader("{}"))
	w.must(err)
	defer r.Body.Close()
	if r.StatusCode == http.StatusNotFound {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "RouteNotFound") {
			w.t.Fatalf("there is no operation %s", path)
		}
	}
	return r.StatusCode == http.StatusForbidden
}
