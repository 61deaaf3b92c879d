package story

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"tocsin/internal/sender/twiliotest"
)

// cidActs is a section with a key of Cid.
const cidActs = `{"app_keys": [{"name": "cid", "person_id": 7000000000014, "app_key": "` + cidKey + `"}]}`

func merged(person string) string { return person + "@example.com email i_merge" }

// twoRules escalates alerts of the app paypal by one layer, and of the app cards by another.
func twoRules(paypal, cards string) string {
	return rulesOf(rule(1, paypal, `"filters": `+where("app", "paypal")), rule(2, cards, `"filters": `+where("app", "cards")))
}

// merging starts a world with the open incidents cards and paypal; between runs between their first events.
func merging(t *testing.T, paypal, cards string, between func(w *world), more ...string) (w *world, source, target string) {
	t.Helper()
	w = begin(t, append(more, twoRules(paypal, cards), cidActs)...)
	w.push("cards", "Critical", "app=cards")
	target = w.incident()
	if between != nil {
		between(w)
	}
	w.pass(10 * time.Second)
	w.push("paypal", "Critical", "app=paypal")
	return w, w.incident(), target
}

// mergedBy merges incidents into another.
func (w *world) mergedBy(key, target string, sources ...string) {
	w.t.Helper()
	w.as(key, "/incident/merge", `{"source_incident_ids": ["%s"], "target_incident_id": %q}`, strings.Join(sources, `", "`), target)
}

// of returns the arrived page of a target.
func (w *world) of(to string) (p page) {
	w.t.Helper()
	for _, p = range w.reached() {
		if strings.HasPrefix(p.to, to) {
			return p
		}
	}
	w.t.Fatalf("%s got no message", to)
	return p
}

// TestMergeNotifiesResponders: responders of the source become responsible for the target, and the chat gets the same
// message.
func TestMergeNotifiesResponders(t *testing.T) {
	t.Parallel()
	w, source, target := merging(t, layer(persons(bob)+", "+chat, window(30)), layer(persons(ann), window(720)), nil)
	w.notified(newPage("ann"), newPage("bob"), chatNew)
	w.mergedBy(ownKey, target, source)
	for _, p := range []page{w.of("bob"), w.of("ops")} {
		if !strings.Contains(p.subject, "[Merged] Trouble with paypal into Trouble with cards") ||
			!strings.Contains(p.text, "Trouble with paypal was merged into this incident by Olga Owner") || strings.Contains(p.text+p.subject, "Resolved") || p.ack == "" {
			t.Errorf("%s got %s\n%s", p.to, p.subject, p.text)
		}
	}
	w.notified(merged("bob"), "ops slack i_merge") // Ann was not notified of the source
	w.want(w.do("/incident/info", `{"incident_id": %q}`, target), "responders.1.person_id", fmt.Sprint(bob))
	info := w.do("/incident/info", `{"incident_id": %q}`, source)
	w.want(info, "incident_status", "Critical")
	w.want(info, "merged_into", target)
	w.as(annKey, "/incident/ack", `{"incident_ids": [%q]}`, target)
	w.notified(acked("bob"), "ops slack i_ack")
	w.push("cards", "Ok", "app=cards")
	w.push("paypal", "Ok", "app=paypal")
	w.notified(over("ann"), over("bob"), "ops slack i_rslv")
	w.pass(time.Hour)
	w.notified()
}

// TestMergeOfAlertsNotifiesResponders: an incident that loses its last alert is merged.
func TestMergeOfAlertsNotifiesResponders(t *testing.T) {
	t.Parallel()
	w, _, target := merging(t, layer(persons(bob)), layer(persons(ann)), nil)
	w.newPages()
	alert := w.do("/alert/list", `{"start_time": %d, "end_time": %d, "alert_keys": ["paypal"]}`, start.Unix()-10, start.Unix()+100).get("items.0.alert_id")
	w.do("/alert/merge", `{"alert_ids": [%q], "incident_id": %q}`, alert, target)
	w.notified(merged("bob"))
}

