package console_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tocsin/internal/integration"
)

// call calls an operation of the API with an app key and returns its data.
func (w *world) call(key, path, body string) map[string]any {
	w.t.Helper()
	r, err := http.Post(w.url+path+"?app_key="+key, "application/json", strings.NewReader(body))
	w.must(err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	w.must(err)
	var reply struct {
		Data map[string]any `json:"data"`
	}
	w.must(json.Unmarshal(text, &reply))
	if r.StatusCode != http.StatusOK {
		w.t.Fatalf("%s: %s", path, text)
	}
	return reply.Data
}

// receiver is an endpoint of a webhook whose answers a test chooses.
type receiver struct {
	*httptest.Server
	status atomic.Int64
	got    atomic.Int64
}

// hook starts a receiver and subscribes it to new incidents. It returns its integration.
func (w *world) hook() (*receiver, string) {
	w.t.Helper()
	to := &receiver{}
	to.status.Store(http.StatusInternalServerError)
	to.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		to.got.Add(1)
		rw.WriteHeader(int(to.status.Load()))
		_, _ = io.WriteString(rw, `{"says":"<b>no</b>"}`)
	}))
	w.t.Cleanup(to.Close)
	created := w.call(ownerKey, "/integration/create", fmt.Sprintf(`{"integration_name":"Desk \"><img src=x>","integration_type":"webhook_incident","settings":{"endpoint":%q,"event_types":["i_new"]}}`, to.URL+"/in"))
	return to, fmt.Sprintf("%.0f", created["integration_id"])
}

var anAttempt = regexp.MustCompile(`href="(/deliveries/[^"?]+\?hook=\d+)"`)

// TestWebhookLedger follows a message that fails: its attempts, the breaker of its endpoint, the replay by one and by many.
func TestWebhookLedger(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.get("/deliveries").shows("There is no webhook yet.", "!the type webhook;")
	owner.get("/endpoints").shows("There is no webhook yet.")
	to, id := w.hook()
	endpoint := "/endpoints/" + id
	owner.get(endpoint).shows("The endpoint accepts messages", "Nothing was sent in the last 7 days")

	w.push(`{"title_rule": "Shop is down", "event_status": "Critical", "alert_key": "shop"}`)
	list := owner.get("/deliveries").shows("Opened", "Shop is down", "!i_new<", "Failed 500", "Attempts in 7 days: 1", "Failed attempts in the last 7 days: 1", "Desk &#34;&gt;&lt;img", "!<img src=x>")
	first := strings.ReplaceAll(anAttempt.FindStringSubmatch(list.body)[1], "&amp;", "&")
	owner.get(first).shows("Waiting for its next attempt", "500", "Shop is down", "&lt;b&gt;no&lt;/b&gt;", "Send again")
	owner.get(endpoint).shows("Failures in a row", "it answered 500", "Messages that wait")
	for range 10 {
		w.clock.Add(time.Minute)
		w.settle()
	}
	owner.get("/deliveries?status=failed").shows("earlier attempts")
	owner.get(endpoint).shows("Failing since")

	to.status.Store(http.StatusOK)
	before := to.got.Load()
	owner.post(first[:strings.IndexByte(first, '?')] + "/replay" + first[strings.IndexByte(first, '?'):]).shows("It is being sent again")
	w.settle()
	if to.got.Load() <= before {
		t.Error("the message was not sent again")
	}
	owner.get(first).shows("Delivered", "Replay")
	owner.get(endpoint).shows("The endpoint accepts messages")

	from, until := "2026-11-21T09:00", "2026-11-21T12:00"
	counted := owner.post(endpoint+"/count", "from", from, "to", until, "status", "").shows("1 messages would be sent again", `value="`+from+`"`)
	if strings.Contains(counted.path, "from=") {
		t.Error("the form is in the address")
	}
	owner.post(endpoint+"/count", "from", from, "to", until, "status", "failed").shows("No message in this window ended so")
	owner.post(endpoint+"/count", "from", "yesterday", "to", until).showsWith(http.StatusBadRequest, "Enter the beginning and the end", `value="yesterday"`)
	owner.post(endpoint+"/replay", "from", from, "to", until, "status", "", "count", "70").showsWith(http.StatusBadRequest, "found 1")
	before = to.got.Load()
	owner.post(endpoint+"/replay", "from", from, "to", until, "status", "", "count", "1").shows("The replay has begun", "0 of 1 sent")
	w.settle()
	owner.get(endpoint).shows("1 of 1 sent")
	if to.got.Load() != before+1 {
		t.Errorf("the replay sent %d messages", to.got.Load()-before)
	}
}

