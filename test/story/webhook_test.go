package story

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tocsin/internal/sender/webhook"
)

// receiver is an endpoint that writes down what reaches it.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []call
	answer func(n int, w http.ResponseWriter) // n: 1 for the first; nil: 204
}

// call is a request that reached a receiver.
type call struct {
	header    http.Header
	body      string
	EventTime int64  `json:"event_time"`
	EventType string `json:"event_type"`
	EventID   string `json:"event_id"`
	Person    *struct {
		PersonID int64 `json:"person_id"`
	}
	Alert *struct {
		AlertID  string `json:"alert_id"`
		Title    string
		Progress string
		Incident struct{ Title string }
	}
	Incident *struct {
		IncidentID string `json:"incident_id"`
		Title      string
		Progress   string
	}
}

func receive(t *testing.T, answer func(n int, w http.ResponseWriter)) *receiver {
	r := &receiver{answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		text, _ := io.ReadAll(q.Body)
		c := call{header: q.Header, body: string(text)}
		if err := json.Unmarshal(text, &c); err != nil {
			t.Errorf("%v in %s", err, text)
		}
		r.mu.Lock()
		r.got = append(r.got, c)
		n, answer := len(r.got), r.answer
		r.mu.Unlock()
		if answer != nil {
			answer(n, w)
		} else {
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func always(status int) func(int, http.ResponseWriter) {
	return func(_ int, w http.ResponseWriter) { w.WriteHeader(status) }
}

// calls returns the calls since the last one, in the order of the domain events: several are in progress at once.
func (r *receiver) calls() (got []call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	got, r.got = r.got, nil
	number := func(c call) int { n, _ := strconv.Atoi(c.header.Get("Webhook-Number")); return n }
	slices.SortStableFunc(got, func(a, b call) int { return number(a) - number(b) })
	return got
}

// heal lets it take everything from now on.
func (r *receiver) acceptAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = nil
}

// events wants these types of events since the last call, in any order, and returns the calls.
func (r *receiver) events(t *testing.T, want ...string) []call {
	t.Helper()
	calls, got := r.calls(), []string{}
	for _, c := range calls {
		got = append(got, c.EventType)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("it was told %q, want %q", got, want)
	}
	return calls
}

const hook = 7000000000061

// hooks is a section with webhooks: what else is in the first one's settings, and so on. They receive alerts when
// kind is alert, else of incidents.
func hooks(kind string, settings ...string) string {
	list := []string{}
	for n, s := range settings {
		list = append(list, fmt.Sprintf(`{"integration_id": %d, "integration_name": "Hook %d", "integration_type": "webhook_%s", "settings": {%s}}`, hook+n, n, kind, s))
	}
	return `{"integrations": [` + strings.Join(list, ", ") + `]}`
}

func at(r *receiver) string { return fmt.Sprintf(`"endpoint": %q`, r.URL+"/in") }

// history lists deliveries, the newest first.
func (w *world) history(filter string) reply {
	w.t.Helper()
	return w.do("/webhook/history/list", `{"limit": 100, "start_time": 1000000000000, "end_time": 9999999999999%s}`, filter)
}

func TestWebhookReceivesAlertFromBeginningToEnd(t *testing.T) {
	t.Parallel()
	r := receive(t, nil)
	w := begin(t, hooks("alert", at(r)))
	w.push("cpu", "Warning", "title=CPU is high")
	first := r.events(t, "a_new")[0]
	w.clock.Add(time.Second)
	w.push("cpu", "Critical")
	r.events(t, "a_update")
	w.push("cpu", "Ok")
	last := r.events(t, "a_update", "a_close")[1]
	if first.Alert.Title != "CPU is high" || first.Alert.Progress != "Triggered" || first.Alert.Incident.Title != "CPU is high" || last.Alert.Progress != "Closed" {
		t.Errorf("%s\n%s", first.body, last.body)
	}
	if len(first.EventID) != 32 || first.EventID != first.header.Get("Webhook-Id") || first.header.Get("Webhook-Number") != "1" || first.EventTime != start.UnixMilli() {
		t.Errorf("%s %v", first.body, first.header)
	}
	h := w.history("")
	w.want(h, "total", "4")
	w.want(h, "items.3.event_type", "a_new")
	w.want(h, "items.3.status", "success")
	w.want(h, "items.3.attempt", "1")
	w.want(h, "items.3.ref_id", first.Alert.AlertID)
}

func TestWebhookReceivesIncidentAndItsActors(t *testing.T) {
	t.Parallel()
	r := receive(t, nil)
	w := begin(t, hooks("incident", at(r)), notifyAnn)
	w.push("cpu", "Critical")
	opened := r.calls()[0]
	w.as(annKey, "/incident/ack", `{"incident_ids": [%q]}`, opened.Incident.IncidentID)
	acked := r.events(t, "i_ack")[0]
	w.push("cpu", "Ok")
	over := r.events(t, "i_rslv")[0]
	if opened.EventType != "i_new" || opened.Person != nil {
		t.Error(opened.body)
	}
	if acked.Person == nil || acked.Person.PersonID != ann || acked.Incident.Progress != "Processing" || over.Incident.Progress != "Closed" {
		t.Errorf("%s\n%s", acked.body, over.body)
	}
}

func TestWebhookReceivesOnlyEventsItChooses(t *testing.T) {
	t.Parallel()
	news := receive(t, nil)
	shopOnly := receive(t, nil)
	mailOnly := receive(t, nil)
	updates := receive(t, nil)
	w := begin(t, hooks("alert", at(news)+`, "event_types": ["a_new"]`, at(shopOnly)+fmt.Sprintf(`, "channel_ids": [%d]`, shop), at(mailOnly)+fmt.Sprintf(`, "channel_ids": [%d]`, mail),
		at(updates)+`, "event_types": ["a_update"]`))
	w.push("cpu", "Critical")
	w.push("cpu", "Ok")
	news.events(t, "a_new")
	shopOnly.events(t, "a_new", "a_update", "a_close")
	mailOnly.events(t)
	updates.events(t, "a_update", "a_close")
}

func TestDisabledWebhookReceivesNothing(t *testing.T) {
	t.Parallel()
	r := receive(t, always(http.StatusBadGateway))
	w := begin(t, hooks("alert", at(r)))
	w.push("cpu", "Critical")
	r.events(t, "a_new")
	w.do("/integration/disable", `{"integration_id": %d}`, hook)
	w.push("mem", "Critical")
	w.pass(10 * time.Minute)
	r.events(t)
	w.do("/integration/enable", `{"integration_id": %d}`, hook)
	w.push("disk", "Critical")
	r.events(t, "a_new")
}

func TestAttemptThatFailedIsMadeAgainUnderSameId(t *testing.T) {
	t.Parallel()
	r := receive(t, func(n int, w http.ResponseWriter) {
		if n == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	w := begin(t, hooks("alert", at(r)))
	w.push("cpu", "Critical")
	w.pass(time.Minute)
	w.drift = time.Minute
	calls := r.events(t, "a_new", "a_new")
	if calls[0].EventID != calls[1].EventID || calls[0].body != calls[1].body {
		t.Errorf("%s\n%s", calls[0].body, calls[1].body)
	}
	w.pass(time.Hour)
	r.events(t)
	h := w.history("")
	w.want(h, "total", "2")
	w.want(h, "items.0.attempt", "2")
	w.want(h, "items.0.status", "success")
	w.want(h, "items.1.status", "failed")
	w.want(h, "items.1.status_code", "500")
}

func TestDeliveryThatEndpointRefusesIsNotRetried(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusFound, http.StatusBadRequest, http.StatusGone} {
		r := receive(t, always(status))
		w := begin(t, hooks("alert", at(r)))
		w.drift = time.Minute
		w.push("cpu", "Critical")
		w.pass(time.Hour)
		r.events(t, "a_new")
		w.want(w.history(`, "status": "failed"`), "total", "1")
	}
}

func TestRetryAfterIsWaitedFor(t *testing.T) {
	t.Parallel()
	r := receive(t, func(n int, w http.ResponseWriter) {
		if n == 1 {
			w.Header().Set("Retry-After", "600")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	w := begin(t, hooks("alert", at(r)))
	w.push("cpu", "Critical")
	r.events(t, "a_new")
	w.pass(590 * time.Second)
	r.events(t)
	r.acceptAll()
	w.pass(20 * time.Second)
	r.events(t, "a_new")
}

// A dead endpoint is asked ten times, then once a minute, and what it missed reaches it when it is back. Its neighbour
// does not notice.
func TestDeadEndpointBlocksNoOther(t *testing.T) {
	t.Parallel()
	dead, good := receive(t, always(http.StatusServiceUnavailable)), receive(t, nil)
	w := begin(t, hooks("alert", at(dead), at(good)))
	for n := range 30 {
		w.push(fmt.Sprintf("a%d", n), "Critical")
	}
	if n := len(good.calls()); n != 30 {
		t.Errorf("the good one was told %d times", n)
	}
	if n := len(dead.calls()); n < 10 || n > 13 { // those in progress do not come back
		t.Errorf("the dead one was called %d times", n)
	}
	w.pass(10 * time.Minute)
	if n := len(dead.calls()); n < 9 || n > 11 {
		t.Errorf("the dead one was called %d times in ten minutes", n)
	}
	w.push("last", "Critical")
	good.events(t, "a_new")
	dead.acceptAll()
	w.pass(2 * time.Minute)
	w.drift = 5 * time.Minute
	w.pass(time.Hour)
	ids := map[string]int{}
	for _, c := range dead.calls() {
		ids[c.EventID]++
	}
	for id, n := range ids {
		if n != 1 {
			t.Errorf("%s came %d times", id, n)
		}
	}
	if len(ids) != 31 {
		t.Errorf("%d of 31 reached it", len(ids))
	}
}

// However many deliveries wait, an endpoint has four calls at a time.
func TestEndpointGetsFourAtTime(t *testing.T) {
	t.Parallel()
	var inside, most int
	var mu sync.Mutex
	full := make(chan struct{})
	r := receive(t, func(n int, _ http.ResponseWriter) {
		mu.Lock()
		inside++
		most = max(most, inside)
		if n == 4 {
			close(full)
		}
		mu.Unlock()
		<-full // the first ones wait for one another
		mu.Lock()
		inside--
		mu.Unlock()
	})
	w := begin(t, hooks("alert", at(r)))
	for n := range 12 {
		if a := w.post("/event/push/alert/standard?integration_key="+shopKey, fmt.Sprintf(`{"title_rule": "a", "event_status": "Critical", "alert_key": "a%d"}`, n)); a.Error != nil {
			t.Fatal(a)
		}
	}
	w.settle()
	if n := len(r.calls()); n != 12 || most != 4 {
		t.Errorf("it was called %d times, %d at a time", n, most)
	}
}

func TestDeliveryIsGivenUpAfterDay(t *testing.T) {
	t.Parallel()
	r := receive(t, always(http.StatusServiceUnavailable))
	w := begin(t, hooks("alert", at(r)))
	w.push("cpu", "Critical")
	w.drift = 5 * time.Minute
	w.pass(26 * time.Hour)
	attempts := len(r.calls())
	if attempts < 15 || attempts > 40 {
		t.Errorf("%d attempts", attempts)
	}
	w.drift = time.Hour
	w.pass(24 * time.Hour)
	r.events(t)
	w.want(w.history(`, "status": "failed"`), "total", fmt.Sprint(attempts))
}

func TestRestartLosesNoWebhook(t *testing.T) {
	t.Parallel()
	r := receive(t, always(http.StatusBadGateway))
	w := begin(t, hooks("alert", at(r)))
	for n := range 5 {
		w.push(fmt.Sprintf("a%d", n), "Critical")
	}
	first := map[string]bool{}
	for _, c := range r.events(t, "a_new", "a_new", "a_new", "a_new", "a_new") {
		first[c.EventID] = true
	}
	w.sql(`UPDATE webhook_message SET status = 'sending', due_at = due_at + 30000 WHERE number = 3`) // the process ended before it was answered
	w.restart()
	r.acceptAll()
	w.pass(5 * time.Minute)
	for _, c := range r.events(t, "a_new", "a_new", "a_new", "a_new", "a_new") {
		if !first[c.EventID] {
			t.Errorf("%s has another id", c.body)
		}
	}
	w.restart()
	w.pass(time.Minute)
	r.events(t)
}

func TestRequestsAreSignedAndCarryTheirHeaders(t *testing.T) {
	t.Parallel()
	const secret, token = "whsec_c2VjcmV0IG9mIHRoZSBzdG9yaWVz", "Bearer t0ken-of-the-receiver"
	r := receive(t, func(_ int, w http.ResponseWriter) {
		w.Header().Set("X-Echo", token)
		w.Header().Set("Set-Cookie", "session=1")
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(w, "you said %s and %s", token, secret)
	})
	w := begin(t, hooks("alert", at(r)+fmt.Sprintf(`, "sign_secret": %q, "headers": {"authorization": %q}`, secret, token)))
	w.push("cpu", "Critical")
	w.pass(10 * time.Second)
	calls := r.events(t, "a_new", "a_new")
	for _, c := range calls {
		stamp := c.header.Get("Webhook-Timestamp")
		if c.header.Get("Authorization") != token || c.header.Get("Webhook-Signature") != "v1,"+webhook.Sign(secret, c.EventID, stamp, []byte(c.body)) {
			t.Error(c.header)
		}
	}
	if calls[0].header.Get("Webhook-Timestamp") == calls[1].header.Get("Webhook-Timestamp") {
		t.Error("it was signed only once")
	}
	id := w.history("").get("items.1.event_id")
	d := w.do("/webhook/history/detail", `{"event_id": %q, "integration_id": %d}`, id, hook)
	for path, want := range map[string]string{
		"event_id": id, "request_body": calls[0].body, "response_body": "you said *** and ***", "channel_name": "Shop", "ref_title": "Trouble with cpu",
		"error_message": "it answered 500 Internal Server Error", "status": "failed", "attempt": "1",
	} {
		w.want(d, path, want)
	}
	if text := d.String(); strings.Contains(text, "t0ken") || strings.Contains(text, "c2VjcmV0") || strings.Contains(text, "session=1") || !strings.Contains(d.get("request_headers"), `"Authorization":"***"`) {
		t.Error(text)
	}
}

func TestBodyOfItsOwn(t *testing.T) {
	t.Parallel()
	r := receive(t, nil)
	body, _ := json.Marshal(`{"event_type": "{{event_type}}", "alerts": "{{incident.alert_cnt}}", "text": "{{incident.num}}: {{incident.title}} {{incident.nothing}}", "channel": "{{incident.channel_name}}"}`)
	w := begin(t, hooks("incident", at(r)+fmt.Sprintf(`, "event_types": ["i_new"], "body": %s`, body)))
	w.push("cpu", "Critical", `title=A "quoted" title`)
	c := r.events(t, "i_new")[0]
	if !strings.Contains(c.body, `"alerts": 1, "text": "`) || !strings.Contains(c.body, `: A \"quoted\" title {{incident.nothing}}", "channel": "Shop"}`) {
		t.Error(c.body)
	}
}

func TestDeliveryIsSentAgainByHand(t *testing.T) {
	t.Parallel()
	r := receive(t, always(http.StatusBadRequest))
	w := begin(t, hooks("alert", at(r)))
	w.push("cpu", "Critical")
	first := r.events(t, "a_new")[0]
	r.acceptAll()
	id := w.history("").get("items.0.event_id")
	again := w.do("/webhook/history/replay", `{"event_id": %q}`, id).get("event_id")
	second := r.events(t, "a_new")[0]
	if second.body != first.body || again == "" || again == id {
		t.Errorf("%s is sent again as %s: %s", id, again, second.body)
	}
	w.want(w.do("/webhook/history/detail", `{"event_id": %q, "integration_id": %d}`, again, hook), "attempt", "2")
	w.pass(time.Hour)
	r.events(t)
	w.do("/integration/disable", `{"integration_id": %d}`, hook)
	if r := w.try(ownKey, "/webhook/history/replay", `{"event_id": %q}`, id); r.Error == nil || !strings.Contains(r.Error.Message, "disabled") {
		t.Error(r)
	}
	if r := w.try(ownKey, "/webhook/history/replay", `{"event_id": "nothing"}`); r.Error == nil || r.Error.Code != "ResourceNotFound" {
		t.Error(r)
	}
}

// A webhook for all channels receives nothing of a private one: its creator may not be allowed to read that.
func TestWebhookReceivesPrivateChannelsItNames(t *testing.T) {
	t.Parallel()
	all, named := receive(t, nil), receive(t, nil)
	w := begin(t, hooks("incident", at(all), at(named)+fmt.Sprintf(`, "channel_ids": [%d]`, shop)), notifyAnn)
	w.do("/channel/update", `{"channel_id": %d, "is_private": true}`, shop)
	w.push("cpu", "Critical")
	all.events(t)
	named.events(t, "i_new", "i_assign")
	w.do("/channel/update", `{"channel_id": %d, "is_private": false}`, shop)
	w.push("cpu", "Ok")
	all.events(t, "i_rslv")
}
