package story

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
)

// TestAnAlertWhoseIncidentIsNotHereEnds: an account file may have an alert without its incident, which must be able
// to get worse and to end, by its source and by hand, and to become another incident's.
func TestAnAlertWhoseIncidentIsNotHereEnds(t *testing.T) {
	w := begin(t, tellAnn, fmt.Sprintf(`{"alerts": [%s, %s, %s]}`,
		imported("5a5a5a5a5a5a5a5a5a5a5a01", "one"), imported("5a5a5a5a5a5a5a5a5a5a5a02", "two"), imported("5a5a5a5a5a5a5a5a5a5a5a03", "three")))
	w.outcome(w.push("one", "Critical"), "grouped")
	w.outcome(w.push("one", "Ok"), "recovered")
	w.do("/alert/close", `{"alert_ids": ["5a5a5a5a5a5a5a5a5a5a5a02"]}`)
	w.push("four", "Critical")
	w.do("/alert/merge", `{"alert_ids": ["5a5a5a5a5a5a5a5a5a5a5a03"], "incident_id": %q}`, w.incident())
}

// imported is an alert of an account file whose incident is in none.
func imported(id, key string) string {
	return fmt.Sprintf(`{"alert_id": %q, "channel_id": %d, "integration_id": %d, "alert_key": %q, "title": "Trouble with %s", "alert_severity": "Warning", "alert_status": "Warning",
		"start_time": %d, "event_cnt": 1, "incident": {"incident_id": "5a5a5a5a5a5a5a5a5a5a5aff"}}`, id, shop, sink, key, key, start.Add(-time.Hour).Unix())
}

// TestWhoMakesAnIncidentDoesNotSayHowItWasAssigned: what a client sends as the kind of assignment must not keep the
// person from being told.
func TestWhoMakesAnIncidentDoesNotSayHowItWasAssigned(t *testing.T) {
	w := begin(t)
	w.do("/incident/create", `{"incident_severity": "Critical", "title": "Smoke", "channel_id": %d, "assigned_to": {"person_ids": [%d], "type": "escalate"}}`, shop, cid)
	w.told("cid@example.com email i_assign")
	w.want(w.do("/incident/info", `{"incident_id": %q}`, w.incident()), "assigned_to.type", "assign")
}

// TestAPlaceInAListHoldsWhileTimePasses: a page that is asked for some seconds later goes on where the last one ended.
func TestAPlaceInAListHoldsWhileTimePasses(t *testing.T) {
	w := begin(t, tellAnn)
	for _, key := range []string{"a", "b", "c"} {
		w.push(key, "Critical")
		w.do("/incident/snooze", `{"incident_ids": [%q], "minutes": 60}`, w.incident())
		w.pass(time.Second)
	}
	now := w.clock.Now().Unix()
	for _, list := range []string{
		fmt.Sprintf(`/incident/list {"start_time": %d, "end_time": %d, "is_snoozed": true, "limit": 2`, now-3600, now+3600),
		`/alert-event/list {"limit": 2`,
	} {
		var path, body string
		fmt.Sscanf(list, "%s", &path)
		body = list[len(path)+1:]
		first := w.do(path, "%s}", body)
		w.pass(5 * time.Second)
		second := w.do(path, `%s, "search_after_ctx": %q}`, body, first.get("search_after_ctx"))
		if first.get("items.1.title") == "" || second.get("items.0.title") == "" || second.get("items.1.title") != "" {
			t.Errorf("%s: %s, then %s", path, first, second)
		}
	}
}

// TestEventsOfAnOpenWindow: with a start alone the window ends now, and is as long as it may be all the same.
func TestEventsOfAnOpenWindow(t *testing.T) {
	w := begin(t)
	if r := w.try(ownKey, "/alert-event/list", `{"start_time": 1}`); r.Status != 400 || !strings.Contains(r.String(), "31 days") {
		t.Error(r)
	}
}

// TestAnAcknowledgementEndsASnooze, also one by somebody who has acknowledged before.
func TestAnAcknowledgementEndsASnooze(t *testing.T) {
	w := begin(t, tellAnn)
	w.push("cpu", "Critical")
	w.ack(annKey)
	w.as(annKey, "/incident/snooze", `{"incident_ids": [%q], "minutes": 30}`, w.incident())
	w.ack(annKey)
	w.want(w.do("/incident/info", `{"incident_id": %q}`, w.incident()), "snoozed_before", "0")
}

