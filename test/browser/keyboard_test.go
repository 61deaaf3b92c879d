package browser

import (
	"testing"

	"tocsin/test/browser/page"
)

// The first key leads past the menu, and focus can be seen.
func TestSkipLink(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	p.Open("/incidents")
	p.Key("\t")
	if at := page.Eval[string](p, `document.activeElement.getAttribute('href') ?? ''`); at != "#main" {
		t.Errorf("the first key leads to %q", at)
	}
	if !page.Eval[bool](p, `getComputedStyle(document.activeElement).outlineStyle !== 'none' && document.activeElement.getBoundingClientRect().left >= 0`) {
		t.Error("focus cannot be seen")
	}
	p.Key("\r")
	if page.Eval[string](p, `document.activeElement.id`) != "main" {
		t.Error("the first link does not lead to the content")
	}
}

// An incident is found, opened, acknowledged and resolved with single keys. They can be listed and switched off, and do
// nothing in a field.
func TestSingleKeys(t *testing.T) {
	w := begin(t)
	incident := anIncident(t, w)
	p := signedIn(t, w)
	p.Key("gi")
	p.At("/incidents")
	p.Key("j")
	p.Key("\r")
	p.At("/incidents/" + incident)
	p.Type("#note", "ar?")
	if got := page.Eval[string](p, "document.getElementById('note').value"); got != "ar?" || progress(t, w, incident) != "Triggered" {
		t.Errorf("keys in a field: %q, the incident is %s", got, progress(t, w, incident))
	}
	p.Key("\x1b")
	p.Key("a")
	p.See("Anna Schäfer")
	if got := progress(t, w, incident); got != "Processing" {
		t.Errorf("the incident is %s", got)
	}
	p.Key("?")
	p.Has("#keys")
	o := once(t)
	o.note(p.Axe(), "the list of keys")
	p.Key("\x1b")
	p.Gone("#keys")
	p.Key("?")
	p.Follow("Switch the keys off")
	p.Key("r")
	p.Key("?")
	p.Lacks("#keys")
	if got := progress(t, w, incident); got != "Processing" {
		t.Errorf("with keys off the incident is %s", got)
	}
}
