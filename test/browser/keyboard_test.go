package browser

import (
	"slices"
	"strings"
	"testing"

	"tocsin/test/browser/page"
	"tocsin/test/browser/world"
)

// The first key leads past the menu, and focus can be seen.
func TestSkipLink(t *testing.T) {
	t.Parallel()
	w := full(t)
	p := signedIn(t, w)
	p.Open("/incidents")
	p.Key(page.Tab)
	if at := page.Eval[string](p, `document.activeElement.getAttribute('href') ?? ''`); at != "#main" {
		t.Errorf("the first key leads to %q", at)
	}
	if !page.Eval[bool](p, `getComputedStyle(document.activeElement).outlineStyle !== 'none' && document.activeElement.getBoundingClientRect().left >= 0`) {
		t.Error("focus cannot be seen")
	}
	p.Key(page.Enter)
	if page.Eval[string](p, `document.activeElement.id`) != "main" {
		t.Error("the first link does not lead to the content")
	}
}

// Every control of the main pages is reached by the Tab key, one after the other; where focus is can be seen, and is not
// covered.
func TestEveryControlIsReachedByKeyboard(t *testing.T) {
	t.Parallel()
	w := full(t)
	main := []string{"/", "/incidents", "/incidents/{id}", "/incidents/{id}/why", "/alerts", "/alerts/{id}", "/schedules", "/schedules/{id}",
		"/schedules/{id}/edit", "/schedules/{id}/override", "/channels/{id}", "/channels/{id}/rules/silences/{id}", "/integrations/{id}", "/endpoints/{id}", "/me"}
	o := once(t)
	p := signedIn(t, w)
	for _, path := range surveyed(t, w, w.Keys.All).pages {
		if i := slices.Index(main, world.Shape(path)); i >= 0 {
			main = slices.Delete(main, i, i+1)
			p.Open(path)
			o.note(tab(p), path)
		}
	}
	if len(main) > 0 {
		t.Errorf("not looked at: %s", main)
	}
	p.Phone() // its buttons stick to the bottom of the window
	p.Open("/schedules")
	o.note(tab(p), "on a phone")
}

// reach notes which controls have the focus, and what is wrong with how it shows.
const reach = `(() => {
	const mine = e => e.checkVisibility({visibilityProperty: true}) && e.getClientRects().length && !e.disabled && e.tabIndex >= 0;
	const all = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]')].filter(mine)
		.filter(e => !e.closest('[data-load]')) // it is replaced by what it leads to
		.filter(e => e.type !== 'radio' || e === document.querySelector('input[type=radio][name="' + CSS.escape(e.name) + '"]:checked, input[type=radio][name="' + CSS.escape(e.name) + '"]'));
	window.reach = {left: new Set(all), wrong: [], say: e => e.outerHTML.slice(0, 100).replace(/[0-9]+/g, '0')};
	document.activeElement.blur();
	return all.length;
})()`

// reached looks at what has the focus, and reports whether that is a control of the page.
const reached = `(() => {
	const e = document.activeElement, r = window.reach;
	if (!e || e === document.body) return false;
	if (!r.left.delete(e)) return true; // a part of it, such as the minutes of a time
	const style = getComputedStyle(e), box = e.getClientRects()[0];
	if (style.outlineStyle === 'none' || parseFloat(style.outlineWidth) === 0) r.wrong.push('focus cannot be seen: ' + r.say(e));
	if (box && ![[.5, .5], [.02, .1], [.98, .1], [.02, .9], [.98, .9]].some(([x, y]) => {
		const at = document.elementFromPoint(box.x + box.width * x, box.y + box.height * y);
		return at && (e.contains(at) || at.contains(e) && at !== document.documentElement || at.closest('label')?.control === e);
	})) r.wrong.push('focus is covered: ' + r.say(e));
	return true;
})()`

// tab presses Tab until every control had the focus, and returns what is wrong. A date and a time have up to six parts.
func tab(p *page.Page) []string {
	n := page.Eval[int](p, reach)
	for range 7*n + 3 {
		p.Key(page.Tab)
		if !page.Eval[bool](p, reached) {
			break
		}
	}
	return page.Eval[[]string](p, `[...[...window.reach.left].map(e => 'no key leads to ' + window.reach.say(e)), ...new Set(window.reach.wrong)]`)
}

