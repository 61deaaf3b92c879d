package browser

import (
	"fmt"
	"testing"
)

// A silence that would hold back everything is refused, and one that would hold back much asks for the number that it
// shows, by team.
func TestBroadSilencesAreGuarded(t *testing.T) {
	w := begin(t)
	in := newInlet(t, w)
	for i := range 30 {
		in.push(t, map[string]any{"title_rule": "Disk", "event_status": "Warning", "alert_key": fmt.Sprint("disk", i), "labels": map[string]string{"check": "disk", "team": []string{"storage", "shop", "shop"}[i%3]}})
	}
	w.Pass(t, 0)
	p := signedIn(t, w)
	p.Open(in.path("/rules/silences/new"))
	p.Type("input[name=name]", "All disks")
	p.Type("[name='if.0.0.key']", "labels.env")
	fill(p, "[name='if.0.0.oper']", "NOTIN")
	p.Type("[name='if.0.0.vals']", "live")
	p.Follow("Save")
	p.See("would hold back everything")
	p.Type("[name='if.0.0.key']", "labels.check")
	fill(p, "[name='if.0.0.oper']", "IN")
	p.Type("[name='if.0.0.vals']", "disk")
	p.Follow("Save")
	p.See("matches 30 alerts of the last 7 days")
	p.See("shop 20")
	p.See("storage 10")
	p.Type("[name=count]", "29")
	p.Follow("Save")
	p.See("Enter their number below to go on.")
	o := once(t)
	o.note(p.Axe(), "a broad silence")
	p.Type("[name=count]", "30")
	p.Follow("Save")
	p.At(in.path(""))
	p.See("All disks")
	p.Quiet("400")
}

// Two people edit one rule: the second sees that the first has saved, keeps what was entered, and decides.
func TestTwoPeopleEditOneRule(t *testing.T) {
	w := begin(t)
	in := newInlet(t, w)
	w.Do(t, "/channel/unsubscribe/rule/create", map[string]any{"channel_id": in.channel, "rule_name": "Labs", "filters": []any{[]any{map[string]any{"key": "labels.env", "oper": "IN", "vals": []string{"lab"}}}}}, nil)
	first, second := signedIn(t, w), open(t, w)
	second.SignIn(w.KeyOf(t, "Jonas Köhler"))
	for _, p := range []interface {
		Open(string)
		Follow(string)
	}{first, second} {
		p.Open(in.path(""))
		p.Follow("Labs")
	}
	first.Type("[name='if.0.0.vals']", "lab-1")
	first.Follow("Save")
	first.See("env is lab-1")
	second.Type("[name='if.0.0.vals']", "lab-2")
	second.Follow("Save")
	second.See("Anna Schäfer has changed this meanwhile.")
	second.Has("[name='if.0.0.vals']")
	second.Quiet("400")
	first.Open(in.path(""))
	first.See("env is lab-1")
	second.Follow("Save")
	second.See("env is lab-2")
}
