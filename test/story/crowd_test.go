package story

import (
	"fmt"
	"strings"
	"testing"
)

// queue sends events in one request. The events wait for their verdicts afterwards.
func (w *world) queue(integration string, events ...string) {
	w.t.Helper()
	if r := w.post("/event/push/alert/standard?integration_key="+integration, "["+strings.Join(events, ",")+"]"); r.Error != nil {
		w.t.Fatal(r)
	}
}

// crowd returns n Info events of alerts of their own.
func crowd(n int) (events []string) {
	for i := range n {
		events = append(events, fmt.Sprintf(`{"title_rule": "Notice", "event_status": "Info", "alert_key": "crowd-%d"}`, i))
	}
	return events
}

// many returns n events of one service.
func many(n int, status, service string) (events []string) {
	for i := range n {
		events = append(events, fmt.Sprintf(`{"title_rule": "Trouble", "event_status": %[1]q, "alert_key": "%[2]s-%[1]s-%[3]d", "labels": {"service": %[2]q}}`, status, service, i))
	}
	return events
}

func TestCriticalEventIsPagedBeforeCrowd(t *testing.T) {
	t.Parallel()
	w := begin(t, byPhone)
	w.queue(shopKey, crowd(1000)...)
	w.queue(shopKey, many(1, "Critical", "pay")...)
	w.settle()
	if n := w.count(`SELECT count(*) FROM verdict WHERE verdict_id < (SELECT min(verdict_id) FROM verdict WHERE severity = 'Critical')`); n > 400 {
		t.Errorf("it was decided after %d others", n)
	}
	if n := w.count(`SELECT count(*) FROM verdict`); n != 1001 {
		t.Errorf("%d verdicts", n)
	}
	for i, p := range w.newPages() {
		if p.method == "voice" && strings.Contains(p.text, "Trouble") {
			if i > 20 {
				t.Errorf("it is message %d", i)
			}
			return
		}
	}
	t.Error("no one was called")
}

func TestPageCountsAlertsOfWholeRequest(t *testing.T) {
	t.Parallel()
	ruled := grouped(byService)
	for name, section := range map[string]string{"rule": ruled, "fallback": ruled[:strings.Index(ruled, `,
		"escalate_rules"`)] + "}"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t, section)
			w.queue(groupKey, many(1500, "Critical", "pay")...)
			w.settle()
			pages := w.newPages()
			if len(pages) != 1 || !strings.Contains(pages[0].text, "1500 alerts") || strings.Contains(pages[0].text, "so far") {
				t.Errorf("%d pages: %+v", len(pages), pages)
			}
		})
	}
}

// A request that waits behind other requests does not hold the page of its Critical events. The page states that its number
// of alerts is not the last.
func TestPageOfUnfinishedRequestSaysSo(t *testing.T) {
	t.Parallel()
	w := begin(t, grouped(byService))
	w.queue(groupKey, crowd(600)...)
	w.queue(groupKey, append(many(3, "Critical", "pay"), many(200, "Info", "pay")...)...)
	w.settle()
	for _, p := range w.newPages() {
		if strings.Contains(p.text, "Trouble") {
			if !strings.Contains(p.text, "alerts so far") {
				t.Error(p.text)
			}
			break
		}
	}
	if n := w.count(`SELECT count(*) FROM escalation WHERE request <> 0`); n != 0 {
		t.Errorf("%d escalations wait for events of a request", n)
	}
	if n := w.count(`SELECT count(*) FROM incident WHERE alert_cnt = 203`); n != 1 {
		t.Errorf("%d incidents have all alerts of the request", n)
	}
}

func TestExplanationOfUnroutedEventNamesFallback(t *testing.T) {
	t.Parallel()
	w := begin(t)
	event := w.pushTo(sharedKey, "cpu", "Critical")
	w.outcome(event, "unrouted")
	w.notified(newPage("olga"))
	r := w.do("/alert/explain", `{"event_id": %q}`, event)
	w.want(r, "summary", "Notified: Olga Owner.")
	w.want(r, "fallback.0.status", "sent")
	if words := w.words(r); strings.Contains(words, "obody was notified") || !strings.Contains(words, "So its fallback is notified.") || !strings.Contains(words, "over email: sent") {
		t.Error(words)
	}
	later := w.pushTo(sharedKey, "disk", "Info") // its message waits for further events of a quarter of an hour
	w.want(w.do("/alert/explain", `{"event_id": %q}`, later), "summary",
		"No rule notified a person: no channel accepts the event. The account's fallback is notified of it.")
}

