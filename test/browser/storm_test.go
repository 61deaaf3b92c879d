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

// differs is a script that reports whether the incident that is not one of the storm is in sight, above those that are.
const differs = `(rows => { const i = rows.findIndex(r => r.innerText.includes('Payments are slow')), box = rows[i]?.getBoundingClientRect();
	return i >= 0 && i < rows.findIndex(r => r.querySelector('.kids')) && box.top >= 0 && box.bottom <= innerHeight - 60; })([...document.querySelectorAll('.inc')])`

// On a phone, thirty incidents of one title are acknowledged with two taps, without the one that differs, which is in sight before and
// after: at night and by day, with scripts and without.
func TestStormIsAcknowledgedOnPhoneWithTwoTaps(t *testing.T) {
	t.Parallel()
	for name, plain := range map[string]bool{"dark": false, "light, without scripts": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			flood(t, w, 30)
			p := open(t, w)
			if plain {
				p.NoScript()
			}
			signIn(t, w, p)
			p.Phone()
			p.Dark(!plain)
			p.Open("/incidents")
			p.See("30 incidents came at once")
			p.See("shard01-db … shard30-db")
			if !page.Eval[bool](p, differs) {
				t.Error("the incident that differs is not in sight above the storm")
			}
			p.Lacks(".chosen")
			p.Click(".inc:has(.kids) > .choose")
			p.Has(".chosen")
			if !plain {
				if n := page.Eval[int](p, chosenCount); n != 30 {
					t.Errorf("%d incidents are chosen", n)
				}
				o := once(t)
				for _, dark := range []bool{true, false} {
					p.Dark(dark)
					o.note(p.Axe(), "chosen rows")
				}
			}
			p.Click(".chosen > .pri")
			p.See("You have 30 incidents.")
			p.Has("Undo")
			if !page.Eval[bool](p, differs) {
				t.Error("the incident that differs is no longer in sight")
			}
			onlyTriggered(t, w, "Payments are slow")
		})
	}
}

// onlyTriggered wants one incident of those that began just now to be without a person.
func onlyTriggered(t *testing.T, w *world.World, title string) {
	t.Helper()
	var reply struct {
		Items []struct{ Title, Progress string } `json:"items"`
	}
	now := w.Clock.Now().Unix()
	w.Do(t, "/incident/list", map[string]any{"start_time": now - 600, "end_time": now + 1, "limit": 100}, &reply)
	for _, i := range reply.Items {
		if want := map[bool]string{true: "Triggered", false: "Processing"}[i.Title == title]; i.Progress != want {
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
	p.Click("#fresh") // rows keep their order while some are chosen
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
