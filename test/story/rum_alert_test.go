package story

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// beginWeb starts a world with an application. Its channel groups alerts as their source does, the default of a new channel.
func beginWeb(t *testing.T, more ...string) *world {
	t.Helper()
	w := begin(t, append(more, webShop(""))...)
	w.do("/channel/update", `{"channel_id": %d, "group": {"method": "p", "equals": [["group_key"]]}}`, shop)
	return w
}

// captured sends the errors that Datadog's SDK sent from a page, as errors of a version.
func (w *world) captured(version string) {
	w.t.Helper()
	body, err := os.ReadFile("../../internal/source/browser/testdata/dd-01-beacon-exit.ndjson")
	w.must(err)
	body = bytes.ReplaceAll(body, []byte("1.4.2"), []byte(version))
	if status, text := w.send(datadogURL, body); status != 202 {
		w.t.Fatalf("%d %s", status, text)
	}
}

// bug is an error of a kind of its own. Errors of development are Info, and errors of production Warning. A payment that
// fails is Critical.
func bug(word string) [2]string { return [2]string{"no " + word + " there", "show" + word} }

// dev sends an error of a development build.
func (w *world) dev(version string, e [2]string) {
	w.t.Helper()
	line := fmt.Sprintf(`{"type":"error","service":"shop-web","version":%q,"session":{"id":"s"},"ddtags":"env:dev","error":{"type":"Error","message":%q,"source":"source",`+
		`"stack":"Error: x\n  at %s @ https://shop.example.com/assets/app.js:1:273"}}`, version, e[0], e[1])
	if status, text := w.send(datadogURL, []byte(line)); status != 202 {
		w.t.Fatalf("%d %s", status, text)
	}
}

// incidents returns the titles of the open incidents, the newest first.
func (w *world) incidents() (titles []string) {
	w.t.Helper()
	now := w.clock.Now().Unix()
	list := w.do("/incident/list", `{"start_time": %d, "end_time": %d, "progress": "Triggered,Processing", "limit": 100}`, now-86400, now+3600)
	for i := 0; list.get(fmt.Sprintf("items.%d.incident_id", i)) != ""; i++ {
		titles = append(titles, list.get(fmt.Sprintf("items.%d.title", i)))
	}
	return titles
}

// one returns the only page since the last call, which must begin with a subject and have texts.
func (w *world) one(subject string, texts ...string) {
	w.t.Helper()
	pages := w.newPages()
	if len(pages) != 1 || !strings.HasPrefix(pages[0].subject, subject) {
		w.t.Errorf("%d pages, want one that begins with %q: %+v", len(pages), subject, pages)
		return
	}
	for _, text := range texts {
		if !strings.Contains(pages[0].text, text) {
			w.t.Errorf("the page lacks %q:\n%s", text, pages[0].text)
		}
	}
}

// issueOf returns the id of the issue whose message contains a text.
func (w *world) issueOf(text string) string {
	w.t.Helper()
	list := w.issues()
	for i := 0; ; i++ {
		id := list.get(fmt.Sprintf("items.%d.issue_id", i))
		if id == "" {
			w.t.Fatalf("no issue of %q in %s", text, list)
		}
		if strings.Contains(list.get(fmt.Sprintf("items.%d.error.message", i)), text) {
			return id
		}
	}
}

func TestNewIssueIsToldWhileAnotherIsOpen(t *testing.T) {
	t.Parallel()
	w := beginWeb(t, notifyAnn)
	w.dev("1.0.0", bug("small"))
	w.one("[Info] Web shop: Error: no small there", "Error: no small there", "showsmall, https://shop.example.com/assets/app.js:1:273", "1 error in 1 session.")
	w.ack(annKey)
	w.newPages()
	w.pass(11 * time.Minute)
	w.datadog("1.0.0", bug("cart"))
	w.one("[Warning] Web shop: TypeError: no cart there", "TypeError: no cart there")
	w.datadog("", bug("version"))
	w.one("[Warning] Web shop: TypeError: no version there")
	w.datadog("", bug("name"))
	w.one("[Warning] Web shop: TypeError: no name there")
	if n := len(w.incidents()); n != 4 {
		t.Errorf("%d incidents, want 4", n)
	}
}

func TestRegressionIsToldWhileAnotherIsOpen(t *testing.T) {
	t.Parallel()
	w := beginWeb(t, notifyAnn)
	w.datadog("1.0.0", bug("cart"))
	w.one("[Warning] Web shop: TypeError: no cart there")
	w.datadog("1.0.0", bug("price")) // the issue joins the incident, which then stays open
	w.notified()
	w.setIssue(w.issueOf("cart"), "resolved")
	w.notified()
	w.pass(time.Minute)
	w.datadog("2.0.0", bug("cart"))
	w.one("[Warning] Web shop: TypeError: no cart there", "TypeError: no cart there", "It was resolved and has come back in version 2.0.0.")
	if n := len(w.incidents()); n != 2 {
		t.Errorf("%d incidents, want 2", n)
	}
}