func TestTestsAreNoOpenIncidents(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.as(annKey, "/incident/page-me", `{"incident_severity": "Critical"}`)
	w.push("drill", "Warning", "tocsin_drill=true", "host=web1")
	w.push("cpu", "Info", "host=web2")
	w.metrics(fmt.Sprintf(`tocsin_unacknowledged_incidents{channel="%d",severity="Info"} 1`, shop))
	_, body := w.page("/metrics")
	for _, line := range strings.Split(body, "\n") {
		if (strings.HasPrefix(line, "tocsin_unack") || strings.HasPrefix(line, "tocsin_open_incidents") || strings.HasPrefix(line, "tocsin_oldest_")) && strings.Contains(line, "severity=") && !strings.Contains(line, `"Info"`) {
			t.Error(line)
		}
	}
	now := w.clock.Now().Unix()
	if r := w.do("/insight/alert/topk-by-label", `{"label": "host", "start_time": %d, "end_time": %d}`, now-60, now+60); r.get("items.0.label") != "web2" || r.get("items.1") != "" {
		t.Error(r)
	}
}

func TestScheduleWithoutPersonNamesRules(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day)+fmt.Sprintf(`, "team_ids": [%d]`, ops))))
	named := "and escalation rules page this schedule: on call (5e5e5e5e5e5e5e5e5e5e5e01)"
	always := `{"layer_name": "always", "mode": 0, "layer_start": 1767225600, "rotation_unit": "day", "rotation_value": 1, "groups": [{"group_name": "A", "members": [{"role_id": 0, "person_ids": [%d]}]}]%s}`
	for change, want := range map[string]string{
		`"status": 1`:  "status: the schedule is disabled, " + named,
		`"layers": []`: "layers: no one is on call, " + named,
		`"layers": [` + fmt.Sprintf(always, ann, `, "layer_end": 1767312000`) + `]`:                                    "layers: no one is on call, " + named,
		`"layers": [` + fmt.Sprintf(always, ann, fmt.Sprintf(`, "layer_end": %d`, w.clock.Now().Unix()+5*86400)) + `]`: " on, " + named,
		`"description": "all the time"`: "",
	} {
		r := w.do("/schedule/update", `{"schedule_id": %d, "dry_run": true, %s}`, day, change)
		if got := r.get("warnings"); strings.Contains(got, named) != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", change, got, want)
		}
	}
	if got := w.do("/schedule/update", `{"schedule_id": %d, "status": 1}`, night).get("warnings"); strings.Contains(got, "escalation rules") {
		t.Errorf("no rule pages it: %s", got)
	}
	if got := w.do("/team/upsert", `{"team_id": %d, "team_name": "ops", "person_ids": []}`, ops).get("warnings"); !strings.Contains(got, "the team is empty, and escalation rules page it: on call (5e5e") {
		t.Error(got)
	}
}

func TestLastMemberOfTeamNamesRules(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(fmt.Sprintf(`"team_ids": [%d]`, ops))))
	const rule = "escalation rules page it: on call (5e5e5e5e5e5e5e5e5e5e5e01)"
	invited := w.do("/member/invite", `{"members": [{"member_name": "Pat", "email": "pat@example.com"}, {"member_name": "Quin", "email": "quin@example.com"}]}`)
	pat, quin := invited.get("items.0.member_id"), invited.get("items.1.member_id")
	w.do("/team/upsert", `{"team_id": %d, "team_name": "ops", "person_ids": [%s, %s]}`, ops, pat, quin)
	w.do("/team/upsert", `{"team_name": "not paged", "person_ids": [%s]}`, quin)
	if r := w.do("/member/delete", `{"member_id": %s}`, pat); r.get("warnings") != "" {
		t.Errorf("Quin is left: %s", r.get("warnings"))
	}
	for _, dry := range []bool{true, false} {
		r := w.do("/member/delete", `{"member_id": %s, "dry_run": %t}`, quin, dry)
		if got := r.get("warnings.0"); got != fmt.Sprintf("team ops (%d) is empty, and %s", ops, rule) || r.get("warnings.1") != "" {
			t.Errorf("the last member is deleted, dry run %t: %s", dry, r.get("warnings"))
		}
	}
	r := w.do("/team/upsert", `{"team_id": %d, "team_name": "ops", "person_ids": [%s]}`, ops, quin)
	if got := r.get("warnings.1"); got != "person_ids: the team is empty, and "+rule {
		t.Errorf("a person who has left does not fill a team: %s", r.get("warnings"))
	}
}
