// Package oidc tests signing in at an OpenID Connect provider: a real one, a library that listens on loopback. It is a
// module of its own, so that the library is not among the product's dependencies.
package oidc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"

	"tocsin/internal/app"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/clock"
	"tocsin/internal/sender"
	"tocsin/internal/signin"
)

// world is the program, the provider and a browser between them.
type world struct {
	t        *testing.T
	app      *app.App
	first    *app.First
	url      string
	clock    *clock.Manual
	provider *mockoidc.MockOIDC

	published []byte       // keys that the provider publishes whatever it signs with; nil: its own
	asked     atomic.Int64 // requests that the provider got
	mu        sync.Mutex
	log       bytes.Buffer
	mails     []mail
}

// mail is a message by e-mail, and where it went.
type mail struct {
	to string
	sender.Message
}

// deliver takes the messages of the program.
func (w *world) deliver(_ context.Context, method string, to notify.Address, m sender.Message) (sender.Receipt, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if method == "email" {
		w.mails = append(w.mails, mail{to.To, m})
	}
	return sender.Receipt{}, nil
}

func (w *world) keys(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.asked.Add(1)
		if w.published != nil && r.URL.Path == mockoidc.JWKSEndpoint {
			_, _ = rw.Write(w.published)
			return
		}
		next.ServeHTTP(rw, r)
	})
}

func (w *world) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(b)
}

// begin starts a provider and the program; change modifies how the program uses the provider.
func begin(t *testing.T, change func(*signin.OpenID)) *world {
	t.Helper()
	w := &world{t: t, clock: clock.At(time.Now().Truncate(time.Second))}
	mockoidc.NowFunc = w.clock.Now
	provider, err := mockoidc.NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := provider.AddMiddleware(w.keys); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := provider.Start(listener, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { provider.Shutdown() })
	w.provider = provider
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { handler.ServeHTTP(rw, r) }))
	t.Cleanup(server.Close)
	w.url = server.URL
	c := app.Config{
		DB: "sqlite:" + filepath.Join(t.TempDir(), "tocsin.db"), Clock: w.clock, Version: "test", PublicURL: server.URL, Senders: app.Senders{Deliver: w.deliver},
		Log: slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})),
		OpenID: signin.OpenID{
			Name: "Example", Issuer: provider.Issuer(), ClientID: provider.ClientID, ClientSecret: provider.ClientSecret,
			Scopes: []string{"email", "profile", "groups"}, Claim: "groups", Provision: true,
			Roles: map[string]string{"admins": "Auditor", "night": "Night"}, Teams: map[string]string{"engineering": "Engineering"},
		},
	}
	change(&c.OpenID)
	w.app, err = app.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.app.Close() })
	w.first, err = w.app.FirstStart(context.Background(), "UTC")
	if err != nil {
		t.Fatal(err)
	}
	handler, err = w.app.Handler()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, body string }{
		{"/role/upsert", `{"role_name":"Auditor","permission_ids":[1]}`}, {"/role/upsert", `{"role_name":"Night","permission_ids":[1]}`},
		{"/role/upsert", `{"role_name":"Other","permission_ids":[1]}`}, {"/team/upsert", `{"team_name":"Engineering","person_ids":[` + fmt.Sprint(w.first.OwnerID) + `]}`},
	} {
		w.api(c.path, c.body)
	}
	return w
}

func plain(*signin.OpenID) {}

