package story

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/core/lint"
)

// bounded is a program with the default bounds of an address, behind a proxy that is trusted.
func bounded(c *app.Config) {
	c.BrowserErrorsPerSecond, c.BrowserKindsPerHour = 20, 20
	c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
}

// from sends errors of development without a version from an address, through a proxy. Each message is a kind.
func (w *world) from(address string, messages ...string) {
	w.t.Helper()
	w.fromIn("", address, messages...)
}

// fromIn is from for errors of a version.
func (w *world) fromIn(version, address string, messages ...string) {
	w.t.Helper()
	var lines []string
	for _, m := range messages {
		lines = append(lines, fmt.Sprintf(`{"type":"error","service":"shop-web","version":%q,"ddtags":"env:dev","error":{"type":"Error","message":%q,"source":"source"}}`,
			version, m))
	}
	if status, text := w.send(datadogURL, []byte(strings.Join(lines, "\n")), "X-Forwarded-For", address); status != 202 {
		w.t.Fatalf("%d %s", status, text)
	}
}

// kinds returns n messages of different kinds.
func kinds(word string, n int) (list []string) {
	for i := range n {
		list = append(list, word+" "+strings.Repeat("x", i+1))
	}
	return list
}

// issue returns a member of the issue whose message contains a text.
func (w *world) issue(text, member string) string {
	w.t.Helper()
	return w.do("/rum/issue/info", `{"issue_id": %q}`, w.issueOf(text)).get(member)
}

// One request of 200 junk messages hides no error of another address, and pages no person a hundred times.
func TestJunkOfOneAddressHidesNoErrorOfAnother(t *testing.T) {
	t.Parallel()
	w := beginWith(t, bounded, notifyAnn, webShop(""))
	w.do("/channel/update", `{"channel_id": %d, "group": {"method": "p", "equals": [["group_key"]]}}`, shop)
	w.from("203.0.113.7", kinds("junk", 200)...)
	if n := len(w.newPages()); n == 0 || n > 12 {
		t.Errorf("%d pages, want 12 at most: 10 issues, the further ones, and other errors", n)
	}
	if got := len(w.incidents()); got != 12 {
		t.Errorf("%d incidents, want 12", got)
	}
	w.want(w.issues(), "total", "21")
	if got := w.issue("Other errors", "error_count"); got != "180" {
		t.Errorf("%s other errors, want 180", got)
	}
	if n := strings.Count(w.do("/rum/issue/sample/list", `{"issue_id": %q}`, w.issueOf("Other errors")).String(), `"number"`); n != 20 {
		t.Errorf("%d samples of other errors, want 20", n)
	}
	w.from("203.0.113.8", "payment is gone")
	if got := w.issue("payment is gone", "error_count"); got != "1" {
		t.Error(got)
	}
	w.pass(2 * time.Minute) // for the budget of mails
	named := false
	for _, p := range w.reached() {
		named = named || strings.Contains(p.subject+p.text, "payment is gone")
	}
	if !named {
		t.Error("no page names the error")
	}
	w.from("203.0.113.7", kinds("junk", 20)...) // known kinds count on their issues, also beyond the rate
	w.from("203.0.113.7", kinds("junk", 20)...)
	if got := w.issue("junk x", "error_count"); got != "3" {
		t.Errorf("%s errors, want 3", got)
	}
	w.from("203.0.113.7", "late junk")
	if got := w.issue("Other errors", "error_count"); got != "181" {
		t.Error(got)
	}
	w.clock.Add(61 * time.Minute)
	w.from("203.0.113.7", "next hour")
	w.issueOf("next hour")
}