// TestATitleIsFoundInEveryScript, whatever its case.
func TestATitleIsFoundInEveryScript(t *testing.T) {
	w := begin(t)
	w.do("/incident/create", `{"incident_severity": "Critical", "title": "Über ΣΊΣΥΦΟΣ 100%%", "channel_id": %d}`, shop)
	now := w.clock.Now().Unix()
	for query, want := range map[string]string{"Über": "1", "über": "1", "ÜBER": "1", "σίσυφος": "1", "100%": "1", "10_%": "0", "uber": "0"} {
		r := w.do("/incident/list", `{"start_time": %d, "end_time": %d, "query": %q}`, now-10, now+10, query)
		if r.get("total") != want {
			t.Errorf("%s: %s found, want %s", query, r.get("total"), want)
		}
	}
	w.do("/incident/reset", `{"incident_id": %q, "title": "Ärger"}`, w.incident())
	w.want(w.do("/incident/list", `{"start_time": %d, "end_time": %d, "query": "ÄRGER"}`, now-10, now+10), "total", "1")
	w.sql(`UPDATE incident SET title_folded = ''`) // as an older version leaves it
	w.restart()
	w.want(w.do("/incident/list", `{"start_time": %d, "end_time": %d, "query": "ÄRGER"}`, now-10, now+10), "total", "1")
}

// TestAnIDThatIsNoneIsNamed: it is the caller's mistake in writing, not something that is gone.
func TestAnIDThatIsNoneIsNamed(t *testing.T) {
	w := begin(t)
	w.push("cpu", "Critical")
	for path, body := range map[string]string{
		"/incident/list-by-ids": `{"incident_ids": ["x"]}`,
		"/incident/ack":         `{"incident_ids": ["x"]}`,
		"/incident/assign":      fmt.Sprintf(`{"incident_id": "x", "assigned_to": {"person_ids": [%d]}}`, ann),
		"/incident/assign ":     fmt.Sprintf(`{"incident_ids": ["x"], "assigned_to": {"person_ids": [%d]}}`, ann),
		"/incident/merge":       fmt.Sprintf(`{"source_incident_ids": ["x"], "target_incident_id": %q}`, w.incident()),
		"/incident/list":        `{"start_time": 1, "end_time": 2, "incident_ids": ["x"]}`,
		"/alert/list":           `{"start_time": 1, "end_time": 2, "alert_ids": ["x"]}`,
		"/alert/list-by-ids":    `{"alert_ids": ["x"]}`,
		"/alert/close":          `{"alert_ids": ["x"]}`,
		"/alert/explain":        `{"alert_id": "x"}`,
		"/alert/explain ":       `{"event_id": "x"}`,
	} {
		if r := w.try(ownKey, strings.TrimSpace(path), "%s", body); r.Status != 400 || r.Error.Code != "InvalidParameter" || !strings.Contains(r.Error.Message, "24 hexadecimal") {
			t.Errorf("%s %s: %s", path, body, r)
		}
	}
}

// TestAMergedIncidentKnowsWhereItsAlertsCameFrom, whichever way it was merged.
func TestAMergedIncidentKnowsWhereItsAlertsCameFrom(t *testing.T) {
	for _, how := range []string{"/incident/merge", "/alert/merge"} {
		w := begin(t)
		one := w.do("/incident/create", `{"incident_severity": "Info", "title": "by hand", "channel_id": %d}`, shop).get("incident_id")
		w.pass(time.Second)
		w.push("cpu", "Critical")
		other := w.incident()
		if how == "/alert/merge" {
			alert := w.do("/incident/alert/list", `{"incident_id": %q}`, other).get("items.0.alert_id")
			w.do(how, `{"alert_ids": [%q], "incident_id": %q}`, alert, one)
		} else {
			w.do(how, `{"source_incident_ids": [%q], "target_incident_id": %q}`, other, one)
		}
		r := w.do("/incident/info", `{"incident_id": %q}`, one)
		w.want(r, "integration_ids", fmt.Sprintf("[%d]", sink))
		w.want(r, "integration_types", `["standard"]`)
		w.want(r, "alert_cnt", "1")
		w.want(r, "incident_severity", "Critical")
	}
}

// TestOnlyAddressesAreAssignedTo: others would take the place of those who are responsible.
func TestOnlyAddressesAreAssignedTo(t *testing.T) {
	w := begin(t)
	w.push("cpu", "Critical")
	if r := w.try(ownKey, "/incident/assign", `{"incident_id": %q, "assigned_to": {"emails": ["nonsense"]}}`, w.incident()); r.Status != 400 || !strings.Contains(r.String(), "assigned_to.emails[0]") {
		t.Error(r)
	}
}

// TestMyTeamsIncidentsInAllChannels: an empty list of channels is no filter.
func TestMyTeamsIncidentsInAllChannels(t *testing.T) {
	w := begin(t, fmt.Sprintf(`{"channels": [{"channel_id": 7000000000049, "channel_name": "Ours", "team_id": %d}]}`, ops))
	w.do("/incident/create", `{"incident_severity": "Info", "title": "by hand", "channel_id": 7000000000049}`)
	now := w.clock.Now().Unix()
	for _, more := range []string{``, `, "channel_ids": []`} {
		w.want(w.do("/incident/list", `{"start_time": %d, "end_time": %d, "team_ids": [%d]%s}`, now-10, now+10, ops, more), "total", "1")
	}
}

