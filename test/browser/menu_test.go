package browser

import (
	"fmt"
	"testing"

	"tocsin/test/browser/page"
)

// covered returns the entries of the menu that a pointer cannot reach where they are drawn, and how many can be reached.
const covered = `(() => {
	const wrong = [];
	let reached = 0;
	for (const a of document.querySelectorAll('.bar > nav a, .menu[open] > nav a, .dock a, .menu > summary, .self')) {
		if (!a.checkVisibility()) continue;
		const box = a.getBoundingClientRect();
		for (const x of [box.left + 2, box.right - 2]) {
			const at = document.elementFromPoint(x, box.top + box.height / 2);
			if (!at || !a.contains(at)) { wrong.push(a.innerText + ' is cut'); break; }
		}
		reached++;
	}
	return {wrong, reached};
})()`

// Every entry of the menu can be reached at every width, in both languages: in the bar, in the dock of a phone, or behind More.
func TestMenuIsNeverCut(t *testing.T) {
	t.Parallel()
	w := full(t)
	p := signedIn(t, w)
	for _, lang := range []string{"en", "zh"} {
		p.Language(lang)
		for width, entries := range map[int]int{320: 10, 390: 10, 759: 10, 768: 10, 820: 10, 959: 10, 960: 9, 1000: 9, 1360: 9, 4000: 9} {
			p.Size(width, 844)
			p.Open("/setup")
			if width < 960 {
				p.Click(".menu > summary")
			}
			found := page.Eval[struct {
				Wrong   []string
				Reached int
			}](p, covered)
			if len(found.Wrong) > 0 || found.Reached != entries {
				t.Errorf("%s at %d: %d entries, %q", lang, width, found.Reached, found.Wrong)
			}
			if over, who := p.Sideways(); over > 0 {
				t.Errorf("%s at %d: %d px sideways: %s", lang, width, over, who)
			}
		}
	}
	p.Quiet()
}

// A single key leads to each entry of the menu, also where it is behind More.
func TestKeysLeadToEveryEntry(t *testing.T) {
	t.Parallel()
	w := full(t)
	p := signedIn(t, w)
	for i, to := range map[string]string{
		"n": "/", "i": "/incidents", "a": "/alerts", "o": "/schedules", "r": "/rules", "c": "/channels", "t": "/insight", "s": "/setup",
	} {
		p.Open("/me")
		p.Key(fmt.Sprintf("g%s", i))
		p.At(to)
	}
	o := once(t)
	for _, dark := range []bool{false, true} {
		p.Dark(dark)
		p.Phone()
		p.Open("/setup")
		p.Click(".menu > summary")
		o.note(p.Axe(), "the menu of a phone")
	}
}