// TestMergeNotifiesEachOnce: Bob and the chat are in both rules, three incidents are merged in one call, and the severity rises.
func TestMergeNotifiesEachOnce(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(bob)+", "+chat)), cidActs)
	w.push("a", "Warning")
	target := w.incident()
	var sources []string
	for _, key := range []string{"b", "c", "d"} {
		w.pass(10 * time.Second)
		w.push(key, "Warning")
		sources = append(sources, w.incident())
	}
	w.newPages()
	w.mergedBy(cidKey, target, sources...)
	if p := w.of("bob"); !strings.Contains(p.subject, "[Merged] Trouble with b and 2 other incidents into Trouble with a") {
		t.Errorf("the subject is %q", p.subject)
	}
	w.notified(merged("bob"), "ops slack i_merge")
	w.pass(10 * time.Second)
	w.push("e", "Critical")
	source := w.incident()
	w.notified(newPage("bob"), chatNew)
	w.mergedBy(cidKey, target, source) // the merge makes the target Critical
	w.notified(merged("bob"), "ops slack i_merge")
}

// TestMergeCallsForUnansweredPage: the call to Ann is cancelled with its incident, and no person has acknowledged the
// target.
func TestMergeCallsForUnansweredPage(t *testing.T) {
	t.Parallel()
	phone := fmt.Sprintf(`{"target": {%s, "by": {"critical": ["sms"], "warning": ["sms"], "info": ["sms"]}}}`, persons(ann))
	for name, c := range map[string]struct {
		between func(*world) // before the source opens
		before  func(*world, string)
		want    []string
	}{
		"nobody acknowledged": {want: []string{"+15550100 sms i_merge"}},
		"the source is acknowledged": {before: func(w *world, source string) {
			w.as(annKey, "/incident/ack", `{"incident_ids": [%q]}`, source)
		}, want: []string{merged("ann")}},
		"the target is acknowledged": {between: func(w *world) { w.ack(ownKey) }, want: []string{merged("ann"), merged("olga")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, source, target := merging(t, phone, layer(persons(bob), window(10))+","+layer(persons(cid)), c.between)
			if c.before != nil {
				c.before(w, source)
			}
			w.newPages()
			w.mergedBy(cidKey, target, source)
			w.notified(c.want...)
			w.pass(11 * time.Minute)
			if c.between == nil { // the target is as unacknowledged as before, and its rule goes on
				w.notified(newPage("cid"))
			} else {
				w.notified()
			}
		})
	}
}

// TestChainOfMergesLeadsToLast: the link, the chat's link and the message of the first incident lead to the last incident.
func TestChainOfMergesLeadsToLast(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann)+", "+chat)), cidActs)
	var ids []string
	for _, key := range []string{"a", "b", "c"} {
		w.push(key, "Critical")
		ids = append(ids, w.incident())
		w.pass(10 * time.Second)
	}
	mailed, posted := w.of("ann"), w.of("ops")
	w.newPages()
	w.mergedBy(cidKey, ids[1], ids[0])
	w.mergedBy(cidKey, ids[2], ids[1])
	w.notified(merged("ann"), merged("ann"), "ops slack i_merge", "ops slack i_merge")
	for _, link := range []string{mailed.ack, posted.ack} {
		status, body := w.visit("GET", link)
		if status != 200 || !strings.Contains(body, "Trouble with a was merged into this incident") || !strings.Contains(body, "<h1>Trouble with c") {
			t.Errorf("%d %s", status, body)
		}
	}
	if status, body := w.press(mailed.ack, url.Values{"do": {"ack"}}); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	w.want(w.do("/incident/info", `{"incident_id": %q}`, ids[2]), "progress", "Processing")
	if r := w.try(cidKey, "/incident/merge", `{"source_incident_ids": [%q], "target_incident_id": %q}`, ids[2], ids[0]); r.Error == nil || !strings.Contains(r.String(), "it is closed") {
		t.Errorf("a merge into a closed incident: %s", r)
	}
}

