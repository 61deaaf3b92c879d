package story

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"tocsin/internal/app"
)

const (
	webToken   = "e090078724855a4ca168c3884880dfbc131"
	otherToken = "0123456789abcdef0123456789abcdef131"
	webApp     = "qLpu24Dz4CAzWsESPbJYWA"
)

// webShop is a section with an application whose issues are alerted in the shop. The texts of more are further members.
func webShop(more string) string {
	return fmt.Sprintf(`{"rum_applications": [{"application_id": %q, "application_name": "Web shop", "type": "browser", "client_token": %q,
		"alerting": {"enabled": true, "channel_ids": [%d]}%s}]}`, webApp, webToken, shop, more)
}

// send posts a body as a browser does, and returns the status and the text of the reply.
func (w *world) send(path string, body []byte, headers ...string) (int, string) {
	w.t.Helper()
	req, err := http.NewRequest(http.MethodPost, w.http.URL+path, bytes.NewReader(body))
	w.must(err)
	req.Header.Set("Content-Type", "text/plain;charset=UTF-8")
	req.Header.Set("Origin", "https://shop.example.com")
	req.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(req)
	w.must(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	w.must(err)
	if got := answer.Header.Get("Access-Control-Allow-Origin"); got != "*" {
		w.t.Errorf("%s: Access-Control-Allow-Origin is %q", path, got)
	}
	w.settle()
	return answer.StatusCode, string(text)
}

const datadogURL = "/api/v2/rum?ddforward=%2Fapi%2Fv2%2Frum%3Fddsource%3Dbrowser%26dd-api-key%3D" + webToken

// datadog sends errors as Datadog's SDK does: version, and message and function of each.
func (w *world) datadog(version string, errors ...[2]string) {
	w.t.Helper()
	var lines []string
	for i, e := range errors {
		lines = append(lines, fmt.Sprintf(`{"type":"error","date":%d,"service":"shop-web","version":%q,"session":{"id":"s%d"},"view":{"url":"https://shop.example.com/cart?token=hidden"},`+
			`"usr":{"id":"u1","email":"jane@example.com"},"ddtags":"env:production","error":{"id":"e%d","type":"TypeError","message":%q,"source":"source","handling":"unhandled",`+
			`"stack":"TypeError: x\n  at %s @ https://shop.example.com/assets/app.js:1:273"}}`, w.clock.Now().UnixMilli(), version, i, i, e[0], e[1]))
	}
	if status, text := w.send(datadogURL, []byte(strings.Join(lines, "\n"))); status != 202 {
		w.t.Fatalf("%d %s", status, text)
	}
}

// sentry sends the same error as Sentry's SDK does.
func (w *world) sentry(version, message, function string) {
	w.t.Helper()
	event := fmt.Sprintf(`{"event_id":"4d6d4ad84a1646d886e39438a322d2ef","timestamp":%d,"environment":"production","release":"shop-web@%s","contexts":{"trace":{"trace_id":"t1"}},`+
		`"user":{"ip_address":"{{auto}}"},"exception":{"values":[{"type":"TypeError","value":%q,"mechanism":{"handled":false},"stacktrace":{"frames":[`+
		`{"filename":"https://shop.example.com/assets/app.js","function":"outer","lineno":1,"colno":9},{"filename":"https://shop.example.com/assets/app.js","function":%q,"lineno":1,"colno":273}]}}]}}`,
		w.clock.Now().Unix(), version, message, function)
	status, text := w.send("/errors/api/1/envelope/?sentry_version=7&sentry_key="+webToken, []byte("{\"event_id\":\"4d6d4ad84a1646d886e39438a322d2ef\"}\n{\"type\":\"event\"}\n"+event))
	if status != 200 || text != `{"id":"4d6d4ad84a1646d886e39438a322d2ef"}` {
		w.t.Fatalf("%d %s", status, text)
	}
}

func (w *world) issues() reply {
	w.t.Helper()
	now := w.clock.Now().UnixMilli()
	return w.do("/rum/issue/list", `{"start_time": %d, "end_time": %d, "by_intersection": true, "limit": 100}`, now-100*86400_000, now+1)
}

func (w *world) setIssue(issue, status string) {
	w.t.Helper()
	w.do("/rum/issue/update", `{"issue_id": %q, "status": %q}`, issue, status)
}

var priceOf = [2]string{"Cannot read properties of undefined (reading 'price')", "totalOf"}

// The errors of a page arrive by both SDKs, are one issue, and notify the person on call; it is resolved, which ends its
// incident, and comes back.
func TestErrorsOfPageAreIssueThatPages(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, webShop(""))
	w.datadog("1.4.2", priceOf)
	w.sentry("1.4.2", "undefined is not an object (evaluating 'item.price')", "totalOf")
	if p := w.last(); !strings.HasPrefix(p.subject, "[Warning] Web shop: TypeError: Cannot read properties of undefined (reading 'price')") {
		t.Error(p.subject)
	} else if w.explained(w.issues().get("items.0.issue_id")).Error != nil {
		t.Error("its alert is not explained")
	}
	for _, p := range w.reached() { // addresses of pages may hold secrets
		if strings.Contains(p.text, "hidden") {
			t.Error(p.text)
		}
	}
	w.notified(newPage("ann"))
	list := w.issues()
	for path, want := range map[string]string{"total": "1", "items.0.error_count": "2", "items.0.session_count": "2", "items.0.service": "shop-web", "items.0.severity": "Warning",
		"items.0.status": "for_review", "items.0.versions": `["1.4.2"]`, "items.0.suspected_cause.value": "code.invalid_object_access", "items.0.error.type": "TypeError"} {
		w.want(list, path, want)
	}
	issue := list.get("items.0.issue_id")
	samples := w.do("/rum/issue/sample/list", `{"issue_id": %q}`, issue)
	for path, want := range map[string]string{"items.0.message": "undefined is not an object (evaluating 'item.price')", "items.1.message": priceOf[0], "items.1.frames.0.function": "totalOf",
		"items.0.frames.0.function": "totalOf", "items.0.frames.1.function": "outer", "items.1.frames.0.column": "273", "items.1.url": "https://shop.example.com/cart?token=hidden", "items.1.user.email": "jane@example.com",
		"items.1.session_id": "s0", "items.0.session_id": "t1", "items.1.browser.name": "Firefox", "items.0.ip": "127.0.0.1", "items.0.handled": "false", "items.2": ""} {
		w.want(samples, path, want)
	}
	w.setIssue(issue, "resolved")
	w.notified(over("ann"))
	w.pass(time.Minute)
	w.datadog("1.4.2", priceOf) // a page that was open all the time
	w.notified()
	w.want(w.issues(), "items.0.status", "resolved")
	w.datadog("1.5.0", priceOf)
	w.notified(newPage("ann"))
	again := w.do("/rum/issue/info", `{"issue_id": %q}`, issue)
	for path, want := range map[string]string{"status": "for_review", "regression.regressed_at_version": "1.5.0", "error_count": "4", "resolved_at": "0", "last_seen.version": "1.5.0"} {
		w.want(again, path, want)
	}
	w.setIssue(issue, "ignored")
	w.notified(over("ann"))
	w.datadog("1.6.0", priceOf)
	w.clock.Add(25 * time.Hour)
	w.datadog("", priceOf)
	w.notified()
	w.want(w.issues(), "items.0.status", "ignored")
}

