package story

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// slackChat is a layer's webhook of the chat ops.
var slackChat = fmt.Sprintf(`"webhooks": [{"type": "slack", "settings": {"token": "%s/slack/ops", "alias": "#ops"}}]`, chats)

// outage pushes alerts of Prometheus about n hosts, which group as one incident.
func (w *world) outage(n int, status string) {
	w.t.Helper()
	var alerts []map[string]any
	for i := range n {
		host := fmt.Sprintf("web%02d", i)
		alerts = append(alerts, map[string]any{
			"status": status, "startsAt": w.clock.Now().Format(time.RFC3339), "endsAt": w.clock.Now().Format(time.RFC3339), "fingerprint": host,
			"labels":       map[string]string{"alertname": "HighErrorRate", "severity": "critical", "service": "checkout", "host": host},
			"annotations":  map[string]string{"summary": "Error rate of checkout is 9 %", "description": "More than 5 % fail.", "runbook_url": "https://wiki.example.com/checkout"},
			"generatorURL": "https://prometheus.example.com/graph?g0.expr=up&g0.tab=1",
		})
	}
	body, err := json.Marshal(map[string]any{"version": "4", "status": status, "externalURL": "javascript:alert(1)", "alerts": alerts})
	w.must(err)
	if r := w.post("/event/push/alert/prometheus?integration_key="+promKey, string(body)); r.Error != nil {
		w.t.Fatalf("push: %s", r)
	}
	w.settle()
}

// grouping makes all alerts of a service that prometheus sends one incident.
func grouping(layers string) string {
	return fmt.Sprintf(`{"channels": [{"channel_id": 7000000000043, "channel_name": "Payments", "group": {"method": "p", "equals": [["labels.service"]]}}],
		"integrations": [{"integration_id": 7000000000059, "integration_name": "Alertmanager", "integration_type": "prometheus", "channel_id": 7000000000043, "integration_key": %q}],
		"escalate_rules": [{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e09", "channel_id": 7000000000043, "rule_name": "on call", "template_id": "000000000000000000000001", "layers": [%s]}]}`, promKey, layers)
}

func TestMessageSaysWhatIsWrongWhereAndWhoIsNext(t *testing.T) {
	t.Parallel()
	w := begin(t, grouping(layer(persons(ann, bob), window(10))+","+layer(teams(ops))))
	w.outage(1, "firing")
	first := w.newPages()
	if len(first) != 2 || first[0].subject != "[Critical] Error rate of checkout is 9 % (web00)" {
		t.Fatalf("%+v", first)
	}
	w.outage(50, "firing")
	w.pass(11 * time.Minute)
	pages := w.newPages()
	if len(pages) == 0 {
		t.Fatal("no page of the second step")
	}
	for _, p := range pages {
		if p.subject != "[Critical] Error rate of checkout is 9 % (web00, +49 hosts)" {
			t.Errorf("%q", p.subject)
		}
		for _, want := range []string{
			"host: 50 values: web00, web01, web02, web03, web04, ...", "service: checkout", "More than 5 % fail.", "Notified: ", "Ann Day (email)",
			"graph: https://prometheus.example.com/graph?g0.expr=up&g0.tab=1", "runbook: https://wiki.example.com/checkout", "Why you: in team ops",
		} {
			if !strings.Contains(p.text, want) {
				t.Errorf("%q is not in\n%s", want, p.text)
			}
		}
		if strings.Contains(p.text, "source: javascript") {
			t.Error(p.text)
		}
	}
	if text := first[0].text; !strings.Contains(text, "Next: team ops at 11:10 CET if no one acknowledges") && !strings.Contains(first[1].text, "Next: team ops at ") {
		t.Error(text)
	}
}

func TestEndLooksLikeEnd(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, prometheus)
	w.outage(1, "firing")
	w.pass(2 * time.Hour)
	w.newPages()
	w.outage(1, "resolved")
	over := w.last()
	if !strings.HasPrefix(over.text, "🟢 [Resolved] Error rate of checkout is 9 % (web00)") || !strings.Contains(over.text, "Resolved by the end of its alerts after 2h 0m") {
		t.Error(over.text)
	}
	w.push("cpu", "Critical")
	w.pass(time.Minute)
	w.as(annKey, "/incident/resolve", `{"incident_ids": [%q]}`, w.incident())
	if text := w.last().text; !strings.Contains(text, "Resolved by Ann Day after 1m 0s") {
		t.Error(text)
	}
}

// The others who were notified learn of an acknowledgement, by mail and in chats, and only of the first one.
func TestAcknowledgementIsAnnouncedToOthers(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(fmt.Sprintf(`{"target": {"person_ids": [%d, %d, %d], "by": {"critical": ["email", "sms", "voice"]}, "emails": ["noc@example.org"], %s}}`, ann, bob, cid, slackChat)))
	w.push("cpu", "Critical")
	w.newPages()
	w.ack(annKey)
	w.notified(acked("bob"), acked("cid"), "noc@example.org email i_ack", "ops slack i_ack")
	w.ack(ownKey)
	w.notified()
	w.push("cpu", "Ok")
	w.notified(over("ann"), over("bob"), over("cid"), "noc@example.org email i_rslv", "ops slack i_rslv")
	if words := w.why("cpu"); !strings.Contains(words, "Bob Night") {
		t.Error(words)
	}
}

