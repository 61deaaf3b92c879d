package story

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestFailingRecipientDoesNotAffectOthers(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann, bob, cid))))
	w.fail("ann", never)
	w.push("cpu", "Critical")
	w.notified(newPage("bob"), newPage("cid"), "+15550100 sms i_new", "+15550100 voice i_new")
	if why := w.why("cpu"); !strings.Contains(why, "Ann Day (named by the rule) over email: failed, send failed: closing SMTP DATA writer: 550 \"5.2.1 mailbox on fire\"") {
		t.Error(why)
	}
}

func TestOnlyFailedTargetIsRetried(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann, bob))))
	w.fail("ann", later)
	w.push("cpu", "Critical")
	w.pass(time.Minute)
	w.acceptAll()
	w.pass(2 * time.Minute)
	w.notified(newPage("bob"), newPage("ann"))
}

// Whatever the number of attempts, the key of a notification stays the same.
func TestReceiversCanDropDuplicates(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.fail("ann", lost)
	w.push("cpu", "Critical")
	w.pass(2 * time.Minute)
	pages := w.reached()
	if len(pages) < 3 {
		t.Fatalf("%d attempts", len(pages))
	}
	for _, p := range pages {
		if p.key == "" || p.key != pages[0].key || p.id != pages[0].id {
			t.Errorf("keys %s and %s, messages %s and %s", p.key, pages[0].key, p.id, pages[0].id)
		}
	}
}

func TestAcknowledgementCancelsWaitingNotifications(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann, bob))))
	w.fail("bob", later)
	w.push("cpu", "Critical")
	w.notified(newPage("ann"))
	w.ack(annKey)
	w.acceptAll()
	w.pass(time.Hour)
	w.notified()
	if why := w.why("cpu"); !strings.Contains(why, "Bob Night (named by the rule) over email: cancelled, the incident was acknowledged") {
		t.Error(why)
	}
}

func TestOwnerIsNotifiedWhenEveryNotificationFails(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.refuse("ann@", "+15550100")
	w.push("cpu", "Critical")
	w.pass(time.Minute)
	w.notified(newPage("olga"))
}

func TestEndIsSentToPersonsWhoWereNotified(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann, bob))))
	w.fail("bob", never)
	w.push("cpu", "Critical")
	w.acceptAll()
	w.push("cpu", "Ok")
	w.notified(newPage("ann"), over("ann"))
}

func TestSeveralPagesHaveOneEnd(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), again(3, 1))))
	w.push("cpu", "Critical")
	w.pass(3 * time.Minute)
	w.notified(newPage("ann"), newPage("ann"), newPage("ann"), newPage("ann"))
	w.push("cpu", "Ok")
	w.notified(over("ann"))
}

// A late notification is checked again before it is sent.
func TestBacklogOfStalePagesIsNotSent(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.fail("ann", later)
	for i := range 5 {
		w.push(fmt.Sprint("a", i), "Critical")
	}
	for i := range 4 {
		w.push(fmt.Sprint("a", i), "Ok")
	}
	w.acceptAll()
	w.pass(30 * time.Minute)
	w.notified(newPage("ann"))
}

func TestLongPauseNotifiesLayerOnce(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), again(6, 1), window(30))+","+layer(persons(cid))))
	w.push("cpu", "Critical")
	w.notified(newPage("ann"))
	w.clock.Add(25 * time.Minute)
	w.settle()
	w.pass(10 * time.Second) // late notifications wait a few seconds for each other
	w.notified(newPage("ann"))
}

func TestQuietHoursPutOffAllButWorst(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.as(annKey, "/preference/update", `{"quiet_hours": [{"start": "10:00", "end": "12:00"}]}`) // in Berlin it is eleven
	w.push("disk", "Warning")
	w.notified()
	if why := w.why("disk"); !strings.Contains(why, "it waits for the end of quiet hours) over email: waiting until Sat 21 Nov 11:00 (UTC)") {
		t.Error(why)
	}
	w.push("cpu", "Critical")
	w.notified(newPage("ann"))
	w.drift = time.Minute
	w.pass(time.Hour)
	w.notified(newPage("ann"))
}

func TestAlertThatEndsInQuietHoursIsNotNotified(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.as(annKey, "/preference/update", `{"quiet_hours": [{"start": "10:00", "end": "12:00"}]}`)
	w.push("disk", "Warning")
	w.push("disk", "Ok")
	w.drift = time.Minute
	w.pass(2 * time.Hour)
	w.notified()
}

