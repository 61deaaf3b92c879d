package story

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// reports returns the subjects of new mails to the owner about webhooks.
func (w *world) reports() (subjects []string) {
	for _, p := range w.newPages() {
		if p.to == "olga@example.com" && strings.Contains(p.subject+p.text, "webhook") {
			subjects = append(subjects, p.subject)
		}
	}
	return subjects
}

// An endpoint fails for hours while a hundred messages wait. The owner is notified once after an hour, and once when it
// is over, also across a restart.
func TestEndpointThatFailsForHourIsReportedOnce(t *testing.T) {
	t.Parallel()
	r := receive(t, always(http.StatusServiceUnavailable))
	w := begin(t, hooks("alert", at(r)))
	w.drift = time.Minute
	for n := range 100 {
		w.push(fmt.Sprint("a", n), "Info")
	}
	w.pass(58 * time.Minute)
	if got := w.reports(); len(got) != 0 {
		t.Errorf("within the hour: %q", got)
	}
	w.pass(5 * time.Minute)
	if got := w.reports(); len(got) != 1 || !strings.Contains(got[0], "Hook 0") {
		t.Errorf("after an hour: %q", got)
	}
	w.restart()
	w.pass(7 * time.Hour)
	if got := w.reports(); len(got) != 0 {
		t.Errorf("while it goes on: %q", got)
	}
	r.acceptAll()
	w.pass(10 * time.Minute)
	if got := w.reports(); len(got) != 1 || !strings.Contains(got[0], "Over") {
		t.Errorf("at its end: %q", got)
	}
	w.pass(3 * time.Hour)
	if got := w.reports(); len(got) != 0 {
		t.Errorf("afterwards: %q", got)
	}
}

// One message that waits is enough: its retries are hours apart, but the hour is not.
func TestEndpointWithOneMessageIsReportedAfterHour(t *testing.T) {
	t.Parallel()
	r := receive(t, always(http.StatusServiceUnavailable))
	w := begin(t, hooks("alert", at(r)))
	w.drift = time.Minute
	w.push("a", "Info")
	w.pass(63 * time.Minute)
	if got := w.reports(); len(got) != 1 {
		t.Errorf("%q", got)
	}
	w.do("/integration/disable", `{"integration_id": %d}`, hook)
	w.pass(5 * time.Minute)
	if got := w.reports(); len(got) != 1 || !strings.Contains(got[0], "Over") {
		t.Errorf("after it was disabled: %q", got)
	}
	w.do("/integration/enable", `{"integration_id": %d}`, hook)
	w.push("b", "Info")
	w.pass(50 * time.Minute)
	if got := w.reports(); len(got) != 0 {
		t.Errorf("its hour begins again: %q", got)
	}
}