// Junk that names the current version is one message. It silences no error that other addresses have in this version, and these
// are one more message.
func TestJunkNamingVersionSilencesNoErrorOfOthers(t *testing.T) {
	t.Parallel()
	w := beginWith(t, bounded, notifyAnn, webShop(""))
	w.do("/channel/update", `{"channel_id": %d, "group": {"method": "p", "equals": [["group_key"]]}}`, shop)
	w.fromIn("2.0.1", "203.0.113.7", "junk")
	w.one("[Info] Web shop: Error: junk")
	w.fromIn("2.0.1", "203.0.113.7", "more junk")
	w.notified()
	w.clock.Add(time.Minute)
	w.fromIn("2.0.1", "203.0.113.8", "payment is gone")
	if pages := w.newPages(); len(pages) != 1 || !strings.Contains(pages[0].subject+pages[0].text, "payment is gone") {
		t.Errorf("%d pages, want one that names the error: %+v", len(pages), pages)
		for _, p := range pages {
			t.Error(p.subject, p.text)
		}
	}
	w.fromIn("2.0.1", "203.0.113.9", "cart is gone")
	w.fromIn("2.0.1", "203.0.113.7", "late junk")
	w.clock.Add(time.Minute)
	w.notified()
	if got := w.incidents(); len(got) != 2 || !slices.Contains(got, "Web shop: 2 new issues in 2.0.1") || !slices.Contains(got, "Web shop: 3 new issues in 2.0.1") {
		t.Error(got)
	}
}

// The errors beyond the bounds notify: by the first error, when their severity rises, and after the issue was resolved.
func TestOtherErrorsNotify(t *testing.T) {
	t.Parallel()
	w := beginWith(t, bounded, notifyAnn, webShop(""))
	w.do("/channel/update", `{"channel_id": %d, "group": {"method": "p", "equals": [["group_key"]]}}`, shop)
	for _, m := range kinds("junk", 10) {
		w.clock.Add(time.Minute)
		w.from("203.0.113.7", m)
	}
	w.newPages()
	w.clock.Add(time.Minute)
	w.from("203.0.113.7", "one more")
	w.one("[Info] 1 further new issue in application Web shop this hour: Error: one more")
	w.from("203.0.113.7", kinds("more", 9)...)
	w.notified()
	w.clock.Add(time.Minute)
	w.from("203.0.113.7", "beyond all", "beyond this, too")
	w.one("[Info] Web shop: Other errors", "Errors of kinds beyond the bounds of new issues count here", "beyond this, too")
	w.from("203.0.113.7", "beyond again")
	w.notified()
	w.ack(annKey)
	w.newPages()
	line := `{"type":"error","service":"shop-web","version":"9","ddtags":"env:production","error":{"type":"Error","message":"payment crash of jane@example.com","source":"source"}}`
	w.send(datadogURL, []byte(line), "X-Forwarded-For", "203.0.113.7")
	pages := w.newPages()
	if len(pages) != 1 || !strings.Contains(pages[0].subject, "Other errors") || strings.Contains(pages[0].String(), "jane@") {
		t.Error(pages)
	}
	issue := w.issueOf("Other errors")
	for path, want := range map[string]string{"versions": "[]", "service": "", "severity": "Critical", "error.type": "BeyondBounds", "last_seen.version": ""} {
		w.want(w.do("/rum/issue/info", `{"issue_id": %q}`, issue), path, want)
	}
	w.setIssue(issue, "resolved")
	w.newPages()
	w.clock.Add(time.Minute)
	w.from("203.0.113.7", "beyond again")
	w.want(w.do("/rum/issue/info", `{"issue_id": %q}`, issue), "status", "for_review")
	w.restart() // the bounds of an address begin again, the issue stays
	w.from("203.0.113.7", kinds("next", 30)...)
	w.want(w.do("/rum/issue/info", `{"issue_id": %q}`, issue), "error_count", "15")
}

// An address counts with its network, and a flood of one leaves half of the application's requests to the others.
func TestOneAddressLeavesRequestsToOthers(t *testing.T) {
	t.Parallel()
	w := beginWith(t, func(c *app.Config) { bounded(c); c.LimitPerSecond, c.LimitPerMinute = 50, 1000 }, webShop(""))
	post := func(address string) int {
		req, err := http.NewRequest(http.MethodPost, w.http.URL+datadogURL, nil)
		w.must(err)
		req.Header.Set("X-Forwarded-For", address)
		answer, err := http.DefaultClient.Do(req)
		w.must(err)
		answer.Body.Close()
		return answer.StatusCode
	}
	refused := 0
	for i := range 150 {
		if post(fmt.Sprintf("2001:db8::%x", i+1)) == 429 { // of one /64
			refused++
		}
	}
	if refused != 50 || post("203.0.113.8") != 202 {
		t.Errorf("%d refused of one network, want 50, and none of another", refused)
	}
}

