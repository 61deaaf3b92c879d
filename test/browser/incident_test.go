package browser

import (
	"testing"
	"time"

	"tocsin/test/browser/page"
)

// At 03:12, on a phone, in dark: the link of a message leads to the incident. Acknowledge is on the first screen, large
// enough for a thumb; one tap ends the escalation and shows the holder.
func TestAcknowledgeOnPhone(t *testing.T) {
	t.Parallel()
	w := begin(t)
	p := signedIn(t, w)
	p.Phone()
	p.Dark(true)
	incident := anIncident(t, w)
	p.Open("/incidents/" + incident)
	p.See("Payments are slow")
	button := page.Eval[[]float64](p, `(b => { const r = b.getBoundingClientRect(); return [r.top, r.bottom, r.height, r.width]; })([...document.querySelectorAll('button')].find(b => b.textContent.includes('Acknowledge')))`)
	if button[0] < 0 || button[1] > 844 || button[2] < 44 || button[3] < 44 {
		t.Errorf("Acknowledge lies from %.0f to %.0f of 844 pixels and is %.0f × %.0f", button[0], button[1], button[3], button[2])
	}
	covered := page.Eval[bool](p, `(b => { const r = b.getBoundingClientRect(); return !b.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)); })([...document.querySelectorAll('button')].find(b => b.textContent.includes('Acknowledge')))`)
	if covered {
		t.Error("something covers Acknowledge")
	}
	o := once(t)
	o.note(p.Axe(), "before")
	p.Click("Acknowledge")
	p.See("Anna Schäfer")
	p.Has("Undo")
	if got := progress(t, w, incident); got != "Processing" {
		t.Errorf("the incident is %s", got)
	}
	o.note(p.Axe(), "after")
	w.Sent()
	w.Pass(t, 45*time.Minute)
	for _, m := range w.Sent() {
		t.Errorf("after the acknowledgement: %s", m)
	}
}

// Acknowledging is undone as easily.
func TestUndoAcknowledge(t *testing.T) {
	t.Parallel()
	w := begin(t)
	p := signedIn(t, w)
	incident := anIncident(t, w)
	p.Open("/incidents/" + incident)
	p.Click("Acknowledge")
	p.Click("Undo")
	p.Has("Acknowledge")
	if got := progress(t, w, incident); got != "Triggered" {
		t.Errorf("the incident is %s", got)
	}
}

// Two people act at once: the second sees who was first, and keeps the note just typed.
func TestTwoPeopleAtOnce(t *testing.T) {
	t.Parallel()
	w := begin(t)
	incident := anIncident(t, w)
	first, second := signedIn(t, w), open(t, w)
	second.SignIn(w.KeyOf(t, "Zoë Lefèvre"))
	first.Open("/incidents/" + incident)
	second.Open("/incidents/" + incident)
	second.Type("#note", "I look at it")
	first.Click("Acknowledge")
	first.See("Anna Schäfer")
	second.Click("Acknowledge") // or "Acknowledge too", if the page has followed already
	second.See("Anna Schäfer")
	if got := page.Eval[string](second, "document.getElementById('note').value"); got != "I look at it" {
		t.Errorf("the note of the second is %q", got)
	}
	second.Quiet("409")
	if got := progress(t, w, incident); got != "Processing" {
		t.Errorf("the incident is %s", got)
	}
}

// Everything works without scripts: signing in, the incident, acknowledging, resolving, signing out.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	w := begin(t)
	incident := anIncident(t, w)
	p := open(t, w)
	p.NoScript()
	p.Open("/incidents/" + incident)
	p.At("/sign-in")
	p.Click("Use an app key")
	p.Type("input[name=app_key]", w.Keys.All)
	p.Enter()
	p.At("/incidents/" + incident)
	p.Follow("Acknowledge")
	p.See("Anna Schäfer")
	p.Follow("Undo")
	p.Follow("Acknowledge")
	p.Follow("Resolve")
	if got := progress(t, w, incident); got != "Closed" {
		t.Errorf("the incident is %s", got)
	}
	p.Follow("Sign out")
	p.At("/sign-in")
}
