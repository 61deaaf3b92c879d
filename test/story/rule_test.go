package story

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// rules is a section of rules of the shop.
func rules(section string, members ...string) string {
	var list []string
	for i, m := range members {
		list = append(list, fmt.Sprintf(`{"rule_id": "5e5e5e5e5e5e5e5e5e5e5f%02d", "channel_id": %d, "rule_name": "rule %d", "priority": %d, %s}`, i, shop, i, i, m))
	}
	return fmt.Sprintf(`{%q: [%s]}`, section, strings.Join(list, ","))
}

// once is the window of a silence from now on.
func once(d time.Duration) string {
	return fmt.Sprintf(`"time_filter": {"start_time": %d, "end_time": %d}`, start.Unix()-1, start.Add(d).Unix())
}

func where(label, value string) string {
	return fmt.Sprintf(`[[{"key": "labels.%s", "oper": "IN", "vals": [%q]}]]`, label, value)
}

var notifyAnn = escalates(layer(onCall(day)))

func TestDroppedEventKeepsRecord(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, rules("drop_rules", `"filters": `+where("env", "test")))
	event := w.push("cpu", "Critical", "env=test")
	w.notified()
	w.outcome(event, "dropped")
	r := w.do("/alert/explain", `{"event_id": %q}`, event)
	w.want(r, "verdicts.0.alert_id", "")
	if words := r.get("words.0"); !strings.Contains(words, `dropped in channel`) || !strings.Contains(words, `drop rule rule 0 (5e5e5e5e5e5e5e5e5e5e5f00): labels.env is "test", IN test`) {
		t.Error(words)
	}
}

func TestDropRuleThatWasMadeLaterLetsOpenAlertEnd(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.push("cpu", "Critical", "env=test")
	w.do("/channel/unsubscribe/rule/create", `{"channel_id": %d, "rule_name": "noise", "filters": %s}`, shop, where("env", "test"))
	w.push("cpu", "Ok", "env=test")
	w.notified(newPage("ann"), over("ann"))
}

func TestSilencedAlertIsStoredAndNotNotified(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, rules("silence_rules", `"filters": `+where("env", "test")+`, `+once(time.Hour)))
	event := w.push("cpu", "Critical", "env=test")
	w.outcome(event, "silenced")
	w.notified()
	r := w.do("/alert/list", `{"start_time": %d, "end_time": %d, "ever_muted": true}`, start.Unix()-10, start.Unix()+10)
	w.want(r, "total", "1")
	if why := w.why("cpu"); !strings.Contains(why, `silence rule rule 0 (5e5e5e5e5e5e5e5e5e5e5f00): labels.env is "test", IN test`) {
		t.Error(why)
	}
}

func TestAlertThatOutlastsItsSilenceIsNotified(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, rules("silence_rules", `"filters": `+where("env", "test")+`, `+once(time.Hour)))
	w.push("cpu", "Critical", "env=test")
	w.push("mem", "Critical", "env=test")
	w.pass(30 * time.Minute)
	w.push("mem", "Ok", "env=test")
	w.pass(29 * time.Minute)
	w.notified(silenceEnds("olga"))
	w.pass(time.Minute)
	w.notified(newPage("ann")) // of cpu, once
	w.pass(time.Hour)
	w.notified()
	if why := w.why("cpu"); !strings.Contains(why, "was decided again") {
		t.Error(why)
	}
}

func TestDeletedSilenceEndsAtOnce(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, rules("silence_rules", `"filters": `+where("env", "test")+`, `+once(24*time.Hour)))
	w.push("cpu", "Critical", "env=test")
	w.notified()
	w.do("/channel/silence/rule/disable", `{"channel_id": %d, "rule_id": "5e5e5e5e5e5e5e5e5e5e5f00"}`, shop)
	w.notified(newPage("ann"))
}

// An expired silence comes back neither with time nor with a new process.
func TestExpiredSilenceStaysExpired(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, rules("silence_rules", `"filters": `+where("env", "test")+`, `+once(time.Hour)))
	w.pass(time.Hour)
	w.restart()
	w.push("cpu", "Critical", "env=test")
	w.notified(newPage("ann"))
}

func TestRestartDoesNotNotifySilencedAlerts(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, rules("silence_rules", `"filters": `+where("env", "test")+`, `+once(time.Hour)))
	w.push("cpu", "Critical", "env=test")
	w.restart()
	w.push("cpu", "Critical", "env=test", "title=Worse")
	w.pass(time.Minute)
	w.notified()
}