// TestBundleOfMergedIncidentsLeadsToTarget: the link of a message about many merged incidents acknowledges their target.
func TestBundleOfMergedIncidentsLeadsToTarget(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann))), prometheus)
	w.pushTitled(30, allCritical)
	w.pass(time.Minute)
	var bundle page
	for _, p := range w.newPages() {
		if strings.Contains(p.subject, " incidents need you") {
			bundle = p
		}
	}
	now := w.clock.Now().Unix()
	list := w.do("/incident/list", `{"start_time": %d, "end_time": %d, "limit": 100}`, now-120, now+60)
	var ids []string
	for n := 1; n < 30; n++ {
		ids = append(ids, list.get(fmt.Sprintf("items.%d.incident_id", n)))
	}
	w.mergedBy(ownKey, list.get("items.0.incident_id"), ids...)
	if status, body := w.press(bundle.ack, url.Values{"do": {"ack"}}); status != 200 || !strings.Contains(body, "<h1>1 incident<") {
		t.Errorf("%s: %d %s", bundle.subject, status, body)
	}
	if n := w.count(`SELECT count(*) FROM incident WHERE progress = 'Processing'`); n != 1 {
		t.Errorf("%d incidents are acknowledged", n)
	}
}

// TestDigitAcknowledgesTargetOfMerge: a person who answers the call about a merged incident acknowledges the target.
func TestDigitAcknowledgesTargetOfMerge(t *testing.T) {
	t.Parallel()
	w, s := beginTwilio(t, phoned(`"voice"`))
	w.push("cards", "Critical")
	target := w.incident()
	one(t, s)
	w.pass(15 * time.Second)
	w.push("paypal", "Critical")
	source := w.incident()
	call := one(t, s)
	w.mergedBy(ownKey, target, source)
	contains(t, s.Press(call, "8"), "Trouble with cards")
	contains(t, s.Press(call, "6"), "Escalated: step 2 begins.")
	contains(t, s.Press(call, "4"), "Acknowledged: Trouble with cards")
	w.want(w.do("/incident/info", `{"incident_id": %q}`, target), "progress", "Processing")
}

// TestMergeIntoPrivateChannelHidesTarget: a person who may not read the target sees its number only, and is not responsible
// for it.
func TestMergeIntoPrivateChannelHidesTarget(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(bob)+", "+chat)), `{"channels": [{"channel_id": 7000000000044, "channel_name": "Secret", "is_private": true}]}`)
	w.push("cpu", "Critical")
	mine, paged := w.incident(), w.of("bob")
	w.newPages()
	w.pass(10 * time.Second)
	secret := w.do("/incident/create", `{"incident_severity": "Critical", "title": "The merger leaked", "channel_id": 7000000000044}`).get("incident_id")
	w.newPages()
	w.mergedBy(ownKey, secret, mine)
	for _, p := range []page{w.of("bob"), w.of("ops")} {
		if !strings.Contains(p.subject, "[Merged] Trouble with cpu") || strings.Contains(p.text+p.subject, "leaked") ||
			!strings.Contains(p.text, "Merged into incident #"+strings.ToUpper(secret[18:])+" by Olga Owner") {
			t.Errorf("%s got %s\n%s", p.to, p.subject, p.text)
		}
	}
	w.notified(merged("bob"), "ops slack i_merge")
	if _, body := w.visit("GET", paged.ack); strings.Contains(body, "leaked") || !strings.Contains(body, "Merged into incident") {
		t.Error(body)
	}
	w.want(w.do("/incident/info", `{"incident_id": %q}`, secret), "responders.0.person_id", "")
}

// TestMergeIsPostedToWarRoom of the source.
func TestMergeIsPostedToWarRoom(t *testing.T) {
	t.Parallel()
	room := workspace(t)
	w, source, target := merging(t, layer(persons(bob)), layer(persons(ann)), nil, room.apps())
	w.sql(fmt.Sprintf(`INSERT INTO war_room (account_id, incident_id, integration_id, plugin_type, status, chat_id, chat_name, share_link, created_by, created_at)
		VALUES (%d, '%s', %s, 'slack', 'open', 'C1', 'paypal', '', %d, 0)`, account, source, chatID, olga))
	w.mergedBy(ownKey, target, source)
	if took := room.took(); !strings.Contains(took, "C1") || !strings.Contains(took, "was merged into this incident by Olga Owner") {
		t.Errorf("the war room got %s", took)
	}
}

