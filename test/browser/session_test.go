package browser

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/test/browser/world"
)

// No form of the console does anything for another site's page, nor for a link.
func TestOtherSitesCannotAct(t *testing.T) {
	t.Parallel()
	w := full(t)
	c, all := client(t, w, w.Keys.All), surveyed(t, w, w.Keys.All).forms
	if len(all) < 20 {
		t.Errorf("%d forms were found", len(all))
	}
	for _, f := range all {
		for _, from := range []struct{ origin, site string }{
			{"https://evil.example", "cross-site"}, {"https://evil.example", ""}, {"null", "cross-site"}, {"", "cross-site"}, {"http://other." + strings.TrimPrefix(w.URL, "http://"), "same-site"},
		} {
			if a := c.PostFrom(from.origin, from.site, f.action, f.values); a.Status != http.StatusForbidden {
				t.Errorf("%s of %s, sent from %q (%s): %d", f.action, f.page, from.origin, from.site, a.Status)
			}
		}
		if a := c.Get(f.action); a.Status == http.StatusSeeOther && !strings.HasPrefix(a.Header.Get("Location"), "/sign-in") {
			t.Errorf("%s is done by following a link: %d %s", f.action, a.Status, a.Header.Get("Location"))
		}
	}
	if a := c.Get("/"); a.Status != http.StatusOK {
		t.Errorf("afterwards the session is over: %s", a)
	}
}

// Without a session every page leads to the sign-in and back, and every form does nothing.
func TestNothingWithoutSession(t *testing.T) {
	t.Parallel()
	w := full(t)
	s := surveyed(t, w, w.Keys.All)
	stranger := w.Client(t)
	for _, path := range s.pages {
		a := stranger.Get(path)
		to, err := url.Parse(a.Header.Get("Location"))
		switch {
		case err != nil:
			t.Errorf("%s: %v", path, err)
		case strings.HasPrefix(path, "/sign-in"), strings.HasPrefix(path, "/link/"):
		case a.Status != http.StatusSeeOther || to.Path != "/sign-in" || path != "/" && to.Query().Get("next") != path:
			t.Errorf("%s: %d, to %s", path, a.Status, to)
		}
	}
	for _, f := range s.forms {
		if strings.HasPrefix(f.action, "/sign-in") || strings.HasPrefix(f.action, "/link/") || f.action == "/look" {
			continue
		}
		if a := stranger.Post(f.action, f.values); a.Status != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/sign-in") {
			t.Errorf("%s: %s", f.action, a)
		}
	}
}

// A session is made by signing in, is not chosen from outside, ends for good with the sign-out, and is no app key.
func TestSessions(t *testing.T) {
	t.Parallel()
	w := begin(t)
	fixed := w.Client(t)
	fixed.Choose("tocsin", "chosen-by-someone-else")
	if a := fixed.Get("/"); a.Status != http.StatusSeeOther {
		t.Errorf("a session that someone else chose: %s", a)
	}
	fixed.SignIn(w.Keys.All)
	secret := cookie(t, fixed)
	if secret == "chosen-by-someone-else" || len(secret) < 32 {
		t.Errorf("the session's secret is %q", secret)
	}
	second := client(t, w, w.Keys.All)
	if cookie(t, second) == secret {
		t.Error("two sessions have one secret")
	}
	for _, path := range []string{"/?app_key=" + w.Keys.All, "/incidents?app_key=" + w.Keys.All} {
		if a := w.Client(t).Get(path); a.Status != http.StatusSeeOther {
			t.Errorf("an app key in an address signs in: %s", a)
		}
	}
	answer := fixed.PostFrom("", "same-origin", "/incident/list", url.Values{})
	if answer.Status != http.StatusUnauthorized {
		t.Errorf("the API answers a browser's cookie: %s", answer)
	}
	if a := fixed.Post("/sign-out", nil); a.Status != http.StatusSeeOther {
		t.Errorf("sign out: %s", a)
	}
	again := w.Client(t)
	again.Choose("tocsin", secret)
	if a := again.Get("/"); a.Status != http.StatusSeeOther {
		t.Errorf("a session that has ended: %s", a)
	}
	if a := second.Get("/"); a.Status != http.StatusOK {
		t.Errorf("the other session: %s", a)
	}
}

