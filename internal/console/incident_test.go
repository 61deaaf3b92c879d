package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

const shopDown = `{"title_rule": "Checkout is down", "event_status": "Critical", "alert_key": "checkout", "labels": {"host": "web-1", "runbook": "https://runbooks.example.com/x", "bad": "javascript:alert(1)"}}`

// TestAcknowledge follows the night of a responder: the incident is in the list, its page has one button, which stops the
// escalation; the undo takes it back.
func TestAcknowledge(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(shopDown)
	ann := w.signIn(annKey)
	path := ann.get("/incidents?show=mine").shows("Checkout is down", "Waiting for Ann Day").link("/incidents/")
	ann.get(path).shows("Why you:", "on call in Day", "1 alert is still firing: if you resolve the incident now", `formaction="`+path+`/ack"`, "Next, if no person acknowledges", "Notified Ann Day by e-mail.")
	acked := ann.post(path+"/ack", "seen", "Triggered", "comment", "Looking at it.")
	acked.shows("You have it.", "Escalation has stopped.", "Undo", "Looking at it.", "!Next, if no person")
	if acked.path != path+"?done=ack" {
		t.Errorf("at %s", acked.path)
	}
	w.clock.Add(10 * time.Minute)
	ann.get(acked.path).shows("!You have it.", "Undo acknowledge")
	ann.post(path+"/unack").shows("Waiting for Ann Day", "Withdrew the acknowledgement")
}

// TestTwoPeople has two responders with the same page: the second sees who was first and keeps the note.
func TestTwoPeople(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(shopDown)
	ann, bob := w.signIn(annKey), w.signIn(bobKey)
	path := ann.get("/incidents").link("/incidents/")
	bob.get(path).shows("Acknowledge")
	ann.post(path+"/ack", "seen", "Triggered")
	second := bob.post(path+"/ack", "seen", "Triggered", "comment", "I restart the database")
	second.showsWith(http.StatusConflict, "Ann Day acknowledged it first", "I restart the database</textarea>", "Acknowledge too")
	bob.get(path).shows("!I restart the database", "!Bob Night</bdi></a></strong> Acknowledged")
	bob.post(path+"/ack", "seen", "Processing", "comment", "I restart the database").shows("Ann Day, Bob Night", "I restart the database")
	ann.post(path+"/resolve").shows("Closed", "closed by Ann Day", "!still fires")
	bob.post(path+"/resolve", "comment", "I resolve it").showsWith(http.StatusBadRequest, "it is closed", "I resolve it</textarea>")
}

// TestIncidentActions does everything that can be done to an incident once, and once with wrong input.
func TestIncidentActions(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(shopDown)
	w.push(`{"title_rule": "Mail is slow", "event_status": "Warning", "alert_key": "mail"}`)
	ann := w.signIn(annKey)
	mail, path := ann.get("/incidents?q=Mail").link("/incidents/"), ann.get("/incidents?q=checkout").link("/incidents/")
	ann.post(path+"/comment", "comment", "A note\r\nof two lines").shows("A note\nof two lines", "Ann Day")
	ann.post(path+"/comment", "comment", " ").showsWith(http.StatusBadRequest, "Write a note first.")
	ann.post(path+"/comment", "comment", strings.Repeat("x", 1025)).showsWith(http.StatusBadRequest, "comment", "xxxxx</textarea>")
	ann.post(path+"/snooze", "minutes", "60").shows("Snoozed for 1 h", "Wake now")
	ann.post(path+"/snooze", "minutes", "0").showsWith(http.StatusBadRequest, "minutes")
	ann.post(path + "/wake").shows("Ended the snooze")
	ann.get(path+"/people").shows(`<option data-id="7000000000013" value="Bob Night">`, "!checked", "on call")
	ann.post(path+"/people", "do", "pick", "person", "7000000000014", "person.add", "bob").shows(
		`value="7000000000013" checked`, `value="7000000000014" checked`)
	ann.get(path+"/people").shows("On call in", "until")
	ann.post(path+"/people", "how", "add", "person.add", "Nobody").showsWith(http.StatusBadRequest, "named “Nobody”", `value="Nobody"`)
	ann.get(path).shows("!Bob Night")
	ann.post(path+"/people", "how", "add", "person", "7000000000013").shows("Added: Bob Night")
	ann.post(path+"/people", "how", "assign", "person", "7000000000014").shows("Assigned to Rita Reader", "Waiting for Rita Reader")
	ann.post(path+"/people", "how", "rule", "rule", "5e5e5e5e5e5e5e5e5e5e5e01").shows("Next, if no person acknowledges")
	w.settle()
	ann.get(path).shows("Waiting for Ann Day")
	ann.post(path+"/people", "how", "add").showsWith(http.StatusBadRequest, "person_ids", "Rita Reader")
	ann.post(path+"/room", "integration_id", "7").showsWith(http.StatusNotFound)
	ann.post(path+"/resolve").shows("Reopen", "Resolved")
	ann.post(path+"/reopen").shows("Reopened", `data-key="a"`)
	ann.get(path + "/similar").shows("No earlier incident is like this one.")
	ann.get(path+"/merge").shows("Mail is slow", "!value=\""+path[len("/incidents/"):])
	ann.post(path+"/merge", "comment", "the same").showsWith(http.StatusBadRequest, "Choose the incident", "the same</textarea>")
	merged := ann.post(path+"/merge", "target", mail[len("/incidents/"):], "comment", "the same")
	if merged.shows("Mail is slow", "Merged"); merged.path != mail+"?done=merge" {
		t.Errorf("at %s", merged.path)
	}
	ann.get(path).shows("It was merged into another incident.", mail)
}

