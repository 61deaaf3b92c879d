package story

import (
	"testing"
	"time"
)

// Of two alerts that would inhibit each other, one is notified.
func TestTwoAlertsDoNotInhibitEachOther(t *testing.T) {
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
func TestADisabledChannelOpensNoIncident(t *testing.T) {
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