// A storm of one error is one alert, one issue and one page, across a restart, and few rows.
func TestStormOfOneErrorIsOnePage(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, webShop(""))
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for i := range 20 {
				line := fmt.Sprintf(`{"type":"error","service":"shop-web","session":{"id":"s%d"},"ddtags":"env:production","error":{"type":"Error","message":"order %d failed","source":"source"}}`, i, i)
				answer, err := http.Post(w.http.URL+datadogURL, "text/plain", strings.NewReader(strings.Repeat(line+"\n", 10)))
				if err != nil || answer.StatusCode != 202 {
					t.Errorf("%v %v", answer, err)
					continue
				}
				answer.Body.Close()
			}
		})
	}
	wait.Wait()
	w.settle()
	w.notified(newPage("ann"))
	for path, want := range map[string]string{"total": "1", "items.0.error_count": "1600", "items.0.session_count": "20"} {
		w.want(w.issues(), path, want)
	}
	if n := strings.Count(w.do("/rum/issue/sample/list", `{"issue_id": %q}`, w.issues().get("items.0.issue_id")).String(), `"number"`); n != 20 {
		t.Errorf("%d samples, want 20", n)
	}
	w.restart()
	w.datadog("1", [2]string{"order 9 failed", "x"})
	w.notified(newPage("ann")) // another type: TypeError
	w.ack(annKey)
	w.newPages()
	w.datadog("1", [2]string{"order 10 failed", "x"})
	w.datadog("2", [2]string{"order 11 failed", "x"})
	w.notified()
}

