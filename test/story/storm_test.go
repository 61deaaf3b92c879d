package story

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// pushTitled sends n alerts in as few pushes as the source takes: as Alertmanager does, a list in each.
func (w *world) pushTitled(n int, severity func(int) string) {
	w.t.Helper()
	for from := 0; from < n; from += 500 {
		var alerts []map[string]any
		for i := from; i < min(n, from+500); i++ {
			name := fmt.Sprint("alert", i)
			alerts = append(alerts, map[string]any{"status": "firing", "labels": map[string]string{"alertname": name, "severity": severity(i)},
				"annotations": map[string]string{"summary": "Trouble with " + name}, "startsAt": w.clock.Now().Format(time.RFC3339), "fingerprint": name})
		}
		body, err := json.Marshal(map[string]any{"version": "4", "status": "firing", "alerts": alerts})
		w.must(err)
		if r := w.post("/event/push/alert/prometheus?integration_key="+promKey, string(body)); r.Error != nil {
			w.t.Fatalf("push: %s", r)
		}
	}
	w.settle()
}

const promKey = "99112233445566778899aabbccddeeff131"

// prometheus is a section with an Alertmanager that sends to the shop.
var prometheus = fmt.Sprintf(`{"integrations": [{"integration_id": 7000000000059, "integration_name": "Alertmanager", "integration_type": "prometheus", "channel_id": %d, "integration_key": %q}]}`, shop, promKey)

// visit opens a link of a message, as a person's browser does.
func (w *world) visit(method, link string) (int, string) {
	w.t.Helper()
	request, err := http.NewRequest(method, strings.Replace(link, "https://tocsin.example.com", w.http.URL, 1), nil)
	w.must(err)
	answer, err := http.DefaultClient.Do(request)
	w.must(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	w.must(err)
	return answer.StatusCode, string(body)
}

func allCritical(int) string { return "critical" }

// byPhone is a rule that calls, texts and mails Ann, and mails Bob.
var byPhone = escalates(fmt.Sprintf(`{"target": {"person_ids": [%d], "by": {"critical": ["voice", "sms", "email"], "warning": ["email"], "info": ["email"]}}}`, ann))

// inMinute returns how many pages arrived over each method in the busiest minute.
func inMinute(pages []page) map[string]int {
	most := map[string]int{}
	for _, first := range pages {
		n := 0
		for _, p := range pages {
			if p.to == first.to && p.method == first.method && !p.at.Before(first.at) && p.at.Sub(first.at) < time.Minute {
				n++
			}
		}
		most[first.method] = max(most[first.method], n)
	}
	return most
}

// A storm of ungrouped alerts sends a person a handful of messages over each method. Every incident is notified, and
// the explanation of each shows it.
func TestStormIsFewMessages(t *testing.T) {
	t.Parallel()
	w := begin(t, byPhone, prometheus)
	w.pushTitled(800, allCritical)
	first := len(w.reached())
	alert := w.do("/alert/list", `{"start_time": %d, "end_time": %d, "limit": 1}`, w.clock.Now().Unix()-3600, w.clock.Now().Unix()+60).get("items.0.alert_id")
	if why := w.do("/alert/explain", `{"alert_id": %q}`, alert).get("words"); !strings.Contains(why, "it waits to share a message with others: 5 in a minute are the limit") {
		t.Error(why)
	}
	w.pass(2 * time.Minute)
	pages := w.reached()
	for method, n := range inMinute(pages) {
		if limit := map[string]int{"voice": 5, "sms": 5, "email": 10}[method]; n > limit {
			t.Errorf("%d messages over %s in a minute", n, method)
		}
	}
	if first > 20 || len(pages) > 30 {
		t.Errorf("%d messages at once, %d in two minutes", first, len(pages))
	}
	for query, want := range map[string]int64{
		`SELECT count(*) FROM incident`:                                     800,
		`SELECT count(*) FROM notice WHERE status = 'sent'`:                 2400,
		`SELECT count(*) FROM feed WHERE type = 'i_notify'`:                 2400,
		`SELECT count(*) FROM notice WHERE settled_at > created_at + 60000`: 0,
	} {
		if n := w.count(query); n != want {
			t.Errorf("%d, want %d: %s", n, want, query)
		}
	}
	bundles := 0
	for _, p := range pages {
		if strings.Contains(p.text, "incidents need you: ") && strings.Contains(p.text, " Critical in Shop") && p.ack != "" {
			bundles++
		}
		if (p.method == "sms" || p.method == "voice") && len([]rune(p.text)) > 480 {
			t.Errorf("a text of %d characters: %s", len([]rune(p.text)), p.text)
		}
	}
	if bundles < 3 {
		t.Errorf("%d bundles", bundles)
	}
	if why := w.do("/alert/explain", `{"alert_id": %q}`, alert).get("words"); !strings.Contains(why, "over voice: sent in a bundle of ") {
		t.Error(why)
	}
}

// The link of a bundle acknowledges its incidents and no other, once or twice.
func TestOneLinkAcknowledgesBundle(t *testing.T) {
	t.Parallel()
	w := begin(t, byPhone, prometheus)
	w.pushTitled(30, allCritical)
	w.pass(2 * time.Minute)
	link, calls := "", 0
	for _, p := range w.reached() {
		if p.method == "sms" && strings.Contains(p.text, "incidents need you") {
			link, calls = p.ack, calls+1
		}
	}
	if calls != 1 {
		t.Fatalf("%d text messages are bundles", calls)
	}
	w.push("later", "Critical")
	for _, want := range []string{"26 incidents", "Nothing needs to be done here"} {
		if status, text := w.visit("GET", link); status != 200 || !strings.Contains(text, want) {
			t.Fatalf("%d %s", status, text)
		}
		if status, text := w.visit("POST", link); status != 200 || !strings.Contains(text, "Acknowledged") {
			t.Fatalf("%d %s", status, text)
		}
		if n := w.count(`SELECT count(*) FROM incident WHERE progress = 'Processing'`); n != 26 {
			t.Errorf("%d incidents are acknowledged", n)
		}
	}
}

// The ends of many incidents are one message too, and leave room for the next page.
func TestEndsAreBundledAndPushOutNoPage(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	for i := range 40 {
		w.push(fmt.Sprint("a", i), "Critical")
	}
	w.pass(2 * time.Minute)
	w.newPages()
	for i := range 40 {
		w.push(fmt.Sprint("a", i), "Ok")
	}
	before := len(w.newPages())
	w.push("new", "Critical")
	w.notified(newPage("ann"))
	w.pass(time.Minute)
	if n := len(w.newPages()); before > 9 || n != 1 {
		t.Errorf("%d ends at once, then %d", before, n)
	}
	if n := w.count(`SELECT count(*) FROM notice WHERE cause = 'recovery' AND status = 'sent'`); n != 40 {
		t.Errorf("%d ends were notified", n)
	}
}

// A bundle that is not taken is tried again as the same bundle; what was acknowledged meanwhile is left out.
func TestBundleIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, prometheus)
	failed := map[string]bool{}
	w.answers(func(p page) answer {
		if strings.Contains(p.subject, "incidents need you") && len(failed) == 0 {
			failed[p.key] = true
			return later
		}
		return taken
	})
	w.pushTitled(20, allCritical)
	w.pass(2 * time.Minute)
	pages := w.newPages()
	last := pages[len(pages)-1]
	if len(pages) != 10 || !failed[last.key] || !strings.Contains(last.subject, "11 incidents need you") {
		t.Errorf("%d pages, the last is %s with the key %s, of %v", len(pages), last.subject, last.key, failed)
	}
}

