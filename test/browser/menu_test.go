package browser

import (
	"fmt"
	"regexp"
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

// Keys go through the list of schedules as through any other, and Back leads to the row that was opened.
func TestKeysKeepPlaceInList(t *testing.T) {
	t.Parallel()
	w := full(t)
	p := signedIn(t, w)
	p.Open("/schedules")
	p.Key("jj")
	const focused = `document.activeElement.getAttribute('href') ?? ''`
	second := page.Eval[string](p, focused)
	if second == "" || second != page.Eval[string](p, `document.querySelectorAll('.schedules h2 a')[1].getAttribute('href')`) {
		t.Errorf("two steps lead to %q", second)
	}
	p.Key(page.Enter)
	p.At(second)
	page.Eval[bool](p, `(history.back(), true)`)
	p.At("/schedules")
	p.Has(".schedules")
	if back := page.Eval[string](p, focused); back != second {
		t.Errorf("Back leads to %q, want %q", back, second)
	}
	p.Key("j")
	if third := page.Eval[string](p, focused); third == second {
		t.Error("the next step does not go on from the row")
	}
}

// A moment shows its second and zone, and is entered by 24 hours in a browser that writes 12.
func TestTimesAreEnteredByTwentyFourHours(t *testing.T) {
	t.Parallel()
	w := full(t)
	p := signedIn(t, w)
	p.Open("/incidents")
	if title := page.Eval[string](p, `document.querySelector('main time').title`); !regexp.MustCompile(`^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d CES?T$`).MatchString(title) {
		t.Errorf("the exact time is %q", title)
	}
	p.Open("/me")
	if page.Eval[int](p, `document.querySelectorAll('input[type=time], input[type=datetime-local]').length`) > 0 {
		t.Error("a time is entered as the browser likes")
	}
	const valid = `((text, field) => { field.value = text; return field.checkValidity(); })`
	for text, want := range map[string]bool{"00:21": true, "23:59": true, "24:00": false, "9:00": false, "12:21 AM": false, "": true} {
		if got := page.Eval[bool](p, valid+fmt.Sprintf(`(%q, document.querySelector('[data-clock]'))`, text)); got != want {
			t.Errorf("%q is accepted: %t", text, got)
		}
	}
}
