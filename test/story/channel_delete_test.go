package story

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// routed is the route of the shared integration: Critical alerts to the shop, those of a team to the channel of its name.
func routed(rest string) string {
	return fmt.Sprintf(`{"integration_id": %d, "cases": [
		{"if": [{"key": "severity", "oper": "IN", "vals": ["Critical"]}], "channel_ids": [%d]},
		{"if": [{"key": "labels.team", "oper": "IN", "vals": ["*"]}], "routing_mode": "name_mapping", "name_mapping_label": "team"}]%s}`, shared, shop, rest)
}

// Alerts of a deleted channel go to the default of the route, and the reply of the deletion announces it.
func TestAlertsOfDeletedChannelGoToDefault(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.do("/route/upsert", routed(`, "default": {"channel_ids": [%d]}`), mail)
	w.do("/channel/disable", `{"channel_id": %d}`, shop)
	w.do("/integration/update", `{"integration_id": %d, "channel_id": %d}`, sink, mail)
	dry := w.do("/channel/delete", `{"channel_id": %d, "dry_run": true}`, shop)
	if dry.get("allowed") != "true" || !strings.Contains(dry.get("warnings.0"), "cases[0] is deleted") {
		t.Fatal(dry)
	}
	if version := w.do("/route/info", `{"integration_id": %d}`, shared).get("version"); version != "1" {
		t.Errorf("the dry run stored version %s", version)
	}
	if r := w.do("/channel/delete", `{"channel_id": %d}`, shop); !strings.Contains(r.get("warnings.0"), "then to the default") {
		t.Error(r)
	}
	w.pushTo(sharedKey, "cpu", "Critical", "title=Trouble with cpu")
	w.pushTo(sharedKey, "disk", "Warning", "title=Trouble with disk", "team=Shop")
	for _, title := range []string{"Trouble with cpu", "Trouble with disk"} {
		if r := w.do("/incident/list", `{"start_time": %d, "end_time": %d, "query": %q}`, start.Unix()-3600, start.Unix()+3600, title); r.get("items.0.channel_id") != fmt.Sprint(int64(mail)) {
			t.Errorf("%s: %s", title, r)
		}
	}
	w.notified(newPage("olga")) // Mail has no escalation rule: the Critical one is the fallback's at once
}

// Without a default they are the account's fallback's, and listed as reaching no one. No case takes them instead.
func TestAlertsOfDeletedChannelWithoutDefaultAreFallbacks(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.do("/route/upsert", `{"integration_id": %d, "cases": [{"if": [{"key": "severity", "oper": "IN", "vals": ["Critical"]}], "channel_ids": [%d]}]}`, shared, shop)
	w.do("/channel/disable", `{"channel_id": %d}`, shop)
	w.do("/integration/update", `{"integration_id": %d, "channel_id": %d}`, sink, mail)
	if r := w.do("/channel/delete", `{"channel_id": %d}`, shop); !strings.Contains(r.get("warnings.1"), "reach only the account's fallback") {
		t.Error(r)
	}
	w.restart()
	w.pushTo(sharedKey, "cpu", "Critical", "title=Trouble with cpu")
	w.notified(newPage("olga"))
	w.pass(time.Minute)
	w.untoldIs([3]string{"Trouble with cpu", "fallback", "no default names a channel"})
	w.notified()
}
