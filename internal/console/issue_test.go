package console_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/rum"
)

// shopPage is where the errors of the tests happened.
const shopPage = "https://shop.example.com"

// browserError returns an error as the Datadog library sends it.
func browserError(id, application, message, stack string) string {
	quoted := func(text string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) }
	return `{"type":"error","date":1795255200000,"application":{"id":"` + application + `"},"session":{"id":"s-` + id + `","type":"user"},
"view":{"id":"v","url":"` + shopPage + `/cart"},"service":"shop-web","version":"1.4.2","ddtags":"env:production,service:shop-web,version:1.4.2",
"usr":{"id":"u7","name":"Jane <b>Doe</b>","email":"jane@example.com"},
"error":{"id":"` + id + `","type":"TypeError","source":"source","handling":"unhandled","message":"` + quoted(message) + `","stack":"` + quoted(stack) + `"}}`
}

// report sends errors to the intake as a page does.
func (w *world) report(token string, errors ...string) {
	w.t.Helper()
	var lines []string
	for _, e := range errors {
		lines = append(lines, strings.ReplaceAll(e, "\n", ""))
	}
	r, err := http.Post(w.url+"/api/v2/rum?ddsource=browser&dd-api-key="+url.QueryEscape(token), "text/plain;charset=UTF-8", strings.NewReader(strings.Join(lines, "\n")))
	w.must(err)
	r.Body.Close()
	if r.StatusCode != http.StatusAccepted {
		w.t.Fatalf("report: %d", r.StatusCode)
	}
	w.settle()
}

// upload stores the source map of the fixture for a file.
func (w *world) upload(minified string) {
	w.t.Helper()
	text, err := os.ReadFile("../core/symbols/testdata/app.min.js.map")
	w.must(err)
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	w.must(form.WriteField("event", `{"type":"js_sourcemap","service":"shop-web","version":"1.4.2","minified_url":"`+minified+`"}`))
	part, err := form.CreateFormFile("source_map", "app.min.js.map")
	w.must(err)
	_, err = part.Write(text)
	w.must(err)
	w.must(form.Close())
	r, err := http.NewRequest(http.MethodPost, w.url+"/sourcemap/upload", &b)
	w.must(err)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("DD-API-KEY", ownerKey)
	reply, err := http.DefaultClient.Do(r)
	w.must(err)
	reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		w.t.Fatalf("upload: %d", reply.StatusCode)
	}
}

// sentText is what a page shows of errors and of code.
var sentText = regexp.MustCompile(`(?s)<pre.*?</pre>`)

