package story

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Of two alerts that would inhibit each other, one is notified.
func TestTwoAlertsDoNotInhibitEachOther(t *testing.T) {
	t.Parallel()
	const each = `"source_filters": [[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]], "target_filters": [[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]], "equals": ["labels.cluster"]`
	w := begin(t, notifyAnn, rules("inhibit_rules", each), rules("silence_rules", `"filters": `+where("cluster", "eu")+`, `+once(5*time.Minute)))
	for _, key := range []string{"a", "b", "c"} {
		w.push(key, "Critical", "cluster=eu")
	}
	w.notified()
	w.pass(5*time.Minute + 10*time.Second)
	w.notified(newPage("ann"), "olga@example.com email silence_ends")
}

// A muted alert stays muted while its channel is disabled.
func TestDisabledChannelOpensNoIncident(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, rules("silence_rules", `"filters": `+where("env", "test")+`, `+once(5*time.Minute)))
	w.push("cpu", "Critical", "env=test")
	w.do("/channel/disable", `{"channel_id": %d}`, shop)
	w.pass(time.Hour)
	for _, p := range w.newPages() {
		if p.event == "i_new" {
			t.Errorf("notified %s", p)
		}
	}
	w.do("/channel/enable", `{"channel_id": %d}`, shop)
	w.notified(newPage("ann"))
}

// hosts inhibits what is not Critical in the cluster of a Critical alert.
const hosts = `"source_filters": [[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]], "target_filters": [[{"key": "severity", "oper": "IN", "vals": ["Warning"]}]], "equals": ["labels.cluster"]`

// A source inhibits while it is active: acknowledged, an hour later, after a restart, and whatever else is configured.
// What it held is released when it ends, and is grouped as new alerts are.
func TestSourceInhibitsWhileItIsActive(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, rules("inhibit_rules", hosts))
	w.do("/channel/update", `{"channel_id": %d, "group": {"method": "p", "equals": [["labels.cluster"]]}}`, shop)
	w.push("switch", "Critical", "cluster=eu")
	w.notified(newPage("ann"))
	w.ack(annKey)
	for i := range 30 {
		w.push(fmt.Sprint("host", i), "Warning", "cluster=eu", "title=Host down")
	}
	for range 4 {
		w.pass(20 * time.Minute)
		w.do("/team/upsert", `{"team_name": "unrelated %d"}`, w.clock.Now().Unix())
		w.do("/channel/update", `{"channel_id": %d, "description": "changed"}`, shop)
		w.restart()
		w.pass(time.Minute)
	}
	for _, p := range w.newPages() {
		if strings.Contains(p.subject, "Host down") {
			t.Errorf("notified %s %s", p, p.subject)
		}
	}
	if n := w.count(`SELECT count(*) FROM alert WHERE muted = 'inhibited'`); n != 30 {
		t.Errorf("%d alerts are inhibited", n)
	}
	w.push("switch", "Ok", "cluster=eu")
	w.pass(time.Minute)
	released := 0
	for _, p := range w.newPages() {
		if strings.Contains(p.subject, "Host down") && p.event == "i_new" {
			released++
		}
	}
	if n := w.count(`SELECT count(*) FROM incident WHERE title LIKE 'Host down%'`); n != 1 || released != 1 {
		t.Errorf("%d incidents and %d pages of the released alerts, want one of each", n, released)
	}
}

// A source that no longer matches its rule releases what it inhibits at once, and so does a rule that ends.
func TestChangedSourceOrRuleReleases(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, rules("inhibit_rules", hosts))
	w.push("switch", "Critical", "cluster=eu")
	w.push("host", "Warning", "cluster=eu")
	w.notified(newPage("ann"))
	w.push("switch", "Info", "cluster=eu")
	w.notified(newPage("ann"))
	w.push("switch", "Critical", "cluster=eu")
	w.push("other", "Warning", "cluster=eu")
	w.newPages()
	rule := w.do("/channel/inhibit/rule/list", `{"channel_id": %d}`, shop).get("items.0.rule_id")
	w.do("/channel/inhibit/rule/disable", `{"channel_id": %d, "rule_id": %q}`, shop, rule)
	w.notified(newPage("ann"))
}

// An inhibit rule of the pipeline holds as one of a channel does.
func TestPipelineRuleHoldsAfterChange(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.do("/alert/pipeline/upsert", `{"integration_id": %d, "rules": [{"kind": "alert_inhibit", "if": [[{"key": "severity", "oper": "IN", "vals": ["Warning"]}]], "settings": {"source_filters": [[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]], "equals": ["labels.cluster"]}}]}`, sink)
	w.push("switch", "Critical", "cluster=eu")
	w.push("host", "Warning", "cluster=eu")
	w.notified(newPage("ann"))
	w.do("/team/upsert", `{"team_name": "unrelated"}`)
	w.pass(2 * time.Hour)
	for _, p := range w.newPages() {
		if strings.Contains(p.subject, "host") {
			t.Errorf("notified %s %s", p, p.subject)
		}
	}
	w.push("switch", "Ok", "cluster=eu")
	if p := w.last(); !strings.Contains(p.subject, "Trouble with host") && !strings.Contains(p.subject, "Resolved") {
		t.Error(p.subject)
	}
	if n := w.count(`SELECT count(*) FROM incident WHERE title LIKE '%host'`); n != 1 {
		t.Errorf("%d incidents of the released alert", n)
	}
}

// A flapping alert still flaps after an unrelated change of the configuration, and no longer when flapping is switched off.
func TestFlappingOutlastsUnrelatedChange(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.flap("cpu")
	w.blink("cpu")
	w.newPages()
	w.do("/team/upsert", `{"team_name": "unrelated"}`)
	w.push("cpu", "Critical")
	w.do("/team/upsert", `{"team_name": "unrelated too"}`)
	w.notified()
	w.do("/channel/update", `{"channel_id": %d, "flapping": {"is_disabled": true}}`, shop)
	w.notified(newPage("ann"))
	w.push("cpu", "Ok")
	w.notified(over("ann"))
}