// A silence applies to every alert that matches, not to one alert: it outlives a recovery.
func TestSilenceOutlivesRecovery(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, rules("silence_rules", `"filters": `+where("env", "test")+`, `+once(time.Hour)))
	for range 2 {
		w.push("cpu", "Critical", "env=test")
		w.push("cpu", "Ok", "env=test")
	}
	w.push("cpu", "Critical", "env=test")
	w.notified()
}

// Saturday mornings, every week.
func TestRecurringSilenceComesAgain(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, rules("silence_rules", `"filters": `+where("env", "test")+`, "time_filters": [{"start": "09:00", "end": "11:00", "repeat": [6]}]`))
	w.drift = time.Minute
	w.push("cpu", "Critical", "env=test")
	w.notified()
	w.pass(time.Hour)
	w.notified(newPage("ann"))
	w.push("cpu", "Ok")
	w.notified(over("ann"))
	w.clock.Set(start.AddDate(0, 0, 7))
	w.push("cpu", "Critical", "env=test")
	w.notified()
}

// Maintenance that begins while an incident is open stops its pages, and they continue when it ends.
func TestEscalationStandsStillInSilence(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(persons(cid))))
	w.push("cpu", "Critical", "env=test")
	w.notified(newPage("ann"))
	w.do("/channel/silence/rule/create", `{"channel_id": %d, "rule_name": "work", "filters": %s, "time_filter": {"start_time": %d, "end_time": %d}}`, shop, where("env", "test"), start.Unix(), start.Unix()+3600)
	w.pass(59 * time.Minute)
	w.notified(silenceEnds("olga"))
	if why := w.why("cpu"); !strings.Contains(why, "silence rule work holds its alerts") {
		t.Error(why)
	}
	w.pass(2 * time.Minute)
	w.notified(newPage("cid"))
}

func TestSilenceThatIsMadeBeforeFirstPageHoldsIt(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day)), `"aggr_window": 60`))
	w.push("cpu", "Critical", "env=test")
	w.do("/channel/silence/rule/create", `{"channel_id": %d, "rule_name": "work", "filters": %s, "time_filter": {"start_time": %d, "end_time": %d}}`, shop, where("env", "test"), start.Unix(), start.Unix()+3600)
	w.pass(10 * time.Minute)
	w.notified()
	rule := w.do("/channel/silence/rule/list", `{"channel_id": %d}`, shop).get("items.0.rule_id")
	w.do("/channel/silence/rule/delete", `{"channel_id": %d, "rule_id": %q}`, shop, rule)
	w.pass(10 * time.Second)
	w.notified(newPage("ann"))
}

func TestDiscardingSilenceLeavesRecordButNoAlert(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, rules("silence_rules", `"is_directly_discard": true, "filters": `+where("env", "test")+`, `+once(time.Hour)))
	event := w.push("cpu", "Critical", "env=test")
	w.outcome(event, "dropped")
	w.want(w.do("/alert/list", `{"start_time": %d, "end_time": %d}`, start.Unix()-10, start.Unix()+10), "total", "0")
}

const inhibit = `"source_filters": [[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]], "target_filters": [[{"key": "severity", "oper": "IN", "vals": ["Warning", "Info"]}]], "equals": ["labels.cluster"]`

func TestAlertInhibitsAnother(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, rules("inhibit_rules", inhibit))
	w.push("node down", "Critical", "cluster=eu")
	w.notified(newPage("ann"))
	event := w.push("disk", "Warning", "cluster=eu")
	w.outcome(event, "inhibited")
	w.outcome(w.push("disk us", "Warning", "cluster=us"), "opened")
	w.notified(newPage("ann"))
	if why := w.why("disk"); !strings.Contains(why, `is inhibit rule rule 0 (5e5e5e5e5e5e5e5e5e5e5f00): alert "Trouble with node down" (`) {
		t.Error(why)
	}
	if why := w.why("disk us"); !strings.Contains(w.whole("disk us"), "has another labels.cluster") {
		t.Error(why)
	}
}

func TestInhibitedAlertIsNotifiedWhenOtherEnds(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, rules("inhibit_rules", inhibit))
	w.push("node down", "Critical", "cluster=eu")
	w.push("disk", "Warning", "cluster=eu")
	w.notified(newPage("ann"))
	w.push("node down", "Ok")
	w.notified(over("ann"), newPage("ann"))
}

func TestAlertsThatSaySameAreOne(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.push("cpu", "Critical")
	for range 20 {
		w.pass(10 * time.Second)
		w.outcome(w.push("cpu", "Critical"), "repeated")
	}
	w.notified(newPage("ann"))
	w.want(w.do("/incident/info", `{"incident_id": %q}`, w.incident()), "alert_cnt", "1")
}

