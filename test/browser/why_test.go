package browser

import (
	"testing"

	"tocsin/test/browser/page"
)

// From an incident one link leads to the whole chain: the alert, the rules that were tried with the condition that
// matched, the step, the schedule, the person and how it ended.
func TestWhyAnIncidentPages(t *testing.T) {
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
func TestWhyAnAlertIsSilent(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.Push(t, "sandbox", "Sandbox declines everything", "Critical", map[string]string{"service": "payment-api", "environment": "sandbox"})
	w.Push(t, "card", "Card provider answers late", "Warning", map[string]string{"service": "payment-api", "provider": "cardstream"})
	p := signedIn(t, w)
	p.Open("/alerts")
	p.Follow("Held back")
	p.See("Silenced")
	p.Follow("Card provider answers late")
	p.See("Silenced until")
	p.See("The condition that matched:")
	p.See("cardstream")
	p.Follow("Why")
	p.See("✓ matched")
}
