package story

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// tested calls /webhook/test, which waits for the attempt that the jobs make meanwhile.
func (w *world) tested(body string) reply {
	w.t.Helper()
	done := make(chan reply)
	go func() { done <- w.try(ownKey, "/webhook/test", "%s", body) }()
	for {
		select {
		case r := <-done:
			if r.Error != nil {
				w.t.Errorf("%v", r)
			}
			return r
		default:
			w.settle()
		}
	}
}

// A test takes the way of all messages: it is signed, marked, in the ledger, and its outcome is what the endpoint answered.
func TestWebhookIsTested(t *testing.T) {
	t.Parallel()
	const secret = "whsec_c2VjcmV0IG9mIHRoZSBzdG9yaWVz"
	r := receive(t, nil)
	w := begin(t, hooks("incident", at(r)+fmt.Sprintf(`, "sign_secret": %q, "event_types": ["i_rslv", "i_new"]`, secret)))
	got := w.tested(fmt.Sprintf(`{"integration_id": %d, "event_type": "i_new", "wait_seconds": 10}`, hook))
	c := r.events(t, "i_new")[0]
	if got.get("status") != "success" || got.get("status_code") != "204" || got.get("message_id") != c.EventID {
		t.Error(got)
	}
	if c.header.Get("Webhook-Origin") != "test" || !verified(t, c, secret) || !strings.Contains(c.body, `"test":true`) || c.Incident == nil || c.Incident.Title == "" {
		t.Errorf("%v %s", c.header, c.body)
	}
	h := w.history("")
	w.want(h, "total", "1")
	w.want(h, "items.0.origin", "test")
	w.want(h, "items.0.event_id", got.get("event_id"))
	got = w.tested(fmt.Sprintf(`{"integration_id": %d, "event_type": "i_ack"}`, hook))
	r.events(t, "i_ack")
	w.want(got, "warnings.0", "event_type: the webhook does not subscribe to i_ack")
	got = w.tested(fmt.Sprintf(`{"integration_id": %d}`, hook))
	r.events(t, "i_rslv")
	w.want(got, "status", "success")
	w.want(w.do("/incident/list", `{"start_time": %d, "end_time": %d}`, start.Unix()-3600, start.Unix()+3600), "total", "0")
}

// An endpoint that is held for its failures gets a test at once: a person wants to know whether it is repaired. The
// failure of a test is shown.
func TestHeldEndpointIsTestedAtOnce(t *testing.T) {
	t.Parallel()
	r := receive(t, always(http.StatusServiceUnavailable))
	w := begin(t, hooks("alert", at(r)))
	for n := range 30 {
		w.push(fmt.Sprint("a", n), "Info")
	}
	r.calls()
	got := w.tested(fmt.Sprintf(`{"integration_id": %d, "wait_seconds": 10}`, hook))
	if got.get("status") != "failed" || got.get("status_code") != "503" || !strings.Contains(got.get("error_message"), "503") {
		t.Error(got)
	}
	r.events(t, "a_new")
	r.acceptAll()
	got = w.tested(fmt.Sprintf(`{"integration_id": %d, "wait_seconds": 10}`, hook))
	w.want(got, "status", "success")
}

// A receiver lost what it was sent, and an endpoint was gone for a while: both are replayed, by what a dry run counts,
// under the same ids and bodies.
func TestWindowIsReplayed(t *testing.T) {
	t.Parallel()
	r, gone := receive(t, nil), receive(t, always(http.StatusGone))
	w := begin(t, hooks("alert", at(r), at(gone)))
	for n := range 20 {
		w.push(fmt.Sprint("a", n%4), "Critical")
	}
	bodies := map[string]string{}
	for _, c := range r.calls() {
		bodies[c.EventID] = c.body
	}
	window := fmt.Sprintf(`"start_time": %d, "end_time": %d`, start.UnixMilli(), start.UnixMilli()+3_600_000)
	w.clock.Add(time.Minute)
	count := w.do("/webhook/replay", `{"integration_ids": [%d], %s, "dry_run": true}`, hook, window).get("count")
	if count != fmt.Sprint(len(bodies)) {
		t.Errorf("it counts %s of %d", count, len(bodies))
	}
	w.settle()
	r.events(t)
	w.do("/webhook/replay", `{"integration_ids": [%d], %s, "count": %s}`, hook, window, count)
	w.restart()
	w.settle()
	calls := r.calls()
	for _, c := range calls {
		if c.header.Get("Webhook-Origin") != "replay" || bodies[c.EventID] != c.body {
			t.Errorf("%v %s", c.header, c.body)
		}
	}
	if len(calls) != len(bodies) {
		t.Errorf("%d of %d were replayed", len(calls), len(bodies))
	}
	w.want(w.do("/webhook/replay/list", `{}`), "items.0.status", "done")

	gone.acceptAll()
	gone.calls()
	again := fmt.Sprintf(`{"integration_ids": [%d], %s, "count": 100000}`, hook+1, window)
	if reply := w.try(ownKey, "/webhook/replay", "%s", again); reply.Error == nil || !strings.Contains(reply.Error.Message, "disabled") {
		t.Error(reply)
	}
	w.do("/integration/enable", `{"integration_id": %d}`, hook+1)
	if reply := w.try(ownKey, "/webhook/replay", "%s", again); reply.Error == nil || !strings.Contains(reply.Error.Message, "dry run") {
		t.Error(reply)
	}
	w.do("/webhook/replay", `{"integration_ids": [%d], %s, "count": 1}`, hook+1, window)
	w.settle()
	if n := len(gone.calls()); n == 0 {
		t.Error("nothing reached the endpoint that was gone")
	}
}