func TestIssuesNewInOneVersionAreOneIncident(t *testing.T) {
	t.Parallel()
	w := beginWeb(t, notifyAnn)
	w.captured("2.0.1")
	w.one("[Critical] Web shop: 7 new issues in 2.0.1", "ValidationError: Invalid quantity 0 for item SKU-9981", "Error: payment gateway said Error: gateway timeout")
	if got := w.incidents(); len(got) != 1 || got[0] != "Web shop: 7 new issues in 2.0.1" {
		t.Error(got)
	}
	w.captured("2.0.1")
	w.notified()
	w.captured("2.0.2") // the same issues are new in no later version
	w.notified()
}

func TestLaterIssuesOfVersionJoinQuietly(t *testing.T) {
	t.Parallel()
	w := beginWeb(t, notifyAnn)
	w.dev("2.0.1", bug("first"))
	w.one("[Info] Web shop: Error: no first there")
	for i, word := range []string{"alpha", "beta", "gamma", "delta", "epsilon"} {
		w.pass(time.Minute)
		if i == 2 {
			w.restart()
		}
		w.dev("2.0.1", bug(word))
	}
	w.notified()
	if got := w.incidents(); len(got) != 1 || got[0] != "Web shop: 6 new issues in 2.0.1" {
		t.Error(got)
	}
	w.ack(annKey)
	w.datadog("2.0.1", [2]string{"payment crash", "pay"})
	w.one("[Now Critical] Web shop: TypeError: payment crash", "TypeError: payment crash", "In pay, https://shop.example.com/assets/app.js:1:273")
	got := w.incidents()
	if len(got) != 1 || got[0] != "Web shop: 7 new issues in 2.0.1" {
		t.Error(got)
	}
	for _, word := range []string{"payment", "first", "alpha", "beta", "gamma", "delta"} {
		w.setIssue(w.issueOf(word), "resolved")
	}
	w.notified()
	w.setIssue(w.issueOf("epsilon"), "ignored")
	w.notified(over("ann"))
	w.pass(5 * time.Minute) // eleven minutes after the first
	w.dev("2.0.1", bug("zeta"))
	w.one("[Info] Web shop: Error: no zeta there")
	w.dev("2.0.2", bug("eta")) // the version is another
	w.one("[Info] Web shop: Error: no eta there")
}

// The message at the end of a silence has all issues of the version that it held.
func TestHeldIssuesOfVersionAreOneMessage(t *testing.T) {
	t.Parallel()
	w := beginWeb(t, notifyAnn)
	w.do("/channel/silence/rule/create", `{"channel_id": %d, "rule_name": "release", "filters": %s, %s}`, shop, where("application", "Web shop"), once(90*time.Minute))
	for _, word := range []string{"first", "second", "third"} {
		w.datadog("2.0.1", bug(word))
		w.pass(time.Second)
	}
	w.pass(70 * time.Minute)
	w.datadog("2.0.2", bug("later")) // the groups of the hour before are over
	w.newPages()
	w.pass(20 * time.Minute)
	var subjects []string
	for _, p := range w.newPages() {
		if p.to == "ann@example.com" {
			subjects = append(subjects, p.subject)
		}
	}
	if all := strings.Join(subjects, "; "); len(subjects) != 2 || !strings.Contains(all, "[Warning] Web shop: 3 new issues in 2.0.1") {
		t.Error(all)
	}
	if got := w.incidents(); len(got) != 2 || !slices.Contains(got, "Web shop: 3 new issues in 2.0.1") || !slices.Contains(got, "Web shop: TypeError: no later there") {
		t.Error(got)
	}
}

// A rise of issues that no person has acknowledged is a message, once; issues that follow are none.
func TestRiseOfUnacknowledgedIssuesIsToldOnce(t *testing.T) {
	t.Parallel()
	w := beginWeb(t, notifyAnn)
	w.datadog("2.0.1", bug("first"))
	w.one("[Warning] Web shop: TypeError: no first there")
	w.pass(time.Minute)
	w.datadog("2.0.1", bug("second"))
	w.notified()
	w.datadog("2.0.1", [2]string{"payment crash", "pay"})
	w.one("[Now Critical] Web shop: TypeError: payment crash", "TypeError: payment crash")
	w.pass(time.Minute)
	w.datadog("2.0.1", [2]string{"payment lost", "payLost"})
	w.dev("2.0.1", bug("third"))
	w.pass(time.Minute)
	w.notified()
	if got := w.incidents(); len(got) != 1 || got[0] != "Web shop: 5 new issues in 2.0.1" {
		t.Error(got)
	}
}

func TestTitleOfPersonStays(t *testing.T) {
	t.Parallel()
	w := beginWeb(t, notifyAnn)
	w.datadog("2.0.1", bug("first"))
	w.do("/incident/reset", `{"incident_id": %q, "title": "The release is broken"}`, w.incident())
	w.datadog("2.0.1", bug("second"))
	if got := w.incidents(); len(got) != 1 || got[0] != "The release is broken" {
		t.Error(got)
	}
}