// When the program dies while a bundle is being sent, it is sent again with the same key.
func TestBundleSurvivesProcess(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, prometheus)
	keys := map[string]int{}
	w.answers(func(p page) answer {
		keys[p.key]++
		if strings.Contains(p.subject, "incidents need you") && keys[p.key] == 1 {
			return lost
		}
		return taken
	})
	w.pushTitled(20, allCritical)
	w.sql(`UPDATE notice SET status = 'sending', due_at = 0 WHERE settled_at = 0`) // as the process left it
	w.restart()
	w.pass(3 * time.Minute)
	twice := 0
	for _, n := range keys {
		if n > 1 {
			twice++
		}
	}
	if n := w.count(`SELECT count(*) FROM notice WHERE status = 'sent'`); n != 20 || twice != 1 || len(keys) != 10 {
		t.Errorf("%d notifications are sent, %d of %d messages twice", n, twice, len(keys))
	}
}

// After an outage of Tocsin what became overdue meanwhile is one message to each person, not one for each step.
func TestOutageIsCaughtUpInOneMessage(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann), again(3, 5), window(30))+","+layer(persons(ann, bob), window(30))+","+layer(persons(bob)), `"aggr_window": 60`))
	for i := range 30 {
		w.push(fmt.Sprint("a", i), "Critical")
	}
	w.notified()
	w.clock.Add(3 * time.Hour)
	w.restart()
	w.settle()
	w.pass(time.Minute)
	pages := w.newPages()
	for _, p := range pages {
		if !strings.Contains(p.subject, "30 incidents need you") {
			t.Error(p, p.subject)
		}
	}
	if len(pages) != 2 {
		t.Errorf("%d messages to two persons", len(pages))
	}
}

// In a storm the Critical incidents are sent first, each by itself while the budget lasts.
func TestMostSevereFirst(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, prometheus)
	w.pushTitled(60, func(i int) string { return []string{"info", "warning", "critical"}[i%3] })
	first := w.newPages()
	for _, p := range first[:9] {
		if !strings.HasPrefix(p.subject, "[Critical] ") {
			t.Errorf("among the first: %s", p.subject)
		}
	}
	w.pass(time.Minute)
	if n := w.count(`SELECT count(*) FROM notice WHERE status = 'sent'`); n != 60 {
		t.Errorf("%d are sent", n)
	}
}