// A message that the endpoint refused for good an hour ago is no sign that the endpoint still fails.
func TestRefusedMessageIsNoFailingEndpoint(t *testing.T) {
	t.Parallel()
	r := receive(t, always(http.StatusBadRequest))
	w := begin(t, hooks("alert", at(r)))
	w.drift = time.Minute
	w.push("a", "Info")
	w.pass(3 * time.Hour)
	if got := w.reports(); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// A network that is down for hours with fifty webhooks is not fifty messages to the owner.
func TestFiftyFailingEndpointsAreFewMessages(t *testing.T) {
	t.Parallel()
	r := receive(t, always(http.StatusServiceUnavailable))
	settings := make([]string, 50)
	for n := range settings {
		settings[n] = at(r)
	}
	w := begin(t, hooks("alert", settings...))
	w.drift = time.Minute
	w.push("a", "Info")
	w.pass(2 * time.Hour)
	if got := w.reports(); len(got) == 0 || len(got) > 12 {
		t.Errorf("%d messages: %q", len(got), got)
	}
}

// An endpoint that is gone for good: its webhook is disabled, the owner notified, and nothing that waited is lost
// without a record. Enabled again it works, and what was cancelled can be sent again.
func TestEndpointThatIsGoneIsDisabled(t *testing.T) {
	t.Parallel()
	var status atomic.Int64
	status.Store(http.StatusServiceUnavailable)
	r := receive(t, func(_ int, w http.ResponseWriter) { w.WriteHeader(int(status.Load())) })
	other := receive(t, nil)
	w := begin(t, hooks("incident", at(r)+`, "event_types": ["i_new"]`, at(other)+`, "event_types": ["i_new"]`))
	for n := range 5 {
		w.push(fmt.Sprint("a", n), "Info")
	}
	status.Store(http.StatusGone)
	w.pass(time.Minute)
	r.calls()
	if got := w.do("/integration/info", `{"integration_id": %d}`, hook).get("status"); got != "disabled" {
		t.Errorf("it is %s", got)
	}
	if got := w.reports(); len(got) != 1 || !strings.Contains(got[0], "410") {
		t.Errorf("the owner is notified: %q", got)
	}
	h := w.history(fmt.Sprintf(`, "integration_id": %d`, hook))
	ended := map[string]bool{}
	for n := range 100 {
		if ref := h.get(fmt.Sprintf("items.%d.ref_id", n)); ref != "" && h.get(fmt.Sprintf("items.%d.status_code", n)) != "503" {
			ended[ref] = true
			if code := h.get(fmt.Sprintf("items.%d.status_code", n)); code == "0" {
				d := w.do("/webhook/history/detail", `{"event_id": %q, "integration_id": %d}`, h.get(fmt.Sprintf("items.%d.event_id", n)), hook)
				if why := d.get("error_message"); !strings.Contains(why, "410") {
					t.Errorf("the record says %q", why)
				}
			}
		}
	}
	if len(ended) != 5 {
		t.Errorf("the ledger has the ends of %d messages of 5: %s", len(ended), h)
	}
	log := w.do("/audit/search", `{"start_time": %d, "end_time": %d, "resource_kind": "integration", "resource_id": "%d"}`, w.clock.Now().Unix()-3600, w.clock.Now().Unix()+3600, hook)
	w.want(log, "docs.0.operation", "integration:write:disable")
	if body := log.get("docs.0.body"); !strings.Contains(body, "410") {
		t.Error(log)
	}
	if feed := w.feedsOf(ended); strings.Count(feed, `"i_webhook"`) != 1 {
		t.Error(feed)
	}
	w.push("b", "Info")
	w.pass(time.Hour)
	r.events(t)
	other.events(t, "i_new", "i_new", "i_new", "i_new", "i_new", "i_new")
	w.reports()

	r.acceptAll()
	w.do("/integration/enable", `{"integration_id": %d}`, hook)
	w.pass(2 * time.Minute)
	if got := w.reports(); len(got) != 1 || !strings.Contains(got[0], "Over") {
		t.Errorf("when it is enabled again: %q", got)
	}
	w.push("c", "Info")
	r.events(t, "i_new")
	w.do("/webhook/history/replay", `{"event_id": %q}`, h.get("items.0.event_id"))
	r.events(t, "i_new")
}

func (w *world) feedsOf(incidents map[string]bool) (text string) {
	for id := range incidents {
		text += w.do("/incident/feed", `{"incident_id": %q}`, id).String()
	}
	return text
}

// The answer of an address that the webhook no longer has must not disable the new one.
func TestLateGoneIsAboutOldAddress(t *testing.T) {
	t.Parallel()
	next := receive(t, nil)
	var w *world
	r := receive(t, func(_ int, out http.ResponseWriter) {
		// try, because do waits until this attempt has ended.
		if r := w.try(ownKey, "/integration/update", `{"integration_id": %d, "settings": {%s}}`, hook, at(next)); r.Error != nil {
			t.Errorf("the update: %s", r)
		}
		out.WriteHeader(http.StatusGone)
	})
	w = begin(t, hooks("alert", at(r)))
	w.push("a", "Info")
	r.events(t, "a_new")
	w.push("b", "Info")
	next.events(t, "a_new")
}