func TestDifferentKeysAreDifferentAlerts(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.push("a", "Critical", "title=Same")
	w.push("b", "Critical", "title=Same")
	w.notified(newPage("ann"), newPage("ann"))
}

func TestSeverityIsHighestSoFar(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.push("cpu", "Warning")
	w.push("cpu", "Critical")
	w.push("cpu", "Info")
	r := w.do("/incident/info", `{"incident_id": %q}`, w.incident())
	w.want(r, "incident_severity", "Critical")
	r = w.do("/incident/alert/list", `{"incident_id": %q}`, w.incident())
	w.want(r, "items.0.alert_severity", "Critical")
	w.want(r, "items.0.alert_status", "Info")
	w.want(r, "items.0.event_cnt", "3")
	w.notified(newPage("ann"), rose("ann"))
}

func TestOkWithoutAlertIsNothing(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.outcome(w.push("cpu", "Ok"), "unmatched")
	w.notified()
}

// grouped is a section with a channel that groups alerts differently.
func grouped(members string) string {
	return fmt.Sprintf(`{"channels": [{"channel_id": 7000000000043, "channel_name": "Grouped", "group": {%s}}], "integrations": [{"integration_id": 7000000000053, "integration_name": "g", "integration_type": "standard", "channel_id": 7000000000043, "integration_key": %q}],
		"escalate_rules": [{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e09", "channel_id": 7000000000043, "rule_name": "on call", "template_id": "000000000000000000000001", "layers": [%s]}]}`, members, groupKey, layer(onCall(day)))
}

const groupKey = "0123456789abcdef0123456789abcdef131"

const byService = `"method": "p", "equals": [["labels.service"]]`

func TestAlertsOfOneServiceAreOneIncident(t *testing.T) {
	t.Parallel()
	w := begin(t, grouped(byService))
	for i := range 5 {
		w.pushTo(groupKey, fmt.Sprint("pod", i), "Critical", "service=pay")
	}
	w.notified(newPage("ann"))
	w.pushTo(groupKey, "other", "Critical", "service=cart")
	w.notified(newPage("ann"))
	for i := range 4 {
		w.pushTo(groupKey, fmt.Sprint("pod", i), "Ok")
	}
	w.notified() // one is left
	w.pushTo(groupKey, "pod4", "Ok")
	w.notified(over("ann"))
}

func TestIncidentTakesAlertsForItsWindow(t *testing.T) {
	t.Parallel()
	w := begin(t, grouped(byService+`, "time_window": 10`))
	w.pushTo(groupKey, "a", "Critical", "service=pay")
	w.pass(9 * time.Minute)
	w.outcome(w.pushTo(groupKey, "b", "Critical", "service=pay"), "grouped")
	w.pass(2 * time.Minute)
	w.outcome(w.pushTo(groupKey, "c", "Critical", "service=pay"), "opened")
	w.notified(newPage("ann"), newPage("ann"))
}

func TestSlidingWindowIsExtendedByEachAlert(t *testing.T) {
	t.Parallel()
	w := begin(t, grouped(byService+`, "time_window": 10, "window_type": "sliding"`))
	w.pushTo(groupKey, "a", "Critical", "service=pay")
	w.pass(9 * time.Minute)
	w.outcome(w.pushTo(groupKey, "b", "Critical", "service=pay"), "grouped")
	w.pass(9 * time.Minute)
	w.outcome(w.pushTo(groupKey, "c", "Critical", "service=pay"), "grouped")
}

func TestStormIsNotifiedAgain(t *testing.T) {
	t.Parallel()
	w := begin(t, grouped(byService+`, "storm_thresholds": [3, 5]`))
	for i := range 5 {
		w.pushTo(groupKey, fmt.Sprint(i), "Critical", "service=pay")
		w.pass(10 * time.Second)
	}
	w.notified(newPage("ann"), "ann@example.com email i_storm", "ann@example.com email i_storm")
}

