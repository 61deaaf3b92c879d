package browser

import (
	"fmt"
	"testing"

	"tocsin/test/browser/page"
)

// names are what is chosen in the picker of a field.
func names(p *page.Page, field string) string {
	return page.Eval[string](p, fmt.Sprintf(
		`[...document.querySelectorAll('[name="%s"]:checked')].map(e => e.parentElement.textContent.trim()).join(', ')`, field))
}

// People are typed into the picker of an incident: a whole name is added at once, a part of a name by Enter; a box that is not
// ticked any more is left out.
func TestPickerAddsNamesThatAreTyped(t *testing.T) {
	t.Parallel()
	w := begin(t)
	incident := anIncident(t, w)
	p := signedIn(t, w)
	p.Open("/incidents/" + incident + "/people")
	p.Type("[name='person.add']", "zoë lefèvre")
	p.Key(page.Enter)
	if got := names(p, "person"); got != "Zoë Lefèvre" {
		t.Fatalf("chosen by a whole name: %q", got)
	}
	p.Type("[name='person.add']", "schäfer")
	p.Key(page.Enter)
	p.Has("[name=person]:checked + bdi + *, .picked label:nth-of-type(2) :checked")
	if got := names(p, "person"); got != "Zoë Lefèvre, Anna Schäfer" {
		t.Fatalf("chosen by a part of a name: %q", got)
	}
	o := once(t)
	o.note(p.Axe(), "the picker")
	p.Click(".picked label:nth-of-type(1) input")
	p.Click("Replace")
	p.At("/incidents/" + incident)
	p.See("Assigned to Anna Schäfer")
}

// Without script the button of a picker adds what is typed, and saving does, too.
func TestPickerWorksWithoutScript(t *testing.T) {
	t.Parallel()
	w := begin(t)
	incident := anIncident(t, w)
	p := signedIn(t, w)
	p.NoScript()
	p.Open("/incidents/" + incident + "/people")
	p.Type("[name='person.add']", "Zoë")
	p.Follow("People: Add")
	p.Type("[name='person.add']", "Schäfer")
	p.Follow("Replace")
	p.See("Zoë Lefèvre")
	p.See("Anna Schäfer")
}

// An incident is given to who is on call in another schedule without reading that schedule first.
func TestIncidentIsGivenToPersonOnCall(t *testing.T) {
	t.Parallel()
	w := begin(t)
	incident := anIncident(t, w)
	p := signedIn(t, w)
	p.Open("/incidents/" + incident + "/people")
	p.See("On call in")
	name := page.Eval[string](p, "document.querySelector('.rows .picks label bdi').textContent")
	p.Click(".rows .picks label input")
	p.Click("Replace")
	p.At("/incidents/" + incident)
	p.See("Assigned to " + name)
}