// api calls an operation as the account's owner.
func (w *world) api(path, body string) map[string]any {
	w.t.Helper()
	r, err := http.Post(w.url+path+"?app_key="+w.first.Key, "application/json", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	var reply struct{ Data map[string]any }
	if json.Unmarshal(text, &reply) != nil || r.StatusCode != 200 {
		w.t.Fatalf("%s %s: %d %s", path, body, r.StatusCode, text)
	}
	return reply.Data
}

// member returns the person with an e-mail address as /member/list shows it; nil: there is none.
func (w *world) member(email string) map[string]any {
	w.t.Helper()
	items := w.api("/member/list", fmt.Sprintf(`{"query":%q}`, email))["items"].([]any)
	if len(items) == 0 {
		return nil
	}
	return items[0].(map[string]any)
}

func (w *world) browser() *http.Client {
	jar, _ := cookiejar.New(nil)
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// get returns the status, the address of a redirect and the page.
func (w *world) get(b *http.Client, address string) (status int, to, page string) {
	w.t.Helper()
	r, err := b.Get(address)
	if err != nil {
		w.t.Fatal(err)
	}
	defer r.Body.Close()
	body, _ := io.ReadAll(r.Body)
	return r.StatusCode, r.Header.Get("Location"), string(body)
}

// signIn goes to the provider as a user and comes back; it returns the callback's address and its outcome.
func (w *world) signIn(b *http.Client, u mockoidc.User) (back string, status int, to, page string) {
	w.t.Helper()
	w.provider.QueueUser(u)
	status, away, page := w.get(b, w.url+"/sign-in/oidc?next=/incidents%3Fshow%3Dall")
	if status != 303 || !strings.HasPrefix(away, w.provider.Issuer()) {
		w.t.Fatalf("leaving: %d %s %s", status, away, page)
	}
	_, back, _ = w.get(b, away)
	if !strings.HasPrefix(back, w.url+signin.OpenIDPath) {
		w.t.Fatalf("the provider sends to %s", back)
	}
	status, to, page = w.get(b, back)
	return back, status, to, page
}

func (w *world) in(b *http.Client) bool {
	status, _, _ := w.get(b, w.url+"/me/sessions")
	return status == 200
}

func jane(groups ...string) *mockoidc.MockUser {
	return &mockoidc.MockUser{Subject: "jane-1", Email: "jane@example.com", EmailVerified: true, PreferredUsername: "Jane", Groups: groups}
}

// A person who is new is created, with the roles and teams of the claim, and follows it at each sign-in. What the claim
// does not rule over stays.
func TestFirstSignInCreatesPerson(t *testing.T) {
	w := begin(t, plain)
	b := w.browser()
	_, status, to, page := w.signIn(b, jane("admins", "engineering", "unknown"))
	if status != 303 || to != "/incidents?show=all" || !w.in(b) {
		t.Fatalf("%d %s %s\n%s", status, to, page, w.log.String())
	}
	names := func() (held []string) {
		m := w.member("jane@example.com")
		for _, r := range w.api("/role/list", `{}`)["items"].([]any) {
			role := r.(map[string]any)
			if slices.Contains(m["account_role_ids"].([]any), role["role_id"]) {
				held = append(held, role["role_name"].(string))
			}
		}
		for _, x := range w.api("/team/list", `{}`)["items"].([]any) {
			if slices.Contains(x.(map[string]any)["person_ids"].([]any), m["member_id"]) {
				held = append(held, "team "+x.(map[string]any)["team_name"].(string))
			}
		}
		slices.Sort(held)
		return held
	}
	if got := names(); !slices.Equal(got, []string{"Auditor", "team Engineering"}) {
		t.Errorf("%v", got)
	}
	w.api("/member/role/grant", fmt.Sprintf(`{"member_id":%.0f,"role_ids":[%.0f]}`, w.member("jane@example.com")["member_id"], w.role("Other")))
	again := w.browser()
	if _, status, _, _ := w.signIn(again, jane("night")); status != 303 || !w.in(again) {
		t.Fatalf("again: %d", status)
	}
	if got := names(); !slices.Equal(got, []string{"Night", "Other"}) {
		t.Errorf("after the claim has changed: %v", got)
	}
	if total := w.api("/member/list", `{}`)["total"].(float64); total != 2 {
		t.Errorf("%.0f persons, want the owner and Jane", total)
	}
}

// zoned is a user with a zoneinfo claim.
type zoned struct {
	*mockoidc.MockUser
	zone any
}

func (z zoned) Claims(_ []string, c *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	return struct {
		*mockoidc.IDTokenClaims
		Email    string `json:"email"`
		Verified bool   `json:"email_verified"`
		Zone     any    `json:"zoneinfo"`
	}{c, z.Email, true, z.zone}, nil
}

// A person without a time zone gets the provider's at the first sign-in. Where that is none, the browser's counts.
func TestProviderNamesTimeZone(t *testing.T) {
	w := begin(t, plain)
	for n, c := range []struct {
		claim any
		want  string
	}{{"America/New_York", "America/New_York"}, {"Mars/Olympus", "Asia/Tokyo"}, {5, "Asia/Tokyo"}, {nil, "Asia/Tokyo"}} {
		b := w.browser()
		at, err := url.Parse(w.url)
		if err != nil {
			t.Fatal(err)
		}
		b.Jar.SetCookies(at, []*http.Cookie{{Name: "tocsin-zone", Value: "Asia/Tokyo"}})
		u := zoned{&mockoidc.MockUser{Subject: fmt.Sprint("zoned-", n), Email: fmt.Sprintf("zoned%d@example.com", n)}, c.claim}
		if _, status, _, page := w.signIn(b, u); status != 303 || !w.in(b) {
			t.Fatalf("%v: %d %s\n%s", c.claim, status, page, w.log.String())
		}
		if got := w.member(u.Email)["time_zone"]; got != c.want {
			t.Errorf("zoneinfo %v: the person's time zone is %q, want %q", c.claim, got, c.want)
		}
		u.zone = "Europe/Paris"
		w.signIn(w.browser(), u)
		if got := w.member(u.Email)["time_zone"]; got != c.want {
			t.Errorf("zoneinfo %v: the next sign-in sets the time zone to %q", c.claim, got)
		}
	}
}

func (w *world) role(name string) float64 {
	for _, r := range w.api("/role/list", `{}`)["items"].([]any) {
		if role := r.(map[string]any); role["role_name"] == name {
			return role["role_id"].(float64)
		}
	}
	return 0
}

// An invited person is found by the verified address, and from then on by the provider's own identifier.
func TestVerifiedAddressFindsPerson(t *testing.T) {
	w := begin(t, func(o *signin.OpenID) { o.Provision = false })
	w.api("/member/invite", `{"members":[{"member_name":"Invited","email":"JANE@example.com"}]}`)
	unverified := jane()
	unverified.EmailVerified = false
	for name, u := range map[string]*mockoidc.MockUser{"not verified": unverified, "not known": {Subject: "x", Email: "x@example.com", EmailVerified: true}, "no address": {Subject: "y"}} {
		b := w.browser()
		if _, status, _, page := w.signIn(b, u); status != 403 && status != 502 || w.in(b) || strings.Contains(page, "Invited") {
			t.Errorf("%s: %d", name, status)
		}
	}
	b := w.browser()
	if _, status, _, _ := w.signIn(b, jane()); status != 303 || !w.in(b) {
		t.Fatalf("%d", status)
	}
	if m := w.member("jane@example.com"); m["member_name"] != "Invited" || m["status"] != "enabled" {
		t.Errorf("%v", m)
	}
	moved := jane()
	moved.Email, moved.EmailVerified = "elsewhere@example.com", false
	if _, status, _, _ := w.signIn(b, moved); status != 303 {
		t.Errorf("with another address: %d", status)
	}
	w.api("/member/delete", fmt.Sprintf(`{"member_id":%.0f}`, w.member("jane@example.com")["member_id"]))
	if w.in(b) {
		t.Error("a deleted person is signed in")
	}
	if _, status, _, _ := w.signIn(b, jane()); status != 403 || w.in(b) {
		t.Errorf("a deleted person: %d", status)
	}
}

// An answer of the provider is of use once, in the browser that asked for it, for ten minutes, with its state unchanged.
func TestAnswersCannotBeReplayed(t *testing.T) {
	w := begin(t, plain)
	b := w.browser()
	back, _, _, _ := w.signIn(b, jane())
	u, _ := url.Parse(w.url)
	b.Jar.SetCookies(u, []*http.Cookie{{Name: "tocsin", Value: "", Path: "/", MaxAge: -1}})
	if status, _, _ := w.get(b, back); status != 400 || w.in(b) {
		t.Errorf("again in the same browser: %d", status)
	}
	leave := func(b *http.Client) string {
		w.provider.QueueUser(jane())
		_, away, _ := w.get(b, w.url+"/sign-in/oidc")
		_, back, _ := w.get(b, away)
		return back
	}
	thief, victim := w.browser(), w.browser()
	stolen := leave(thief)
	if status, _, _ := w.get(victim, stolen); status != 400 || w.in(victim) {
		t.Errorf("in a browser that did not ask: %d", status)
	}
	leave(victim)
	if status, _, _ := w.get(victim, stolen); status != 400 || w.in(victim) {
		t.Errorf("with the state of another browser: %d", status)
	}
	// A browser that keeps what is of use once.
	keeper := w.browser()
	answer := leave(keeper)
	kept := keeper.Jar.Cookies(u)
	w.get(keeper, answer)
	for _, c := range kept {
		c.Path = "/"
	}
	copied := w.browser()
	copied.Jar.SetCookies(u, kept)
	if status, _, _ := w.get(copied, answer); status != 400 || w.in(copied) {
		t.Errorf("with a copied cookie: %d", status)
	}
	// The code of another sign-in: PKCE does not fit.
	mine, other := w.browser(), w.browser()
	own, foreign := leave(mine), leave(other)
	ownURL, _ := url.Parse(own)
	foreignURL, _ := url.Parse(foreign)
	q := ownURL.Query()
	q.Set("code", foreignURL.Query().Get("code"))
	if status, _, _ := w.get(mine, w.url+signin.OpenIDPath+"?"+q.Encode()); status != 401 || w.in(mine) {
		t.Errorf("with the code of another sign-in: %d", status)
	}
	late := w.browser()
	answer = leave(late)
	w.clock.Add(11 * time.Minute)
	if status, _, _ := w.get(late, answer); status != 400 || w.in(late) {
		t.Errorf("after eleven minutes: %d", status)
	}
	for _, secret := range []string{ownURL.Query().Get("code"), w.provider.ClientSecret} {
		if strings.Contains(w.log.String(), secret) {
			t.Errorf("the log holds %s", secret)
		}
	}
}

// A token that another key has signed, or that is for another sign-in, is refused.
func TestForgedTokensAreRefused(t *testing.T) {
	w := begin(t, plain)
	b := w.browser()
	if _, status, _, _ := w.signIn(b, forged{jane()}); status != 502 || w.in(b) {
		t.Errorf("a token with another nonce: %d", status)
	}
	if strings.Contains(w.log.String(), "eyJ") {
		t.Error("the log holds a token")
	}
	old := w.provider.Keypair
	fresh, err := mockoidc.RandomKeypair(1024)
	if err != nil {
		t.Fatal(err)
	}
	fresh.Kid, err = old.KeyID()
	if err != nil {
		t.Fatal(err)
	}
	w.published, err = old.JWKS()
	if err != nil {
		t.Fatal(err)
	}
	w.provider.Keypair = fresh
	if _, status, _, _ := w.signIn(b, jane()); status != 502 || w.in(b) {
		t.Errorf("a token that another key has signed: %d", status)
	}
}

// forged is a user whose tokens are of another sign-in.
type forged struct{ *mockoidc.MockUser }

func (f forged) Claims(scopes []string, c *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	c.Nonce = "another"
	return f.MockUser.Claims(scopes, c)
}

// Without the provider the owner gets in by password and app key, and the button of the provider leads to an error.
func TestOwnerNeedsNoProvider(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	silent.Close() // nothing listens there
	w := begin(t, func(o *signin.OpenID) { o.Issuer = "http://" + silent.Addr().String() })
	b := w.browser()
	if status, _, page := w.get(b, w.url+"/sign-in"); status != 200 || !strings.Contains(page, "Sign in with Example") {
		t.Errorf("%d %s", status, page)
	}
	if status, _, _ := w.get(b, w.url+"/sign-in/oidc"); status != 502 {
		t.Errorf("%d", status)
	}
	r, err := b.PostForm(w.url+"/sign-in", url.Values{"app_key": {w.first.Key}})
	if err != nil || r.StatusCode != 303 || !w.in(b) {
		t.Errorf("by app key: %v %v", r, err)
	}
	r, err = b.PostForm(w.url+w.first.LinkPath, url.Values{"new_password": {"correct horse battery"}, "again": {"correct horse battery"}})
	if err != nil || r.StatusCode != 303 || !w.in(b) {
		t.Errorf("by link: %v %v", r, err)
	}
}