// A sender with the public token who invents errors fills neither the database nor the pager.
func TestFloodOfKindsOfErrorsIsBounded(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, webShop(""))
	for i := range 10 {
		var errors [][2]string
		for n := range 30 {
			errors = append(errors, [2]string{"boom in " + strings.Repeat("x", i+1) + strings.Repeat("y", n+1), "f"})
		}
		w.datadog("1", errors...)
	}
	w.want(w.issues(), "total", "101") // one collects the others
	if n := len(w.newPages()); n == 0 || n > 23 {
		t.Errorf("%d pages, want 23 at most: 20 issues, other errors, and one that there are more alerts and more issues each", n)
	}
	w.pass(61 * time.Minute)
	w.newPages()
	w.datadog("1", [2]string{"something else", "g"})
	w.want(w.issues(), "total", "102")
	w.notified(newPage("ann"))
}

// What the application does not want is not kept, and one that is disabled or deleted takes nothing.
func TestWhatApplicationDoesNotTake(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, webShop(`, "no_ip": true`))
	w.drift = time.Hour
	event := `{"timestamp":1,"user":{"id":"u","ip_address":"203.0.113.9"},"message":"boom"}`
	envelope := "{\"dsn\":\"https://" + webToken + "@errors.example.com/1\"}\n{\"type\":\"event\"}\n" + event
	if status, text := w.send("/tunnel", []byte(envelope)); status != 200 {
		t.Fatal(status, text)
	}
	issue := w.issues().get("items.0.issue_id")
	samples := w.do("/rum/issue/sample/list", `{"issue_id": %q}`, issue)
	w.want(samples, "items.0.ip", "")
	w.want(samples, "items.0.user.id", "u")
	if strings.Contains(samples.String(), "203.0.113.9") {
		t.Error(samples)
	}
	for name, c := range map[string]struct {
		path   string
		body   string
		status int
	}{
		"unknown token":       {"/api/v2/rum?dd-api-key=" + otherToken, "", 403},
		"no token":            {"/api/v2/rum", "", 403},
		"no key of a DSN":     {"/api/1/envelope/", "{}\n", 403},
		"not an envelope":     {"/api/1/envelope/?sentry_key=" + webToken, "[]", 400},
		"broken zlib":         {"/api/v2/rum?dd-evp-encoding=deflate&dd-api-key=" + webToken, "zzz", 400},
		"too large":           {"/api/v2/rum?dd-api-key=" + webToken, strings.Repeat(" ", 1<<20+1), 413},
		"replay is discarded": {"/api/v2/rum?ddforward=%2Fapi%2Fv2%2Freplay%3Fdd-api-key%3D" + webToken, "x", 202},
		"another path":        {"/api/v2/rum?ddforward=%2Fetc%3Fdd-api-key%3D" + webToken, "x", 404},
		"nothing in it":       {"/api/v2/rum?dd-api-key=" + webToken, "", 202},
	} {
		if status, text := w.send(c.path, []byte(c.body)); status != c.status {
			t.Errorf("%s: %d, want %d: %s", name, status, c.status, text)
		} else if strings.Contains(text, webToken) {
			t.Errorf("%s: the reply has the token", name)
		}
	}
	w.newPages()
	w.do("/rum/application/delete", `{"application_id": %q}`, webApp)
	if status, _ := w.send("/api/v2/rum?dd-api-key="+webToken, nil); status != 403 {
		t.Error(status)
	}
	w.pass(61 * time.Minute) // nothing can end its alert any more
	w.notified(over("ann"))
}

func TestPreflightIsAnswered(t *testing.T) {
	t.Parallel()
	w := begin(t, webShop(""))
	for _, path := range []string{"/api/v2/rum", "/tunnel", "/api/1/envelope/"} {
		req, err := http.NewRequest(http.MethodOptions, w.http.URL+path, nil)
		w.must(err)
		answer, err := http.DefaultClient.Do(req)
		w.must(err)
		answer.Body.Close()
		if answer.StatusCode != 200 || answer.Header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(answer.Header.Get("Access-Control-Allow-Headers"), "X-Sentry-Auth") {
			t.Errorf("%s: %s %v", path, answer.Status, answer.Header)
		}
	}
}