func TestPreferencesChooseMethod(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.as(annKey, "/preference/update", `{"trigger_notify": {"critical": ["sms", "ntfy", "voice"], "warning": ["ntfy"], "info": []}, "contacts": {"ntfy": "`+chats+`/ntfy/ann"}}`)
	w.push("cpu", "Critical")
	w.notified("+15550100 sms i_new", "+15550100 voice i_new", "ann ntfy i_new")
	w.push("disk", "Warning")
	w.notified("ann ntfy i_new")
	w.push("note", "Info")
	w.notified(newPage("ann"))
}

func TestAccountsTemplateIsUsed(t *testing.T) {
	t.Parallel()
	w := begin(t, fmt.Sprintf(`{"templates": [{"template_id": "7e7e7e7e7e7e7e7e7e7e7e01", "template_name": "short", "sms": "{{.Title}} in {{.Channel}}, {{.Reason}}"}],
		"escalate_rules": [{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e01", "channel_id": %d, "rule_name": "r", "template_id": "7e7e7e7e7e7e7e7e7e7e7e01", "layers": [{"target": {%s, "by": {"critical": ["sms"]}}}]}]}`, shop, onCall(day)))
	w.push("cpu", "Critical")
	if text := w.last().text; text != "Trouble with cpu in Shop, on call in Day, A" {
		t.Error(text)
	}
}

// The link in a message: looking at it changes nothing, its button acknowledges, for one person and a week.
func TestLinkInMessageAcknowledges(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(persons(cid))))
	w.push("cpu", "Critical")
	link := strings.Replace(w.last().ack, "https://tocsin.example.com", w.http.URL, 1)
	page := func(method, url string) (int, string) {
		request, _ := http.NewRequest(method, url, nil)
		answer, err := http.DefaultClient.Do(request)
		w.must(err)
		defer answer.Body.Close()
		body, _ := io.ReadAll(answer.Body)
		return answer.StatusCode, string(body)
	}
	status, body := page("GET", link)
	if status != 200 || !strings.Contains(body, "Acknowledge as Ann Day") || !strings.Contains(body, "Trouble with cpu") {
		t.Errorf("%d %s", status, body)
	}
	w.want(w.do("/incident/info", `{"incident_id": %q}`, w.incident()), "progress", "Triggered")
	status, body = page("POST", link[:len(link)-3]+"AAA")
	if status != 404 || !strings.Contains(body, "was not made by this server") {
		t.Errorf("%d %s", status, body)
	}
	status, body = page("POST", link)
	if status != 200 || !strings.Contains(body, "Ann Day takes care of it") {
		t.Errorf("%d %s", status, body)
	}
	w.want(w.do("/incident/info", `{"incident_id": %q}`, w.incident()), "progress", "Processing")
	w.notified(newPage("ann"))
	w.pass(time.Hour)
	w.notified()
	w.as(annKey, "/incident/resolve", `{"incident_ids": [%q]}`, w.incident())
	status, body = page("POST", link)
	if status != 409 || !strings.Contains(body, "it is closed") {
		t.Errorf("%d %s", status, body)
	}
	w.clock.Add(8 * 24 * time.Hour)
	status, body = page("GET", link)
	if status != 404 || !strings.Contains(body, "expired") {
		t.Errorf("%d %s", status, body)
	}
}

// A notification in progress at the acknowledgement is not retried when it fails.
func TestAttemptThatFailsAfterAcknowledgementIsLast(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.answers(func(page) answer {
		w.acceptAll()
		w.try(annKey, "/incident/ack", `{"incident_ids": [%q]}`, w.lastIncident()) // the receiver acknowledges while it is being notified
		return later
	})
	w.push("cpu", "Critical")
	w.pass(time.Hour)
	w.notified()
	if why := w.why("cpu"); !strings.Contains(why, "cancelled, the incident was acknowledged") {
		t.Error(why)
	}
}

func TestTitleIsNoMarkup(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(fmt.Sprintf(`{"target": {%s, "webhooks": [{"type": "slack", "settings": {"token": "%s/slack/ops", "alias": "#ops"}}]}}`, onCall(day), chats)))
	w.push("cpu", "Critical", "title=<!channel> & co")
	if text := w.last().text; strings.Contains(text, "<!channel>") || !strings.Contains(text, "&lt;!channel&gt; &amp; co") {
		t.Error(text)
	}
}
