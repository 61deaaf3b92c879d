package browser

import (
	"fmt"
	"testing"

	"tocsin/test/browser/page"
	"tocsin/test/browser/world"
)

// flood starts incidents of one title, one for each machine, and one with another title among them.
func flood(t *testing.T, w *world.World, machines int) {
	t.Helper()
	for i := range machines {
		w.Push(t, fmt.Sprint("ping", i), "Database shard does not answer", "Critical", map[string]string{"service": fmt.Sprintf("shard%02d-db", i+1), "check": "ping"})
		if i == machines/2 {
			w.Push(t, "latency", "Payments are slow", "Critical", map[string]string{"service": "payment-api", "check": "latency_p99"})
		}
	}
	w.Pass(t, 60e9)
}

// chosenCount is a script that returns the number beside the actions on chosen incidents.
const chosenCount = `+document.querySelector('.chosen output').value`

// At night, on a phone: thirty incidents of one title are acknowledged with two taps, without the one that differs, which is in
// sight before and after.
func TestStormIsAcknowledgedOnPhoneWithTwoTaps(t *testing.T) {
	t.Parallel()
	w := begin(t)
	flood(t, w, 30)
	p := signedIn(t, w)
	p.Phone()
	p.Dark(true)
	p.Open("/incidents")
	p.See("30 incidents came at once")
	p.See("shard01-db … shard30-db")
	const inSight = `(e => { const r = e.getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight - 60; })([...document.querySelectorAll('.inc strong')].find(e => e.textContent.startsWith('Payments')))`
	if !page.Eval[bool](p, inSight) {
		t.Error("the incident that differs is not in sight")
	}
	o := once(t)
	o.note(p.Axe(), "a storm")
	p.Lacks(".chosen")
	p.Click(".inc:has(.kids) > .choose")
	p.Has(".chosen")
	if n := page.Eval[int](p, chosenCount); n != 30 {
		t.Errorf("%d incidents are chosen", n)
	}
	o.note(p.Axe(), "chosen rows")
	p.Click(".chosen > .pri")
	p.See("You have 30 incidents.")
	p.Has("Undo")
	var reply struct {
		Items []struct{ Title, Progress string } `json:"items"`
	}
	now := w.Clock.Now().Unix()
	w.Do(t, "/incident/list", map[string]any{"start_time": now - 600, "end_time": now + 1, "limit": 100}, &reply)
	for _, i := range reply.Items {
		if want := map[bool]string{true: "Triggered", false: "Processing"}[i.Title == "Payments are slow"]; i.Progress != want {
			t.Errorf("%s is %s", i.Title, i.Progress)
		}
	}
}

// Rows are chosen with x, and with Shift from one to another; the box of a row of several follows its incidents.
func TestRowsAreChosenWithKeysAndShift(t *testing.T) {
	t.Parallel()
	w := begin(t)
	flood(t, w, 4)
	p := signedIn(t, w)
	p.Open("/incidents")
	p.Key("jx")
	p.Has(".chosen")
	before := page.Eval[int](p, chosenCount)
	p.Key("x")
	p.Gone(".chosen")
	if before == 0 {
		t.Error("x chooses no row")
	}
	p.Click("Show all 4")
	p.Click(".kids > li:first-child > .choose")
	page.Eval[bool](p, `document.querySelector('.kids > li:last-child input').dispatchEvent(new MouseEvent('click', {bubbles: true, shiftKey: true}))`)
	if got := page.Eval[string](p, chosenCount+` + ' ' + document.querySelector('.inc:has(.kids) > .choose input').checked`); got != "4 true" {
		t.Errorf("with Shift %s", got)
	}
	p.Click(".kids > li:nth-child(2) > .choose")
	if got := page.Eval[string](p, chosenCount+` + ' ' + document.querySelector('.inc:has(.kids) > .choose input').checked`); got != "3 false" {
		t.Errorf("without the second %s", got)
	}
	w.Push(t, "other", "The queue grows", "Warning", map[string]string{"service": "queue"})
	p.See("The queue grows")
	if n := page.Eval[int](p, chosenCount); n != 3 {
		t.Errorf("after a refresh %d incidents are chosen", n)
	}
	p.Click("Resolve")
	p.See("3 incidents are resolved.")
}

// Without scripts boxes and buttons are a plain form.
func TestManyIncidentsWithoutScripts(t *testing.T) {
	t.Parallel()
	w := begin(t)
	flood(t, w, 4)
	p := open(t, w)
	p.NoScript()
	signIn(t, w, p)
	p.Open("/incidents")
	p.Click(".inc:has(.kids) > .choose")
	p.Follow("Snooze")
	p.See("4 incidents")
	p.Follow("Snooze")
	p.See("4 incidents are snoozed.")
	p.Click(".inc:has(.kids) > .choose")
	p.Follow(".chosen > .pri")
	p.See("You have 4 incidents.")
	p.Follow("Undo")
	p.See("4 acknowledgements are undone.")
}