// One application has its limits, and its flood does not refuse another one.
func TestOneApplicationHasItsLimits(t *testing.T) {
	t.Parallel()
	second := fmt.Sprintf(`{"rum_applications": [{"application_id": "second", "application_name": "Second", "type": "browser", "client_token": %q}]}`, otherToken)
	w := beginWith(t, func(c *app.Config) { bounded(c); c.LimitPerSecond, c.LimitPerMinute = 50, 1000 }, webShop(""), second)
	refused := 0
	for i := range 201 {
		req, err := http.NewRequest(http.MethodPost, w.http.URL+"/api/v2/rum?dd-api-key="+webToken, nil)
		w.must(err)
		req.Header.Set("X-Forwarded-For", fmt.Sprintf("203.0.113.%d", i%3)) // one address has half of it
		answer, err := http.DefaultClient.Do(req)
		w.must(err)
		answer.Body.Close()
		if answer.StatusCode == 429 {
			refused++
			if answer.Header.Get("Retry-After") == "" || answer.Header.Get("X-Sentry-Rate-Limits") == "" {
				t.Error(answer.Header)
			}
		}
	}
	if refused != 1 {
		t.Errorf("%d refused, want 1", refused)
	}
	if status, text := w.send("/api/v2/rum?dd-api-key="+otherToken, nil); status != 202 {
		t.Error(status, text)
	}
}

// An issue without a version is resolved when it has not come for 14 days; one of a version when a later version lives
// without it.
func TestIssuesThatHaveGoneAreResolved(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, webShop(""))
	w.drift = time.Hour
	w.datadog("", [2]string{"without a version", "a"})
	w.datadog("1.0", [2]string{"of a version", "b"}, [2]string{"of both versions", "c"})
	w.pass(24 * time.Hour)
	w.datadog("1.1", [2]string{"of both versions", "c"})
	w.newPages()
	w.pass(14 * 24 * time.Hour)
	status := map[string]string{}
	list := w.issues()
	for i := range 3 {
		status[list.get(fmt.Sprintf("items.%d.error.message", i))] = list.get(fmt.Sprintf("items.%d.status", i))
	}
	if status["without a version"] != "resolved" || status["of a version"] != "resolved" || status["of both versions"] != "for_review" {
		t.Error(status)
	}
}

// An application whose channels take nothing notifies the account's owner.
func TestIssueWithoutChannelIsOwners(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, webShop(""))
	w.do("/channel/disable", `{"channel_id": %d}`, shop)
	w.datadog("1", priceOf)
	w.datadog("1", priceOf)
	pages := w.newPages()
	if len(pages) != 1 || !strings.HasPrefix(pages[0].String(), "olga@example.com") {
		t.Error(pages)
	}
}

// The captures of real browsers are taken as they came.
func TestCapturesOfBrowsersAreTaken(t *testing.T) {
	t.Parallel()
	w := begin(t, webShop(""))
	for name, path := range map[string]string{"dd-01-beacon-exit.ndjson": datadogURL, "dd-03-deflate.zlib": datadogURL + "%26dd-evp-encoding%3Ddeflate",
		"sentry-01-uncaught.envelope": "/api/42/envelope/?sentry_key=" + webToken, "sentry-05-session.envelope": "/api/42/envelope/?sentry_key=" + webToken} {
		body, err := os.ReadFile("../../internal/source/browser/testdata/" + name)
		w.must(err)
		if status, text := w.send(path, body); status != 202 && status != 200 {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	w.want(w.issues(), "total", "7")
}

// A corrupt issue fails its own errors, and no other of the same account.
func TestCorruptIssueFailsAlone(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, webShop(""))
	w.datadog("1", priceOf)
	w.sql("UPDATE rum_issue SET versions = 'x'")
	one := func(message string) []byte {
		return fmt.Appendf(nil, `{"type":"error","service":"shop-web","ddtags":"env:production","error":{"type":"TypeError","message":%q,"source":"source","stack":"TypeError: x\n  at totalOf @ https://shop.example.com/assets/app.js:1:273"}}`, message)
	}
	if status, text := w.send(datadogURL, one(priceOf[0])); status != 500 || strings.Contains(text, "versions") {
		t.Error(status, text)
	}
	if status, text := w.send(datadogURL, one("another one")); status != 202 {
		t.Error(status, text)
	}
}