// TestMergeIsNoEndInFigures: not in the list, not in the export.
func TestMergeIsNoEndInFigures(t *testing.T) {
	t.Parallel()
	w, source, target := merging(t, layer(persons(bob)), layer(persons(ann)), nil)
	w.mergedBy(ownKey, target, source)
	list := w.do("/insight/incident/list", `{"start_time": %d, "end_time": %d, "incident_ids": [%q]}`, start.Unix()-60, start.Unix()+3600, source)
	w.want(list, "items.0.closed_by", "merged")
	w.want(list, "items.0.seconds_to_close", "0")
}

// TestMessageDescribesFiringAlert: the description belongs to the alert in the subject, not to the first alert.
func TestMessageDescribesFiringAlert(t *testing.T) {
	t.Parallel()
	w := begin(t, grouped(byService))
	body := `{"title_rule": "Disk", "event_status": %q, "alert_key": %q, "description": %q, "labels": {"service": "db", "summary": %[3]q, "alertname": "Disk"}}`
	for _, e := range [][3]string{{"Warning", "a", "15 % left"}, {"Warning", "b", "3 % left"}, {"Ok", "a", "15 % left"}, {"Critical", "b", "3 % left"}} {
		if r := w.post("/event/push/alert/standard?integration_key="+groupKey, fmt.Sprintf(body, e[0], e[1], e[2])); r.Error != nil {
			t.Fatal(r)
		}
		w.settle()
	}
	if p := w.last(); !strings.Contains(p.subject, "3 % left") || !strings.Contains(p.text, "3 % left") || strings.Contains(p.text, "15 % left") {
		t.Errorf("%s\n%s", p.subject, p.text)
	}
}

// TestDigitEscalatesTargetOfMerge: the call was about an incident that was merged since, and its next step is that of the target.
func TestDigitEscalatesTargetOfMerge(t *testing.T) {
	t.Parallel()
	call := `{"target": {` + persons(ann) + `, "by": {"critical": ["voice"], "warning": ["voice"], "info": ["voice"]}}}`
	open := func(t *testing.T, steps ...string) (w *world, s *twiliotest.Server, page twiliotest.Call, target string) {
		w, s = beginTwilio(t, twoRules(call, strings.Join(steps, ", ")), cidActs)
		w.push("cards", "Critical", "app=cards")
		target = w.incident()
		w.pass(10 * time.Second)
		w.push("paypal", "Critical", "app=paypal")
		page = one(t, s)
		w.mergedBy(ownKey, target, w.incident())
		w.newPages()
		return w, s, page, target
	}
	other := func(page twiliotest.Call, digit string) twiliotest.Call {
		page.SID = "CA" + strings.Repeat(digit, 32) // of an attempt whose reply was lost
		return page
	}
	t.Run("the next step", func(t *testing.T) {
		t.Parallel()
		w, s, page, target := open(t, layer(persons(bob), window(30)), layer(persons(cid), window(30)), layer(persons(olga)))
		w.pass(time.Minute)
		contains(t, s.Press(page, "6"), "Escalated: step 2 begins.")
		w.settle()
		w.notified(newPage("cid"))
		contains(t, w.words(w.do("/incident/explain", `{"incident_id": %q}`, target)), "was brought forward by Ann Day")
		contains(t, s.Press(other(page, "f"), "6"), "gone on already")
		w.pass(time.Minute)
		contains(t, s.Press(other(page, "e"), "6"), "gone on already")
		w.settle()
		w.notified()
	})
	t.Run("it has come", func(t *testing.T) {
		t.Parallel()
		w, s, page, _ := open(t, layer(persons(bob), window(5)), layer(persons(cid), window(30)), layer(persons(olga)))
		w.pass(6 * time.Minute)
		w.notified(newPage("cid"))
		contains(t, s.Press(page, "6"), "gone on already")
		w.settle()
		w.notified()
	})
	t.Run("the last step", func(t *testing.T) {
		t.Parallel()
		w, s, page, _ := open(t, layer(persons(bob)))
		contains(t, s.Press(page, "6"), "this is the last step")
		w.settle()
		w.notified()
	})
}
