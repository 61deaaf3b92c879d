package console_test

import (
	"fmt"
	"testing"
	"time"
)

// TestNow reads the first page of a responder, of a person who may read incidents only, and of an empty account.
func TestNow(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(shopDown)
	w.push(`{"title_rule": "Staging burns", "event_status": "Critical", "alert_key": "staging", "labels": {"env": "staging"}}`)
	ann := w.signIn(annKey)
	ann.get("/").shows("You are on call", "Day", "Next: Bob Night from", "Checkout is down", "1 open incident", "!Nobody was told</h2>", "!Staging burns",
		"No one for 16 h", "Nights only", "Staging is quiet", "No webhooks yet.", "!Fill the gap")
	w.push(`{"title_rule": "Nobody reads this", "event_status": "Info", "alert_key": "x"}`)
	w.signIn(ownerKey).get("/").shows("Fill the gap", "/schedules/7000000000032/override?end=1795298400&amp;start=1795255200&amp;whom=all")
	w.signIn(bobKey).get("/").shows("You are not on call", "Your next turn begins in")
	w.signIn(readerKey).get("/").shows("Checkout is down", "!Am I on call?", "!Gaps in the next", "Active silences")
	w.signIn(emptyKey).get("/?now=1").shows("No schedule names you.", "All quiet.", "No alert is silenced.",
		"No schedule yet: nobody is on call.", `href="/schedules/new"`, "No webhooks yet.", "!No gaps in", "!No webhook is failing")
}

// TestNowNamesWhoFollowsVisitor: the visitor is on call for two days, on the first with another person.
func TestNowNamesWhoFollowsVisitor(t *testing.T) {
	t.Parallel()
	w := begin(t)
	today := w.clock.Now().Truncate(24 * time.Hour)
	w.call(ownerKey, "/schedule/create", fmt.Sprintf(`{"schedule_name": "Pairs", "layers": [{"layer_name": "l", "layer_start": %d, "rotation_unit": "day",
		"rotation_value": 1, "groups": [{"members": [{"role_id": 0, "person_ids": [7000000000012, 7000000000013]}]},
		{"members": [{"role_id": 0, "person_ids": [7000000000012]}]}, {"members": [{"role_id": 0, "person_ids": [7000000000014]}]}]}]}`, today.Unix()))
	w.signIn(annKey).get("/").shows("Pairs", "Next: Rita Reader from", "!Next: Ann Day from")
}

// TestFirstRun: an account without a schedule and a source shows the steps until alerts reach people, and what would happen to an
// alert now. The page goes when a schedule, a channel and a source exist; a responder never sees it.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(emptyKey)
	owner.get("/").shows("Nobody can be paged yet", "What would happen to an alert now", "Make a schedule", `href="/integrations/new"`, "!Am I on call?")
	made := w.call(emptyKey, "/incident/create", `{"title": "Tills are down", "incident_severity": "Critical"}`)
	owner.get("/").shows("!Nobody can be paged yet", "Tills are down")
	w.call(emptyKey, "/incident/resolve", `{"incident_ids": ["`+made["incident_id"].(string)+`"]}`)
	w.call(emptyKey, "/schedule/create", `{"schedule_name": "Day"}`)
	owner.get("/").shows("Nobody can be paged yet", `<li class="did">
<strong>Say who is on call when`)
	w.call(emptyKey, "/integration/create", `{"integration_name": "Alertmanager", "integration_type": "prometheus"}`)
	owner.get("/").shows("Nobody can be paged yet", `href="/channels/new?name=Alerts"`)
	channel := w.call(emptyKey, "/channel/create", `{"channel_name": "Alerts", "team_id": 0}`)
	owner.get("/").shows("!Nobody can be paged yet", "Am I on call?")
	owner.get(fmt.Sprintf("/channels/%.0f/escalations/new", channel["channel_id"])).shows(`value="All incidents"`, `>Day<`)
	w.signIn(readerKey).get("/").shows("!Nobody can be paged yet")
}