// TestEditIncident changes what differs from the form alone, so that two editors do not undo each other.
func TestEditIncident(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(shopDown)
	ann, bob := w.signIn(annKey), w.signIn(bobKey)
	path := ann.get("/incidents").link("/incidents/")
	ann.get(path+"/edit").shows(`value="Checkout is down"`, "Region", "Parts", "Known", "Ticket")
	ann.post(path+"/edit", "title", "Checkout fails", "was_title", "Checkout is down", "impact", "", "was_impact", "", "incident_severity", "Warning", "was_incident_severity", "Critical").
		shows("Checkout fails", "Changed the severity from Critical to Warning")
	bob.post(path+"/edit", "title", "Checkout is down", "was_title", "Checkout is down", "impact", "No one\r\ncan pay", "was_impact", "").shows("Checkout fails", "No one\ncan pay")
	ann.post(path+"/edit", "field_region", "eu", "was_field_region", "", "field_parts", "web", "field_parts", "mail", "was_field_parts", "",
		"field_known", "true", "was_field_known", "false", "field_ticket", "T-1", "was_field_ticket", "").shows("eu", "web, mail", "T-1", "true")
	ann.get(path+"/edit").shows(`value="mail`+"\n"+`web"`, `<option value="eu" selected>`, `value="true" checked`)
	ann.post(path+"/edit", "field_region", "", "was_field_region", "eu").shows("!<dd><bdi>eu</bdi></dd>", "T-1")
	ann.post(path+"/edit", "field_region", "mars", "was_field_region", "").showsWith(http.StatusBadRequest, "mars")
	ann.post(path+"/edit", "title", strings.Repeat("t", 513), "was_title", "x").showsWith(http.StatusBadRequest, "ttt", "title")
}

// TestIncidentRights checks that a reader sees the incident and no control, and can do nothing all the same.
func TestIncidentRights(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(shopDown)
	rita := w.signIn(readerKey)
	path := rita.get("/incidents").link("/incidents/")
	rita.get(path).shows("Checkout is down", "!formaction", "!/edit", "!<textarea")
	rita.get("/alerts").shows("Checkout is down")
	for _, act := range []string{"ack", "unack", "resolve", "reopen", "wake", "snooze", "room", "people", "merge", "edit"} {
		if a := rita.post(path+"/"+act, "minutes", "5", "integration_id", "7", "person", "7000000000013", "how", "add", "target", path[len("/incidents/"):], "title", "x"); a.status != http.StatusForbidden {
			t.Errorf("%s: %d", act, a.status)
		}
	}
	stranger := w.signIn(emptyKey)
	stranger.get(path).showsWith(http.StatusNotFound, "This did not work", "!Checkout")
	stranger.get(path + "/why").showsWith(http.StatusNotFound)
}

// TestWhy reads the chain of an incident, of a silenced, an inhibited and a dropped alert.
func TestWhy(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(shopDown)
	w.push(`{"title_rule": "Staging burns", "event_status": "Critical", "alert_key": "staging", "labels": {"env": "staging"}}`)
	w.push(`{"title_rule": "Host is gone", "event_status": "Critical", "alert_key": "host", "labels": {"check": "host", "host": "a"}}`)
	w.push(`{"title_rule": "Web does not answer", "event_status": "Critical", "alert_key": "web", "labels": {"check": "web", "host": "a"}}`)
	w.push(`{"title_rule": "Only a test", "event_status": "Critical", "alert_key": "test", "labels": {"env": "test"}}`)
	ann := w.signIn(annKey)
	path := ann.get("/incidents?q=checkout").link("/incidents/")
	ann.get(path).shows(`<a href="` + shopPath + `/escalations/5e5e5e5e5e5e5e5e5e5e5e01">Step 1 of on call began`)
	ann.get(path+"/why").shows("The alert opened the incident.", "Notified Ann Day by e-mail.", "on call in Day", "no match", "env is missing", "Next: the person on call in Nights only", "/people/7000000000012")
	silenced := ann.get("/alerts?show=muted").shows("Staging burns", "Web does not answer", "!Host is gone", "until").link("/alerts/")
	_ = silenced
	staging := ann.get("/alerts?q=Staging").link("/alerts/")
	ann.get(staging).shows("Silenced until", "Staging is quiet", "env is &#34;", "!rules/silences/new", staging+"/silence")
	ann.get(staging+"/why").shows("The alert was silenced.", "Staging is quiet", "✓ matches")
	web, host := ann.get("/alerts?q=Web").link("/alerts/"), ann.get("/alerts?q=Host").link("/alerts/")
	ann.get(web).shows("Inhibited while another alert is firing.", `<a href="`+host+`"`, "Host is gone")
	event := ann.get("/alerts?show=dropped").shows("Only a test", "Discarded")
	ann.get(event.link("/alerts/")+"/why?event=1").shows("The event was discarded.", "Noise", "env is &#34;")
	alert := ann.get("/alerts?q=checkout").link("/alerts/")
	ann.get(alert).shows(`href="https://runbooks.example.com/x"`, "!href=\"javascript", "javascript:alert(1)", path)
	ann.post(alert+"/close").shows("Ended", "Ended")
	ann.get(path).shows("Closed")
}