// TestTheRestOfAnIncidentThatLostItsAlerts: when all that is left to it is over, nothing would end it any more.
func TestTheRestOfAnIncidentThatLostItsAlerts(t *testing.T) {
	w := begin(t, grouped(byService))
	w.pushTo(groupKey, "one", "Critical", "service=web")
	w.pushTo(groupKey, "two", "Critical", "service=web")
	old := w.incident()
	w.pushTo(groupKey, "two", "Ok")
	other := w.do("/incident/create", `{"incident_severity": "Info", "title": "by hand", "channel_id": %d}`, shop).get("incident_id")
	alerts := w.do("/incident/alert/list", `{"incident_id": %q, "is_active": true}`, old)
	w.want(alerts, "total", "1")
	w.do("/alert/merge", `{"alert_ids": [%q], "incident_id": %q}`, alerts.get("items.0.alert_id"), other)
	w.want(w.do("/incident/info", `{"incident_id": %q}`, old), "progress", "Closed")
}

// TestAnAssignmentOfOneAndSeveral: none of those named is left out.
func TestAnAssignmentOfOneAndSeveral(t *testing.T) {
	w := begin(t)
	w.push("a", "Critical")
	one := w.incident()
	w.pass(time.Second)
	w.push("b", "Critical")
	w.do("/incident/assign", `{"incident_id": %q, "incident_ids": [%q], "assigned_to": {"person_ids": [%d]}}`, one, w.incident(), cid)
	for _, id := range []string{one, w.incident()} {
		w.want(w.do("/incident/info", `{"incident_id": %q}`, id), "responders.0.person_id", fmt.Sprint(cid))
	}
}

// TestAnAlertIsAsPrivateAsItsChannel also in an incident of a channel that is for everybody.
func TestAnAlertIsAsPrivateAsItsChannel(t *testing.T) {
	const private = 7000000000043
	w := begin(t, grouped(`"method": "n"`))
	w.push("open", "Critical")
	target := w.incident()
	w.pushTo(groupKey, "secret", "Critical")
	w.do("/channel/update", `{"channel_id": %d, "is_private": true}`, private)
	now := w.clock.Now().Unix()
	secret := w.do("/alert/list", `{"start_time": %d, "end_time": %d, "alert_keys": ["secret"]}`, now-10, now+10).get("items.0.alert_id")
	w.do("/alert/merge", `{"alert_ids": [%q], "incident_id": %q}`, secret, target)
	w.want(w.do("/incident/alert/list", `{"incident_id": %q, "include_events": true}`, target), "total", "2")
	r := w.as(annKey, "/incident/alert/list", `{"incident_id": %q, "include_events": true}`, target)
	w.want(r, "total", "1")
	w.want(r, "items.0.alert_key", "open")
	w.want(r, "items.1.alert_key", "")
	if r := w.try(annKey, "/alert/info", `{"alert_id": %q}`, secret); r.Status != 403 {
		t.Error(r)
	}
}

// TestWhatBecameOfAnEventInPrivateChannels is as private, in however many it is.
func TestWhatBecameOfAnEventInPrivateChannels(t *testing.T) {
	w := begin(t, fmt.Sprintf(`{"routes": [{"integration_id": %d, "cases": [], "default": {"channel_ids": [%d, %d]}}]}`, shared, shop, mail))
	event := w.pushTo(sharedKey, "x", "Critical")
	w.do("/channel/update", `{"channel_id": %d, "is_private": true}`, shop)
	w.want(w.as(annKey, "/alert/explain", `{"event_id": %q}`, event), "verdicts.1.outcome", "")
	w.do("/channel/update", `{"channel_id": %d, "is_private": true}`, mail)
	if r := w.try(annKey, "/alert/explain", `{"event_id": %q}`, event); r.Status != 403 {
		t.Error(r)
	}
}

// TestWhatIsKeptOfADroppedEvent: it goes with its verdict, and before that goes nothing that waits.
func TestWhatIsKeptOfADroppedEvent(t *testing.T) {
	w := beginWith(t, func(c *app.Config) { c.EventDays, c.DroppedDays = 180, 30 }, rules("drop_rules", `"filters": `+where("env", "test")))
	dropped, taken := w.push("noise", "Critical", "env=test"), w.push("cpu", "Critical")
	w.outcome(dropped, "dropped")
	w.clock.Add(31 * 24 * time.Hour)
	w.settle()
	if r := w.try(ownKey, "/alert/explain", `{"event_id": %q}`, dropped); r.Status != 404 {
		t.Error(r)
	}
	w.outcome(taken, "opened")
	if n := w.count(`SELECT count(*) FROM event`); n != 1 {
		t.Errorf("%d events are kept", n)
	}
}

