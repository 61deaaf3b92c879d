package browser

import (
	"fmt"
	"testing"
)

// What a drop rule discards leaves no alert, but the page of its channel counts it and shows the latest.
func TestDroppedAlertsAreCounted(t *testing.T) {
	w := begin(t)
	in := newInlet(t, w)
	w.Do(t, "/channel/unsubscribe/rule/create", map[string]any{"channel_id": in.channel, "rule_name": "Labs", "filters": []any{[]any{map[string]any{"key": "labels.env", "oper": "IN", "vals": []string{"lab"}}}}}, nil)
	p := signedIn(t, w)
	p.Open(in.path(""))
	p.See("Nothing in 7 days")
	for i := range 3 {
		in.push(t, map[string]any{"title_rule": fmt.Sprint("Bench ", i), "event_status": "Critical", "alert_key": fmt.Sprint("b", i), "labels": map[string]string{"env": "lab"}})
		w.Pass(t, 0)
	}
	p.Open(in.path(""))
	p.See("Events in 7 days: 3")
	p.See("Latest: Bench 2")
	p.Follow("Try an alert")
	p.Type("[name=pasted]", `{"title": "Bench 3", "event_status": "Critical", "labels": {"env": "lab"}}`)
	p.Follow(try)
	p.See("It would be discarded.")
	p.See("Labs ✓ decides")
}