func TestChannelWithoutGroupsNotifiesOfEachIssue(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, webShop(""))
	w.datadog("2.0.1", bug("first"))
	w.one("[Warning] Web shop: TypeError: no first there")
	w.datadog("2.0.1", bug("second"))
	w.one("[Warning] Web shop: TypeError: no second there")
}

func TestNoiseOfBrowsersNotifiesNoPerson(t *testing.T) {
	t.Parallel()
	w := beginWeb(t, notifyAnn)
	none := [2]string{"", ""}
	for _, message := range []string{"ResizeObserver loop completed with undelivered notifications.", `Uncaught "ResizeObserver loop limit exceeded"`, "Script error.", `Uncaught "Script error."`} {
		none[0] = message
		w.datadog("1.0.0", none)
	}
	w.sentry("1.0.0", "ResizeObserver loop limit exceeded", "observe") // another function threw the error
	extension := `{"type":"error","service":"shop-web","version":"1.0.0","ddtags":"env:production","error":{"type":"TypeError","message":"no wallet","source":"source",` +
		`"stack":"TypeError: no wallet\n  at <anonymous>\n  at inject @ chrome-extension://abc/inpage.js:1:2\n  at pay @ https://shop.example.com/assets/app.js:1:273"}}`
	if status, text := w.send(datadogURL, []byte(extension)); status != 202 {
		t.Fatalf("%d %s", status, text)
	}
	w.notified()
	list := w.issues()
	w.want(list, "total", "4")
	why := map[string]int{}
	for i := range 4 {
		at := fmt.Sprintf("items.%d.", i)
		why[list.get(at+"no_alert")+" "+list.get(at+"error_count")]++
	}
	if why["resize_observer_loop 2"] != 1 || why["resize_observer_loop 1"] != 1 || why["script_error 2"] != 1 || why["browser_extension 1"] != 1 {
		t.Error(why)
	}
	for i := range 4 {
		x := w.do("/alert/explain", `{"issue_id": %q}`, list.get(fmt.Sprintf("items.%d.issue_id", i)))
		why := x.get("summary_data.args.0.args.0.code")
		if !strings.HasPrefix(why, "issue_") || x.get("words_data.0.args.0.code") != "issue_silent" || !strings.HasPrefix(x.get("summary"), "Nobody was notified: ") {
			t.Error(x)
		}
	}
	w.datadog("1.0.0", [2]string{"no wallet", "pay"}) // the application threw an error of the same type and place
	w.one("[Warning] Web shop: TypeError: no wallet")
	if i := w.do("/rum/issue/info", `{"issue_id": %q}`, w.issueOf("no wallet")); i.get("no_alert") != "" || i.get("error_count") != "2" {
		t.Error(i)
	}
	if x := w.do("/alert/explain", `{"issue_id": %q}`, w.issueOf("no wallet")); x.get("summary") != "Notified: Ann Day." {
		t.Error(x)
	}
}

func TestIssuesBeyondBoundAreOneIncident(t *testing.T) {
	t.Parallel()
	w := beginWeb(t, notifyAnn)
	// Issues without a version are incidents of their own.
	for i := range 20 {
		w.datadog("", bug(strings.Repeat("x", i+1)))
	}
	if got := w.incidents(); len(got) != 20 {
		t.Fatal(len(got), got)
	}
	w.pass(2 * time.Minute) // for the budget of mails
	w.newPages()
	w.dev("", bug("further"))
	w.one("[Info] 1 further new issue in application Web shop this hour: Error: no further there", "Error: no further there")
	for i := range 32 {
		w.dev("", bug(strings.Repeat("y", i+1)))
	}
	w.notified()
	w.ack(annKey)
	w.datadog("", [2]string{"payment crash", "pay"})
	title := "34 further new issues in application Web shop this hour, such as TypeError: payment crash"
	w.one("[Now Critical] "+title, "Critical: TypeError: payment crash", "Info: Error: no further there", "and 24 more")
	if got := w.incidents(); len(got) != 21 || got[0] != title {
		t.Error(len(got), got)
	}
	w.restart()
	w.dev("", bug("last"))
	w.notified()
	if got := w.incidents(); !strings.HasPrefix(got[0], "35 further new issues in application Web shop this hour") {
		t.Error(got[0])
	}
	now := w.clock.Now().UnixMilli()
	list := w.do("/rum/issue/list", `{"start_time": %d, "end_time": %d, "limit": 100}`, now-86400_000, now+1)
	var further []string
	for i := range 55 {
		if m := list.get(fmt.Sprintf("items.%d.error.message", i)); !strings.Contains(m, "xx") && m != "no x there" {
			further = append(further, list.get(fmt.Sprintf("items.%d.issue_id", i)))
		}
	}
	if len(further) != 35 {
		t.Fatal(len(further))
	}
	for _, issue := range further[1:] {
		w.setIssue(issue, "resolved")
	}
	w.notified()
	w.setIssue(further[0], "resolved")
	w.notified(over("ann"))
}