// A hundred acknowledgements at once are few messages to each of the others.
func TestManyAcknowledgementsAreFewMessages(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann, bob))))
	for i := range 100 {
		w.push(fmt.Sprint("a", i), "Critical")
	}
	w.pass(5 * time.Minute)
	w.newPages()
	now := w.clock.Now().Unix()
	var ids []string
	for _, item := range strings.Split(w.do("/incident/list", `{"start_time": %d, "end_time": %d, "limit": 100}`, now-86400, now+60).String(), `"incident_id":"`)[1:] {
		ids = append(ids, `"`+item[:24]+`"`)
	}
	w.as(annKey, "/incident/ack", `{"incident_ids": [%s]}`, strings.Join(ids, ","))
	w.pass(10 * time.Minute)
	pages, told := w.newPages(), 0
	for _, p := range pages {
		if strings.HasPrefix(p.subject, "[Acknowledged] ") {
			told++
		}
		if p.to != "bob@example.com" {
			t.Errorf("%s is told %s", p.to, p.subject)
		}
	}
	if told == 0 || told > 12 {
		t.Errorf("%d messages of %d", told, len(pages))
	}
}

// An acknowledgement that is withdrawn before the message about it is sent is not announced.
func TestWithdrawnAcknowledgementIsNotAnnounced(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann, bob))))
	w.push("cpu", "Critical")
	w.notified(newPage("ann"), newPage("bob"))
	id := w.incident()
	w.try(annKey, "/incident/ack", `{"incident_ids": [%q]}`, id)
	w.try(annKey, "/incident/unack", `{"incident_ids": [%q]}`, id)
	w.settle()
	w.notified(newPage("ann"), newPage("bob"))
}

// press presses a button of the page of a link.
func (w *world) press(link string, form url.Values) (int, string) {
	w.t.Helper()
	answer, err := http.PostForm(strings.Replace(link, "https://tocsin.example.com", w.http.URL, 1), form)
	w.must(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	w.must(err)
	w.settle()
	return answer.StatusCode, string(body)
}

func TestPageOfLinkShowsIncidentAndOffersActions(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann, bob), window(10))+","+layer(teams(ops))), prometheus)
	w.outage(1, "firing")
	page := w.newPages()[0]
	status, body := w.visit("GET", page.ack)
	for _, want := range []string{
		"Error rate of checkout is 9 %", "More than 5 % fail.", "web00", `href="https://wiki.example.com/checkout"`, ` (email)`,
		"Next: team ops at ", "since 2026-", "Acknowledge as ", ">Snooze<", ">Resolve<",
		"1 alert still fires: if you resolve the incident now, its source opens another one with the next event.",
	} {
		if status != 200 || !strings.Contains(body, want) {
			t.Errorf("%d: %q is not in\n%s", status, want, body)
		}
	}
	if n := w.count(`SELECT count(*) FROM incident WHERE progress = 'Triggered' AND snoozed_before = 0`); n != 1 {
		t.Error("GET has changed the incident")
	}
	for _, bad := range []url.Values{{"do": {"delete"}}, {"do": {"snooze"}, "minutes": {"100000"}}, {"do": {"snooze"}}} {
		if status, body := w.press(page.ack, bad); status != 400 {
			t.Errorf("%v: %d %s", bad, status, body)
		}
	}
	if status, body := w.press(page.ack, url.Values{"do": {"snooze"}, "minutes": {"60"}}); status != 200 || !strings.Contains(body, "for 60 minutes") {
		t.Errorf("%d %s", status, body)
	}
	if n := w.count(`SELECT count(*) FROM incident WHERE snoozed_before > 0`); n != 1 {
		t.Error("it is not snoozed")
	}
	if status, body := w.press(page.ack, url.Values{"do": {"resolve"}}); status != 200 || !strings.Contains(body, "Resolved by ") {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := w.press(page.ack, url.Values{"do": {"ack"}}); status != 409 {
		t.Errorf("an acknowledgement of a closed incident: %d", status)
	}
}

// A message in a chat has a link too. It is for no person: its reader chooses a person, among those who may act.
func TestLinkInChatAcknowledges(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(fmt.Sprintf(`{"target": {"person_ids": [%d], %s, %s}}`, ann, by, slackChat)))
	w.push("cpu", "Critical")
	link := ""
	for _, p := range w.newPages() {
		if p.method == "slack" {
			link = p.ack
		}
	}
	if link == "" {
		t.Fatal("the chat has no link")
	}
	status, body := w.visit("GET", link)
	if status != 200 || !strings.Contains(body, "I am") || !strings.Contains(body, "Ann Day</option>") || strings.Contains(body, "Olga") {
		t.Errorf("%d %s", status, body)
	}
	for _, other := range []string{"", "0", fmt.Sprint(olga), fmt.Sprint(bob), "x"} {
		if status, _ := w.press(link, url.Values{"do": {"ack"}, "person": {other}}); status != 403 {
			t.Errorf("as %q: %d", other, status)
		}
	}
	if n := w.count(`SELECT count(*) FROM incident WHERE progress = 'Triggered'`); n != 1 {
		t.Fatal("it is acknowledged")
	}
	if status, body := w.press(link, url.Values{"do": {"ack"}, "person": {fmt.Sprint(ann)}}); status != 200 || !strings.Contains(body, "Ann Day takes care of it") {
		t.Errorf("%d %s", status, body)
	}
	if feed := w.do("/incident/feed", `{"incident_id": %q}`, w.incident()).String(); !regexp.MustCompile(`"via": ?"chat"`).MatchString(feed) {
		t.Error(feed)
	}
	w.notified("ops slack i_ack")
}

func TestCallSaysSummaryTwice(t *testing.T) {
	t.Parallel()
	w := begin(t, byPhone, prometheus)
	w.outage(1, "firing")
	for _, p := range w.newPages() {
		if p.method == "voice" && strings.Count(p.text, "Error rate of checkout is 9 % (web00)") != 2 {
			t.Error(p.text)
		}
	}
}