// An incident is found, acknowledged, handed over and resolved without a mouse: with Tab, Enter and the space bar.
func TestWithoutMouse(t *testing.T) {
	t.Parallel()
	w := begin(t)
	incident := anIncident(t, w)
	p := signedIn(t, w)
	p.Open("/incidents")
	to := func(what string) {
		t.Helper()
		for range 60 {
			p.Key(page.Tab)
			if strings.HasPrefix(page.Eval[string](p, `(document.activeElement.innerText ?? '').trim().replace(/\s+/g, ' ')`), what) {
				return
			}
		}
		t.Fatalf("%s: Tab does not lead to %q", p.Path(), what)
	}
	to("Critical Payments are slow")
	p.Key(page.Enter)
	p.At("/incidents/" + incident)
	to("Acknowledge")
	p.Key(" ")
	p.Has("Undo")
	if got := progress(t, w, incident); got != "Processing" {
		t.Errorf("the incident is %s", got)
	}
	p.Open("/incidents/" + incident)
	to("Resolve")
	p.Key(page.Enter)
	p.See("Closed")
	p.Open("/incidents")
	to("Filter")
	p.Key(page.Enter)
	p.Has("select[name=severity]")
}

// An incident is found, opened, acknowledged, handed over and resolved with single keys. They can be listed and switched
// off, and do nothing in a field.
func TestSingleKeys(t *testing.T) {
	t.Parallel()
	w := begin(t)
	incident := anIncident(t, w)
	p := signedIn(t, w)
	p.Key("go")
	p.At("/schedules")
	p.Key("gi")
	p.At("/incidents")
	p.Key("jjk")
	p.Key(page.Enter)
	p.At("/incidents/" + incident)
	p.Type("#note", "ar?")
	if got := page.Eval[string](p, "document.getElementById('note').value"); got != "ar?" || progress(t, w, incident) != "Triggered" {
		t.Errorf("keys in a field: %q, the incident is %s", got, progress(t, w, incident))
	}
	p.Key(page.Escape)
	p.Key("a")
	p.See("Anna Schäfer")
	if got := progress(t, w, incident); got != "Processing" {
		t.Errorf("the incident is %s", got)
	}
	p.Key("?")
	p.Has("#keys")
	o := once(t)
	o.note(p.Axe(), "the list of keys")
	p.Key(page.Escape)
	p.Gone("#keys")
	p.Key("e")
	p.At("/incidents/" + incident + "/people")
	p.Open("/incidents")
	p.Key("/")
	if at := page.Eval[string](p, "document.activeElement.type"); at != "search" {
		t.Errorf("/ leads to %q", at)
	}
	p.Open("/incidents/" + incident)
	p.Key("r")
	p.See("Closed")
}

// Those whose keys are pressed by a voice, a hand that trembles or a screen reader switch single keys off on their own page.
func TestSingleKeysAreSwitchedOff(t *testing.T) {
	t.Parallel()
	w := begin(t)
	incident := anIncident(t, w)
	p := signedIn(t, w)
	p.Open("/me")
	p.Follow("Turn shortcuts off")
	p.At("/me")
	p.Open("/incidents/" + incident)
	p.Key("ar?gs")
	p.At("/incidents/" + incident)
	p.Lacks("#keys")
	if got := progress(t, w, incident); got != "Triggered" {
		t.Errorf("with keys off the incident is %s", got)
	}
	p.Open("/me")
	p.Follow("Turn shortcuts on")
	p.Key("?")
	p.Has("#keys")
}

// The rows of a list keep their order while one of them has the focus, and a link shows what is new. Inside an incident the keys for
// rows lead to the next and the previous one of the list.
func TestKeysLeadThroughList(t *testing.T) {
	t.Parallel()
	w := begin(t)
	push := func(key, status string) {
		w.Push(t, key, "Trouble with "+key, status, map[string]string{"service": key})
	}
	push("one", "Warning")
	push("two", "Warning")
	p := signedIn(t, w)
	p.Open("/incidents?q=Trouble")
	const rows = `[...document.querySelectorAll('[data-row] strong')].map(e => e.textContent.match(/one|two|three|four/)[0]).join(' ')`
	p.Key("j")
	push("three", "Critical")
	p.See("1 new: show")
	if got := page.Eval[string](p, rows); got != "two one" {
		t.Errorf("while a row has the focus the rows are %q", got)
	}
	p.Key("j")
	p.Leave(page.Enter)
	p.See("Trouble with one")
	one := p.Path()
	p.Leave("k")
	p.See("Trouble with two")
	p.Leave("k")
	p.See("Trouble with three")
	p.Leave("j")
	p.See("Trouble with two")
	p.Leave("j")
	p.At(one)
	p.Open("/incidents?q=Trouble")
	page.Eval[bool](p, `document.querySelector('input[form=many][id^=c]').click() === undefined`)
	push("four", "Critical")
	p.See("1 new: show")
	p.Click("#fresh")
	p.See("Trouble with four")
	if !page.Eval[bool](p, `document.querySelector('input[form=many]:checked') !== null`) {
		t.Error("what was chosen is not chosen any more")
	}
}