// Without a trusted proxy all callers have the proxy's address: no bound of an address holds for them, and lint reports it.
func TestProxyThatIsNotTrustedHasNoBounds(t *testing.T) {
	t.Parallel()
	w := beginWith(t, func(c *app.Config) { bounded(c); c.TrustedProxies = nil }, webShop(""))
	for _, f := range w.findings() {
		if f.Code == lint.ProxyNotTrusted {
			t.Error(f)
		}
	}
	w.from("203.0.113.7", kinds("kind", 30)...)
	w.want(w.issues(), "total", "30")
	w.finds(lint.ProxyNotTrusted)
	w.send(datadogURL, []byte(`{"type":"error","error":{"message":"a","source":"source"}}`)) // no proxy
	w.clock.Add(25 * time.Hour)
	for _, f := range w.findings() {
		if f.Code == lint.ProxyNotTrusted {
			t.Error(f)
		}
	}
}

// lockedBuffer is a log that is written while it is read.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestNoAddressOfUserInLog(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	w := beginWith(t, func(c *app.Config) { bounded(c); c.Log = slog.New(slog.NewTextHandler(&log, nil)) }, webShop(`, "no_ip": true`))
	event := `{"timestamp":1,"message":"boom"}`
	for path, body := range map[string]string{
		datadogURL: `{"type":"error","error":{"message":"a","source":"source"}}`,
		"/tunnel":  "{\"dsn\":\"https://" + webToken + "@errors.example.com/1\"}\n{\"type\":\"event\"}\n" + event,
		"/api/v2/rum?dd-evp-encoding=deflate&dd-api-key=" + webToken: "zzz",
		"/api/1/envelope/?sentry_key=" + webToken:                    strings.Repeat("x", 1<<20+1),
	} {
		w.send(path, []byte(body), "X-Forwarded-For", "203.0.113.77")
	}
	if text := log.String(); strings.Contains(text, "203.0.113.77") || !strings.Contains(text, "op=/api/v2/rum") || strings.Contains(text, webToken) {
		t.Error(text)
	}
}

// What a visitor of a page may have typed is in the issue alone, in no message.
func TestNothingPrivateInMessages(t *testing.T) {
	t.Parallel()
	w := beginWeb(t, notifyAnn)
	secrets := []string{"jane.doe@example.com", "hunter2", "eyJhbGciOi", "4111 1111 1111 1111"}
	w.datadog("", [2]string{"login failed for jane.doe@example.com password=hunter2 Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln card 4111 1111 1111 1111", "f"})
	w.datadog("2.0", [2]string{"first of jane.doe@example.com", "g"}, [2]string{"second with token=hunter2", "h"})
	texts := fmt.Sprint(w.incidents())
	for _, p := range w.reached() {
		texts += "\n" + p.subject + "\n" + p.text
	}
	for _, s := range secrets {
		if strings.Contains(texts, s) {
			t.Errorf("%q is in %s", s, texts)
		}
	}
	if !strings.Contains(texts, "TypeError: login failed for <email> password=<hidden>") {
		t.Error(texts)
	}
	w.issueOf("jane.doe@example.com password=hunter2")
}

// Pages of other origins, disabled applications and old tokens are refused, and nothing of theirs is stored.
func TestMisusedTokenIsEnded(t *testing.T) {
	t.Parallel()
	w := begin(t, webShop(""))
	line := []byte(`{"type":"error","error":{"message":"a","source":"source"}}`)
	sends := func(want int, headers ...string) {
		t.Helper()
		if status, text := w.send(datadogURL, line, headers...); status != want {
			t.Errorf("%d, want %d: %s", status, want, text)
		}
	}
	update := func(members string) { w.do("/rum/application/update", `{"application_id": %q, %s}`, webApp, members) }
	update(`"allowed_origins": ["https://shop.example.com"]`)
	sends(202)
	sends(403, "Origin", "https://evil.example.net")
	sends(403, "Origin", "")
	update(`"allowed_origins": []`)
	sends(202, "Origin", "https://evil.example.net")
	update(`"status": "disabled"`)
	sends(403)
	w.want(w.issues(), "items.0.error_count", "2")
	update(`"status": "enabled"`)
	sends(202)
	w.do("/rum/application/token/rotate", `{"application_id": %q, "grace_seconds": 3600}`, webApp)
	sends(202)
	w.restart()
	sends(202)
	w.clock.Add(time.Hour)
	sends(403)
	w.want(w.issues(), "items.0.error_count", "5")
}