// TestFilters checks the parameters of the lists, and one that is not understood.
func TestFilters(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(shopDown)
	ann := w.signIn(annKey)
	ann.get("/incidents?severity=Critical&channel=7000000000041&team=7000000000021&days=1").shows("Checkout is down", `Open <span class="sum">1<`)
	ann.get("/incidents?severity=Warning").shows("!Checkout is down", "All quiet.")
	ann.get("/incidents?severity=Bad").shows("The filter is not understood:", "incident_severity")
	ann.get("/incidents?after=nonsense").shows("The filter is not understood:")
	ann.get("/alerts?q=/[/").shows("The filter is not understood:")
	ann.get("/alerts?severity=Warning").shows("!Checkout is down")
	path := ann.get("/incidents").link("/incidents/")
	ann.get(path + "?feed=note").shows("No notes yet.")
	ann.get(path+"?feed=page").shows("Notified Ann Day", "!Opened with severity")
	ann.get(path+"?feed=change").shows("Opened with severity Critical", "!Notified Ann Day over")
}

// TestFlappingAndDisabledAreShown shows an alert that changes too often, and an alert that a disabled channel holds back.
func TestFlappingAndDisabledAreShown(t *testing.T) {
	w := begin(t)
	event := func(key, status string) {
		w.push(`{"title_rule": "Cache ` + key + `", "event_status": "` + status + `", "alert_key": "` + key + `"}`)
	}
	for range 2 {
		event("a", "Critical")
		event("a", "Ok")
	}
	ann := w.signIn(annKey)
	path := ann.get("/").shows("Cache a", "Flapping", "!1 alert fires").link("/incidents/")
	ann.get(path).shows("An alert of it changes too often: 4 times in 60 minutes.", "Alerts: 0 of 1 firing")
	alert := ann.get("/alerts?q=Cache").shows("Ended for now").link("/alerts/")
	ann.get(alert).shows("It changes too often: it is over for now, and ends at", "Changes too often")
	ann.get(alert + "/why").shows("The alert changes too often.")
	event("a", "Critical")
	ann.get(path).shows("Notified again", "it changes too often, and it fires again", "Alerts: 1 of 1 firing")
	w.signIn(ownerKey).post(shopPath + "/status/disable").shows("This channel is disabled: its alerts are muted and notify nobody.")
	event("b", "Critical")
	held := ann.get("/alerts?show=muted&q=Cache+b").shows("Cache b", "Channel disabled").link("/alerts/")
	ann.get(held).shows("Muted because its channel is disabled.")
	ann.get(held + "/why").shows("The alert is muted: its channel is disabled.")
}

// TestIncidentIsReported opens incidents by hand: for the people who are chosen, and for the rule of a channel.
func TestIncidentIsReported(t *testing.T) {
	t.Parallel()
	w := begin(t)
	ann := w.signIn(annKey)
	ann.get("/incidents").shows(`href="/incidents/new"`)
	ann.post("/incidents/new", "title", "", "incident_severity", "Critical", "channel_id", "0", "description", "No till works", "do", "save").
		showsWith(http.StatusBadRequest, "title", "No till works")
	ann.post("/incidents/new", "title", "Tills are down", "incident_severity", "Critical", "channel_id", "0", "do", "save",
		"assigned_to.person_ids.add", "Bob").shows("Tills are down", "Assigned to", "Bob Night")
	ann.post("/incidents/new", "title", "Shop is slow", "incident_severity", "Warning", "channel_id", "7000000000041", "do", "save").
		shows("Shop is slow", "Warning", `href="/channels/7000000000041"`)
	w.signIn(readerKey).get("/incidents").shows("!/incidents/new")
}
