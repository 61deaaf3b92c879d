package story

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestExplainHidesPrivateChannels(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, `{"channels": [{"channel_id": 7000000000044, "channel_name": "Secret", "is_private": true}]}`)
	w.push("cpu", "Critical")
	mine := w.incident()
	w.pass(10 * time.Second)
	secret := w.do("/incident/create", `{"incident_severity": "Critical", "title": "The merger leaked", "channel_id": 7000000000044}`).get("incident_id")
	w.do("/incident/merge", `{"source_incident_ids": [%q], "target_incident_id": %q}`, mine, secret)
	w.push("cpu", "Critical", "title=Trouble with cpu", "a=b")
	w.push("cpu", "Warning")
	alert := w.do("/alert/list", `{"start_time": %d, "end_time": %d}`, start.Unix()-10, start.Unix()+100).get("items.0.alert_id")
	if r := w.do("/alert/explain", `{"alert_id": %q}`, alert); !strings.Contains(r.String(), "The merger leaked") {
		t.Errorf("the owner does not see it: %s", r)
	}
	if r := w.as(annKey, "/alert/explain", `{"alert_id": %q}`, alert); strings.Contains(r.String(), "The merger leaked") || r.get("verdicts.0.outcome") != "opened" {
		t.Errorf("Ann sees it: %s", r)
	}
}

func TestAlertsHidePrivateIncidents(t *testing.T) {
	t.Parallel()
	w := begin(t, `{"channels": [{"channel_id": 7000000000044, "channel_name": "Secret", "is_private": true}]}`)
	w.push("cpu", "Critical")
	mine := w.incident()
	secret := w.do("/incident/create", `{"incident_severity": "Critical", "title": "The merger leaked", "channel_id": 7000000000044}`).get("incident_id")
	w.do("/incident/merge", `{"source_incident_ids": [%q], "target_incident_id": %q}`, mine, secret)
	list := fmt.Sprintf(`{"start_time": %d, "end_time": %d}`, start.Unix()-10, start.Unix()+100)
	alert := w.do("/alert/list", "%s", list).get("items.0.alert_id")
	for path, body := range map[string]string{"/alert/list": list, "/alert/info": fmt.Sprintf(`{"alert_id": %q}`, alert), "/alert/list-by-ids": fmt.Sprintf(`{"alert_ids": [%q]}`, alert)} {
		if r := w.do(path, "%s", body); !strings.Contains(r.String(), "The merger leaked") {
			t.Errorf("%s: the owner does not see it: %s", path, r)
		}
		if r := w.as(annKey, path, "%s", body); strings.Contains(r.String(), "The merger leaked") || !strings.Contains(r.String(), secret) {
			t.Errorf("%s: Ann sees %s", path, r)
		}
	}
}

// TestAlertIsAsPrivateAsItsChannel: also in an incident of a public channel.
func TestAlertIsAsPrivateAsItsChannel(t *testing.T) {
	t.Parallel()
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
	explain := fmt.Sprintf(`{"incident_id": %q}`, target)
	if all := w.do("/incident/explain", "%s", explain).String(); !strings.Contains(all, "Trouble with secret") {
		t.Errorf("the owner does not see it: %s", all)
	}
	if all := w.as(annKey, "/incident/explain", "%s", explain).String(); strings.Contains(all, "Trouble with secret") || !strings.Contains(all, "Trouble with open") {
		t.Errorf("Ann sees %s", all)
	}
	if r := w.try(annKey, "/alert/info", `{"alert_id": %q}`, secret); r.Status != 403 {
		t.Error(r)
	}
}

// TestExplainHidesEventsOfPrivateChannels: verdicts of private channels are hidden, however many there are.
func TestExplainHidesEventsOfPrivateChannels(t *testing.T) {
	t.Parallel()
	w := begin(t, fmt.Sprintf(`{"routes": [{"integration_id": %d, "cases": [], "default": {"channel_ids": [%d, %d]}}]}`, shared, shop, mail))
	event := w.pushTo(sharedKey, "x", "Critical")
	w.do("/channel/update", `{"channel_id": %d, "is_private": true}`, shop)
	w.want(w.as(annKey, "/alert/explain", `{"event_id": %q}`, event), "verdicts.1.outcome", "")
	w.do("/channel/update", `{"channel_id": %d, "is_private": true}`, mail)
	if r := w.try(annKey, "/alert/explain", `{"event_id": %q}`, event); r.Status != 403 {
		t.Error(r)
	}
}

// TestPageOfPrivateChannelCanBeAnswered: a rule may name a person outside the channel's team. That person is paged, and
// the page's link shows and acknowledges this incident, but the API shows nothing. It ends with the responsibility.
func TestPageOfPrivateChannelCanBeAnswered(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.do("/channel/update", `{"channel_id": %d, "is_private": true}`, shop)
	paged := func(key string) (path string) {
		t.Helper()
		w.push(key, "Critical")
		path = strings.TrimPrefix(w.last().ack, "https://tocsin.example.com")
		w.notified(newPage("ann"))
		return path
	}
	press := func(path string) (int, string) {
		t.Helper()
		answer, err := http.Post(w.http.URL+path, "", nil)
		w.must(err)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		w.must(err)
		return answer.StatusCode, string(body)
	}
	path, incident := paged("cpu"), w.incident()
	if r := w.try(annKey, "/incident/info", `{"incident_id": %q}`, incident); r.Status != 403 {
		t.Errorf("the API shows Ann %s", r)
	}
	if status, body := w.page(path); status != 200 || !strings.Contains(body, "cpu") {
		t.Errorf("the page: %d %s", status, body)
	}
	if status, body := press(path); status != 200 {
		t.Errorf("the button: %d %s", status, body)
	}
	w.want(w.do("/incident/info", `{"incident_id": %q}`, incident), "progress", "Processing")

	path, incident = paged("mem"), w.incident()
	w.do("/incident/assign", `{"incident_ids": [%q], "assigned_to": {"person_ids": [%d]}}`, incident, cid)
	if status, _ := press(path); status != 403 {
		t.Errorf("Ann is not responsible any more, and the button answers %d", status)
	}
	w.want(w.do("/incident/info", `{"incident_id": %q}`, incident), "progress", "Triggered")
}
