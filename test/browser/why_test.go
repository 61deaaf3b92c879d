package browser

import (
	"testing"
	"time"

	"tocsin/test/browser/page"
)

// From an incident one link leads to the whole chain: the alert, the rules that were tried with the condition that
// matched, the step, the schedule, the person and how it ended.
func TestWhyIncidentPages(t *testing.T) {
	t.Parallel()
	w := begin(t)
	incident := anIncident(t, w)
	p := signedIn(t, w)
	p.Open("/incidents/" + incident)
	p.Follow("Why")
	p.At("/incidents/" + incident + "/why")
	if n := page.Eval[int](p, "document.querySelectorAll('.chain > li').length"); n < 4 {
		t.Errorf("the chain has %d links", n)
	}
	p.See("Rufbereitschaft, dann alle")
	p.See("Zoë Lefèvre")
}

// A silenced alert is marked in the list, and its page names the rule, when it ends, and the condition that matched.
func TestWhyAlertIsSilent(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.Push(t, "sandbox", "Sandbox declines everything", "Critical", map[string]string{"service": "payment-api", "environment": "sandbox"})
	w.Push(t, "card", "Card provider answers late", "Warning", map[string]string{"service": "payment-api", "provider": "cardstream"})
	p := signedIn(t, w)
	p.Open("/alerts")
	p.Follow("Muted")
	p.See("Silenced")
	p.Follow("Card provider answers late")
	p.See("Silenced until")
	p.See("The condition that matched:")
	p.See("cardstream")
	p.Follow("Why")
	p.See("✓ matches")
}

// An inhibited alert names the alert that inhibits it. When that one is over, the mark goes from the open page by itself.
func TestWhyAlertIsInhibited(t *testing.T) {
	t.Parallel()
	w := begin(t)
	in := newInlet(t, w)
	severity := func(s string) []any {
		return []any{[]any{map[string]any{"key": "severity", "oper": "IN", "vals": []string{s}}}}
	}
	w.Do(t, "/channel/inhibit/rule/create", map[string]any{"channel_id": in.channel, "rule_name": "The rack is dark",
		"source_filters": severity("Critical"), "target_filters": severity("Warning"), "equals": []string{"labels.rack"}}, nil)
	event := func(key, title, status string) {
		t.Helper()
		in.push(t, map[string]any{"title_rule": title, "event_status": status, "alert_key": key, "labels": map[string]string{"rack": "R7"}})
		w.Pass(t, 0)
	}
	event("rack", "Rack R7 is without power", "Critical")
	event("disk", "Disk of R7 is not read", "Warning")
	p := signedIn(t, w)
	p.Open("/alerts")
	p.Follow("Muted")
	p.See("Inhibited")
	p.Follow("Disk of R7 is not read")
	p.See("Inhibited while another alert is firing.")
	p.See("The condition that matched:")
	p.Has(`.note a[href^="/alerts/"]`)
	p.See("Rack R7 is without power")
	event("rack", "Rack R7 is without power", "Ok")
	w.Pass(t, 2*time.Minute) // it is looked at again
	p.Unseen("Inhibited while another alert is firing.")
	sound(t, p)
}