// TestIssueStack shows the stack of an error of users: in original code, as it was delivered, and what is missing.
func TestIssueStack(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	made := owner.post("/rum/applications/new", "application_name", "Web shop", "type", "browser", "team_id", "7000000000021")
	_, token, _ := strings.Cut(made.body, "Token that its program sends")
	token = wordOf(token, 35)
	application := strings.TrimPrefix(made.path, "/rum/applications/")
	const hostile = `rate <img src=x onerror=alert(1)> of undefined`
	stack := "TypeError: " + hostile + "\n  at i @ " + shopPage + "/assets/app.min.js:1:273\n  at <script>alert(2)</script> @ " + shopPage + "/assets/lost.js:1:9\n" +
		"  at run @ " + shopPage + "/node_modules/react/index.js:9:1\n  at tick @ https://tags.example.net/t.js:1:2\n  at m @ " + shopPage + "/assets/app.min.js:1:484"
	w.report(token, browserError("e1", application, hostile, stack), browserError("e2", application, hostile, stack))
	found := owner.get(made.path).shows("rate &lt;img")
	_, rest, _ := strings.Cut(found.body, `href="/rum/issues/`)
	id, _, _ := strings.Cut(rest, `"`)
	path := "/rum/issues/" + id

	// Two errors of two sessions of one user arrived today; the day before has none.
	days := owner.get(path).shows("The last 30 days", "Sessions of a day", "Highest: 2, Sat 21 Nov.", "!in the total alone", "Days begin at midnight in UTC").body
	for day, want := range map[string]string{"Sat 21 Nov": "2 2 1", "Fri 20 Nov": "0 0 0"} {
		row := regexp.MustCompile(`<tr><th scope="row">` + day + `</th><td class="num">(\d+)</td><td class="num">(\d+)</td><td class="num">(\d+)</td></tr>`).FindStringSubmatch(days)
		if len(row) == 0 || strings.Join(row[1:], " ") != want {
			t.Errorf("%s has %q, want errors, sessions and users %s", day, row, want)
		}
	}
	if n := strings.Count(days, "<rect "); n != 60 {
		t.Errorf("%d bars are drawn for 30 days of errors and of sessions", n)
	}
	owner.get(path).shows("A source map is missing", shopPage+"/assets/app.min.js</code>", shopPage+"/assets/lost.js</code>", "version 1.4.2",
		"app.min.js:1:273", "2 library frames", "!<img src=x", "!<script>alert", "Jane &lt;b&gt;Doe", `href="`+shopPage+`/cart"`, "Older error", "!Newer error")
	w.upload("/assets/app.min.js")
	page := owner.get(path).shows("applyCoupon", "src/cart.ts:10", "<mark><i>10</i>  return totalOf(items) * (1 - coupon!.rate);</mark>", "src/app.ts:6",
		"!app.min.js</code>", shopPage+"/assets/lost.js</code>", "node_modules/react/index.js:9:1", "tags.example.net")
	if body := page.main(); strings.Index(body, "applyCoupon") > strings.Index(body, "<details") || strings.Contains(body[:strings.Index(body, "<details")], "node_modules") {
		t.Errorf("own frames are open, those of libraries folded: %s", page.main())
	}
	owner.get(path+"?code=sent").shows("app.min.js:1:273", "!src/cart.ts", "!A source map is missing", "Original code")
	owner.get(path+"?n=2").shows("Newer error", "!Older error", "Error 2 of the newest", "src/cart.ts:10")
	owner.get(path + "?n=99").shows("src/cart.ts:10")
	owner.post(path, "suspected_cause", "network.error").shows("The network")
	owner.post(path, "status", "resolved").shows("Resolved", "The network")
	owner.post(path, "suspected_cause", "the moon").showsWith(http.StatusBadRequest, "suspected_cause", "src/cart.ts:10")
	// A person without the right to read applications sees the stack, but no code and no forms.
	rita := w.signIn(readerKey)
	rita.get(path).shows("app.min.js:1:273", "do not let you read", "!src/cart.ts", "!Save the state", "1 library frame")
	owner.lang = "zh"
	for _, address := range []string{path, path + "?n=2&code=sent"} {
		for _, text := range english(sentText.ReplaceAllString(owner.get(address).shows("源代码").body, "|")) {
			if !strings.Contains("Web shop|of undefined|img src|x onerror", text) {
				t.Errorf("%s: %q", address, text)
			}
		}
	}
	other := w.signIn(emptyKey)
	other.get(path).showsWith(http.StatusNotFound)
	owner.lang = "en"
	w.must(w.app.DB.Write(t.Context(), func(tx *db.Tx) error {
		seen := rum.Seen{Timestamp: w.clock.Now().UnixMilli()}
		return rum.LoadIssues(tx, 7000000000001, []rum.Issue{{IssueID: "filed", ApplicationID: application, ErrorCount: 9, FirstSeen: seen, LastSeen: seen}})
	}))
	owner.get("/rum/issues/filed").shows("Nothing in this window", "in the total alone")
}

// wordOf returns the first run of letters and digits with a length in a text.
func wordOf(text string, length int) string {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z') }) {
		if len(word) == length {
			return word
		}
	}
	return ""
}

// TestPrivateApplicationsInConsole asks for the pages of a private application as its creator and as another.
func TestPrivateApplicationsInConsole(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	made := owner.post("/rum/applications/new", "application_name", "Hushed shop", "type", "browser", "team_id", "7000000000021", "is_private", "1")
	_, token, _ := strings.Cut(made.body, "Token that its program sends")
	w.report(wordOf(token, 35), browserError("e1", strings.TrimPrefix(made.path, "/rum/applications/"), "hush now", ""))
	_, rest, _ := strings.Cut(owner.get(made.path).shows("hush now").body, `href="/rum/issues/`)
	id, _, _ := strings.Cut(rest, `"`)
	other := w.anyone(w.kindOf("outsider", auth.Names(auth.All)))
	for _, path := range []string{made.path, "/rum/issues/" + id} {
		owner.get(path).showsWith(http.StatusOK)
		other.get(path).showsWith(http.StatusForbidden, "!Hushed", "!hush now")
		other.post(strings.Replace(path, made.path, made.path+"/edit", 1), "application_name", "x", "type", "browser", "status", "ignored").showsWith(http.StatusForbidden, "!Hushed", "!hush now")
	}
	owner.get("/rum").shows("Hushed shop")
	other.get("/rum").shows("!Hushed")
	other.get("/audit").shows("!Hushed", "!hush now")
}