func cookie(t *testing.T, c *world.Client) string {
	t.Helper()
	u, err := url.Parse(c.Base)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range c.HTTP.Jar.Cookies(u) {
		if k.Name == "tocsin" {
			return k.Value
		}
	}
	t.Fatal("there is no session")
	return ""
}

// After the sign-in a person is led to pages of the console alone.
func TestSignInLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	w := begin(t)
	for _, next := range []string{
		"https://evil.example/", "//evil.example", `/\evil.example`, `\\evil.example`, "/\t/evil.example", "javascript:alert(1)", " //evil.example",
		"http:evil.example", "/%0d%0aX-Evil:1", "////evil.example", "/..//evil.example",
	} {
		a := w.Client(t).Post("/sign-in", url.Values{"app_key": {w.Keys.All}, "next": {next}})
		to := a.Header.Get("Location")
		base, _ := url.Parse(w.URL)
		u, err := base.Parse(to)
		if a.Status != http.StatusSeeOther || err != nil || u.Host != base.Host || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.Contains(to, `\`) ||
			a.Header.Get("X-Evil") != "" {
			t.Errorf("next=%q leads to %q", next, to)
		}
	}
	if a := w.Client(t).Post("/sign-in", url.Values{"app_key": {w.Keys.All}, "next": {"/incidents?show=mine"}}); a.Header.Get("Location") != "/incidents?show=mine" {
		t.Errorf("next= leads to %q", a.Header.Get("Location"))
	}
}

// The page of another site that sends a form to the console, or shows it in a frame, gets nowhere in a real browser.
func TestAnotherSiteInBrowser(t *testing.T) {
	t.Parallel()
	w := begin(t)
	incident := anIncident(t, w)
	p := signedIn(t, w)
	evil := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = rw.Write([]byte(`<title>Evil</title><form method="post" action="` + w.URL + `/incidents/` + incident + `/resolve"><button>Win a prize</button></form><iframe src="` + w.URL + `/"></iframe>`))
	}))
	defer evil.Close()
	other := p.Tab()
	defer other.Close()
	other.Base = strings.Replace(evil.URL, "127.0.0.1", "localhost", 1) // another site than the console's
	other.Open("/")
	if !slices.ContainsFunc(other.Messages(), func(m string) bool { return strings.Contains(m, "frame") }) {
		t.Error("the console was shown in a frame")
	}
	other.Click("Win a prize")
	other.At("/incidents/")
	other.Messages() // the answer is an error
	if got := progress(t, w, incident); got != "Triggered" {
		t.Errorf("the incident is %s", got)
	}
}

// A session ends two weeks after its last use, and three months after the sign-in however it is used.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	w := begin(t)
	used, idle := client(t, w, w.Keys.All), client(t, w, w.Keys.All)
	begun := w.Clock.Now()
	for w.Clock.Now().Sub(begun) < 89*day {
		w.Clock.Add(9 * day)
		if want := w.Clock.Now().Sub(begun) < 90*day; (used.Get("/").Status == http.StatusOK) != want {
			t.Errorf("%v after the sign-in: is the session there: %t", w.Clock.Now().Sub(begun), !want)
		}
	}
	if a := idle.Get("/"); a.Status != http.StatusSeeOther {
		t.Errorf("a session that no one used: %s", a)
	}
}

const day = 24 * time.Hour

// Over HTTPS the cookie of the session can be neither read by scripts nor set by another host, nor sent in the clear.
func TestSecureCookie(t *testing.T) {
	t.Parallel()
	w := ended(t, world.BeginSecure(t, t.TempDir()))
	answer := w.Client(t).PostFrom(w.URL, "same-origin", "/sign-in", url.Values{"app_key": {w.Keys.All}})
	set := answer.Header.Values("Set-Cookie")
	if len(set) != 1 || !strings.HasPrefix(set[0], "__Host-tocsin=") {
		t.Fatalf("the cookies are %q", set)
	}
	for _, want := range []string{"; Path=/", "; HttpOnly", "; Secure", "; SameSite=Lax"} {
		if !strings.Contains(set[0], want) {
			t.Errorf("the cookie lacks %q: %s", want, set[0])
		}
	}
	if strings.Contains(set[0], "Domain") {
		t.Errorf("the cookie is for other hosts, too: %s", set[0])
	}
}