// TestFailedMessagesAreSentAgainFromList lets two messages fail for good, and sends them again from the top of the list.
func TestFailedMessagesAreSentAgainFromList(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	to, id := w.hook()
	w.push(`{"title_rule": "Shop is down", "event_status": "Critical", "alert_key": "shop"}`)
	w.push(`{"title_rule": "Mail is down", "event_status": "Critical", "alert_key": "mail"}`)
	owner.post("/deliveries/replay", "days", "7").shows("No message failed for good", "tried again by itself")
	for range 30 {
		w.clock.Add(time.Hour)
		w.settle()
	}
	w.signIn(annKey).get("/deliveries").shows("Failed attempts in the last 7 days", "!Send again what failed")
	w.signIn(annKey).post("/deliveries/replay", "days", "7").showsWith(http.StatusForbidden)
	counted := owner.post("/deliveries/replay", "days", "7", "hook", id).shows("2 messages failed for good", "Resend 2")
	window := regexp.MustCompile(`name="(from|to)" value="(\d+)"`).FindAllStringSubmatch(counted.body, -1)
	to.status.Store(http.StatusOK)
	before := to.got.Load()
	form := []string{"hook", id, window[0][1], window[0][2], window[1][1], window[1][2], "count"}
	owner.post("/deliveries/replay", append(form, "99")...).showsWith(http.StatusBadRequest, "found 2")
	owner.post("/deliveries/replay", append(form, "2")...).shows("The replay has begun")
	w.settle()
	if sent := to.got.Load() - before; sent != 2 {
		t.Errorf("%d messages were sent again", sent)
	}
	owner.post("/deliveries/replay", "days", "7").shows("No message failed for good")
}

// TestEveryWebhookEventHasWords sends each kind of event as a test: the list has words for it.
func TestEveryWebhookEventHasWords(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	to, hook := w.hook()
	to.status.Store(http.StatusOK)
	for kind, events := range map[string][]string{"webhook_incident": integration.IncidentEvents, "webhook_alert": integration.AlertEvents} {
		id := hook
		if kind == "webhook_alert" {
			made := w.call(ownerKey, "/integration/create", fmt.Sprintf(`{"integration_name":"A","integration_type":%q,"settings":{"endpoint":%q}}`, kind, to.URL))
			id = fmt.Sprintf("%.0f", made["integration_id"])
		}
		for _, e := range events {
			w.call(ownerKey, "/webhook/test", fmt.Sprintf(`{"integration_id":%s,"event_type":%q,"wait_seconds":0}`, id, e))
		}
	}
	w.settle()
	if codes := regexp.MustCompile(`<strong>[ai]_\w+`).FindAllString(owner.get("/deliveries").shows("Acknowledged", "Alert ended").body, -1); codes != nil {
		t.Errorf("the list has codes: %v", codes)
	}
}

// TestWebhookEndpoint sends a test, rotates the secret, and disables the webhook.
func TestWebhookEndpoint(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	to, id := w.hook()
	endpoint := "/endpoints/" + id
	to.status.Store(http.StatusOK)
	owner.post(endpoint + "/test").shows("The test was sent and has no answer yet")

	shown := regexp.MustCompile(`<code id="secret">(whsec_[^<]+)</code>`)
	secret := shown.FindStringSubmatch(owner.post(endpoint+"/rotate", "hours", "24").shows("It is not shown again").body)
	if secret == nil {
		t.Fatal("no secret is shown")
	}
	owner.get(endpoint).shows("!"+secret[1], "!whsec_", "Rotated")
	owner.post(endpoint+"/rotate", "hours", "soon").showsWith(http.StatusBadRequest, "whole number")
	owner.post(endpoint+"/rotate", "hours", "1000").showsWith(http.StatusBadRequest, "grace_seconds")
	owner.post(endpoint + "/expire").shows("Saved.")
	owner.post(endpoint+"/disable").shows("Disabled", "Enable this webhook")
	owner.post(endpoint + "/enable").shows("Disable this webhook")

	ann := w.signIn(annKey) // may read integrations alone
	ann.get(endpoint).shows("Deliveries", "!Send a test", "!Rotate the secret", "!Count the messages", "!Disable this webhook")
	ann.post(endpoint+"/rotate", "hours", "24").showsWith(http.StatusForbidden, "!whsec_")
	w.signIn(annKey).post("/sign-in", "app_key", readerKey, "next", "/deliveries").showsWith(http.StatusForbidden, "Integrations Read (on-call)")
	w.signIn(emptyKey).get(endpoint).showsWith(http.StatusNotFound)
	owner.get("/endpoints/7000000000051").showsWith(http.StatusNotFound, "This integration is no webhook")
}

// TestWebhooksInChinese reads the pages of webhooks in Chinese.
func TestWebhooksInChinese(t *testing.T) {
	t.Parallel()
	w := begin(t)
	_, id := w.hook()
	w.push(`{"title_rule": "Shop is down", "event_status": "Critical", "alert_key": "shop"}`)
	owner := w.signIn(ownerKey)
	first := strings.ReplaceAll(anAttempt.FindStringSubmatch(owner.get("/deliveries").body)[1], "&amp;", "&")
	owner.lang = "zh"
	for _, path := range []string{"/deliveries", "/deliveries?status=success", first, "/endpoints", "/endpoints/" + id} {
		a := owner.get(path).shows("!Attempts<", "!Endpoints<", "!Webhook deliver", "!Failed", "!Deliveries", "!Send", "!Message")
		if strings.Count(a.body, "<script") != 1 {
			t.Errorf("%s has %d scripts", path, strings.Count(a.body, "<script"))
		}
	}
}