// Thresholds that are passed together are one message, about the largest.
func TestThresholdsPassedTogetherAreOneMessage(t *testing.T) {
	t.Parallel()
	w := begin(t, grouped(byService+`, "storm_thresholds": [3, 10, 50, 100, 200]`))
	w.pushTo(groupKey, "first", "Critical", "service=pay")
	w.notified(newPage("ann"))
	events := make([]string, 250)
	for i := range events {
		events[i] = fmt.Sprintf(`{"title_rule": "Trouble", "event_status": "Critical", "alert_key": "k%d", "labels": {"service": "pay"}}`, i)
	}
	if r := w.post("/event/push/alert/standard?integration_key="+groupKey, "["+strings.Join(events, ",")+"]"); r.Error != nil {
		t.Fatal(r)
	}
	w.settle()
	w.pass(time.Minute)
	w.notified("ann@example.com email i_storm")
	if n := w.count(`SELECT count(*) FROM notice WHERE cause = 'storm' AND status = 'sent' AND reason LIKE '%"responsible_grown","args":[200]%'`); n != 1 {
		t.Errorf("%d notifications of 200 alerts were sent", n)
	}
	if n := w.count(`SELECT count(*) FROM notice WHERE cause = 'storm' AND status = 'cancelled' AND outcome LIKE '%"grown_further"%'`); n != 4 {
		t.Errorf("%d notifications of fewer alerts are explained", n)
	}
}

func TestStrictGroupingExcludesAlertsWithoutField(t *testing.T) {
	t.Parallel()
	w := begin(t, grouped(byService+`, "all_equals_required": true`))
	w.outcome(w.pushTo(groupKey, "a", "Critical"), "opened")
	w.outcome(w.pushTo(groupKey, "b", "Critical"), "opened")
}

// routes sends payments to the shop and the rest, if any is, to mail.
func routes(rest string) string {
	return fmt.Sprintf(`{"routes": [{"integration_id": %d, "cases": [{"if": [{"key": "labels.service", "oper": "IN", "vals": ["pay"]}], "channel_ids": [%d, %d], "fallthrough": false}]%s}]}`, shared, shop, mail, rest)
}

func TestSharedIntegrationIsRouted(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, routes(""))
	event := w.pushTo(sharedKey, "cpu", "Critical", "service=pay")
	r := w.do("/alert/explain", `{"event_id": %q}`, event)
	w.want(r, "verdicts.0.outcome", "opened")
	w.want(r, "verdicts.1.channel_id", fmt.Sprint(mail))
	w.notified(newPage("ann"), newPage("olga")) // the other channel has no rule
}

func TestUnroutedEventIsRecorded(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, routes(""))
	event := w.pushTo(sharedKey, "cpu", "Critical", "service=cart")
	w.outcome(event, "unrouted")
	if words := w.do("/alert/explain", `{"event_id": %q}`, event).get("words.0"); !strings.Contains(words, `labels.service is "cart", not IN pay`) {
		t.Error(words)
	}
}

func TestDefaultTakesRest(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, routes(fmt.Sprintf(`, "default": {"channel_ids": [%d]}`, shop)))
	w.outcome(w.pushTo(sharedKey, "cpu", "Critical", "service=cart"), "opened")
	w.notified(newPage("ann"))
}

func TestPipelineChangesAndDrops(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, fmt.Sprintf(`{"alert_pipelines": [{"integration_id": %d, "rules": [
		{"kind": "severity_reset", "if": [[{"key": "labels.env", "oper": "IN", "vals": ["test"]}]], "settings": {"severity": "Info"}},
		{"kind": "title_reset", "if": [], "settings": {"title": "{{.labels.service}}: {{.title}}"}},
		{"kind": "alert_drop", "if": [[{"key": "title", "oper": "IN", "vals": ["/noise/"]}]], "settings": {}}]}],
		"enrichments": [{"integration_id": %[1]d, "rules": [{"kind": "extraction", "settings": {"source_field": "title", "result_label": "service", "pattern": "^Trouble with (?P<result>[a-z]+)"}}]}]}`, sink))
	w.push("cart", "Critical", "env=test")
	if p := w.last(); p.subject != "[Info] cart: Trouble with cart" {
		t.Error(p.subject)
	}
	w.notified(newPage("ann"))
	w.outcome(w.push("x", "Critical", "title=noise"), "discarded")
	w.notified()
}

// Escalations of a disabled channel wait until it is enabled again.
func TestDisabledChannelPagesNoOne(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(persons(cid))))
	w.push("cpu", "Critical")
	w.notified(newPage("ann"))
	w.do("/channel/disable", `{"channel_id": %d}`, shop)
	w.pass(3 * time.Hour)
	w.notified()
	if why := w.why("cpu"); !strings.Contains(why, "its channel is disabled") {
		t.Error(why)
	}
	w.do("/channel/enable", `{"channel_id": %d}`, shop)
	w.pass(time.Minute)
	w.notified(newPage("cid"))
}