// TestASilencedAlertMovesHouse: what a silence held back when the file was written pages when the silence ends.
func TestASilencedAlertMovesHouse(t *testing.T) {
	w := begin(t, tellAnn, rules("silence_rules", `"filters": `+where("env", "test")+`, `+once(time.Hour)))
	w.push("cpu", "Critical", "env=test")
	w.told()
	f, err := accountfile.Export(context.Background(), w.app.DB, w.app.Keyring, account, true)
	w.must(err)
	w.must(accountfile.Import(context.Background(), w.app.DB, w.app.Keyring, f, w.clock.Now(), true))
	w.pass(time.Minute)
	w.told()
	w.pass(time.Hour)
	w.told(newPage("ann"), "olga@example.com email silence_ends")
}

// TestARemovalIsTriedOut: who asks what would go away loses nothing.
func TestARemovalIsTriedOut(t *testing.T) {
	w := begin(t, tellAnn)
	w.push("cpu", "Critical")
	r := w.do("/incident/remove", `{"incident_ids": [%q], "dry_run": true}`, w.incident())
	w.want(r, "allowed", "true")
	w.want(r, "removes.0.id", w.incident())
	w.want(w.do("/incident/info", `{"incident_id": %q}`, w.incident()), "progress", "Triggered")
	w.do("/incident/remove", `{"incident_ids": [%q]}`, w.incident())
	w.want(w.do("/incident/list", `{"start_time": 1795200000, "end_time": 1795300000}`), "total", "0")
}

// TestAFileSaysNothingThatTheAPIWouldRefuse: a misspelt severity would keep pages back all night.
func TestAFileSaysNothingThatTheAPIWouldRefuse(t *testing.T) {
	w := begin(t)
	for text, path := range map[string]string{
		`"preferences": [{"person_id": 2, "trigger_notify": {"critical": [], "warning": [], "info": []}, "quiet_hours": [{"start": "22:00", "end": "07:00", "but": ["critical"]}]}]`: "preferences[0].quiet_hours[0].but[0]",
		`"incidents": [{"incident_id": "663a1b2c3d4e5f6789abcdf0", "start_time": -1}]`:                                                                                               "incidents[0].start_time",
		`"incidents": [{"incident_id": "663a1b2c3d4e5f6789abcdf0", "snoozed_before": -1}]`:                                                                                           "incidents[0].snoozed_before",
	} {
		f, err := accountfile.Read(strings.NewReader(`{"format": "tocsin.account/1", "account": {"account_id": 1, "account_name": "a", "time_zone": "UTC", "owner_id": 2}, "persons": [{"person_id": 2, "person_name": "o"}], ` + text + `}`))
		if err == nil {
			err = accountfile.Import(context.Background(), w.app.DB, w.app.Keyring, f, w.clock.Now(), false)
		}
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestAMergedAlertHasChanged: whoever follows alerts by their last change sees that they are another incident's.
func TestAMergedAlertHasChanged(t *testing.T) {
	w := begin(t)
	one := w.do("/incident/create", `{"incident_severity": "Info", "title": "by hand", "channel_id": %d}`, shop).get("incident_id")
	w.pass(time.Second)
	w.push("cpu", "Critical")
	w.pass(time.Minute)
	other := w.incident()
	w.do("/incident/merge", `{"source_incident_ids": [%q], "target_incident_id": %q}`, other, one)
	now := w.clock.Now().Unix()
	w.want(w.do("/alert/list", `{"start_time": %d, "end_time": %d, "by_updated_at": true}`, now, now+10), "items.0.incident.incident_id", one)
	w.pass(time.Minute)
	w.do("/incident/remove", `{"incident_ids": [%q]}`, one)
	now = w.clock.Now().Unix()
	w.want(w.do("/alert/list", `{"start_time": %d, "end_time": %d, "by_updated_at": true}`, now, now+10), "total", "1")
}

// TestASeverityThatAPersonSetStays, also when it is what it was.
func TestASeverityThatAPersonSetStays(t *testing.T) {
	w := begin(t, grouped(byService))
	w.pushTo(groupKey, "a", "Info", "service=web")
	w.do("/incident/reset", `{"incident_id": %q, "incident_severity": "Info"}`, w.incident())
	w.pushTo(groupKey, "b", "Critical", "service=web")
	w.want(w.do("/incident/info", `{"incident_id": %q}`, w.incident()), "incident_severity", "Info")
}
