package browser

import (
	"testing"

	"tocsin/test/browser/page"
)

// The shortcut opens what finds pages and records from anywhere. Keys alone lead to a page and to an incident, and the buttons of the page are there.
func TestFindByKeys(t *testing.T) {
	t.Parallel()
	w := full(t)
	p := signedIn(t, w)
	p.Open("/insight")
	o := once(t)
	p.Ctrl("k")
	p.Key("edge")
	p.Has(`#find a[href="/edges"]`)
	o.note(p.Axe(), "the dialog")
	p.Key(page.Down)
	p.Key(page.Enter)
	p.At("/edges")

	p.Ctrl("k")
	p.Key("api")
	p.Has("#find .found a")
	p.Key(page.Escape)
	p.Lacks("#find[open]")

	p.Open("/incidents")
	incident := page.Eval[string](p, `[...document.links].map(a => a.pathname).find(path => /^.incidents.[0-9a-f]{24}$/.test(path))`)
	p.Open(incident)
	p.Ctrl("k")
	p.Has("#find li button")
	p.Key(incident[len(incident)-6:])
	p.Has(`#find a[href="` + incident + `"]`)
	p.Quiet()
}

// Without scripts it is a page with a form.
func TestFindWithoutScript(t *testing.T) {
	t.Parallel()
	w := full(t)
	p := signedIn(t, w)
	p.NoScript()
	p.Phone()
	p.Open("/")
	p.Follow(".find")
	p.Type("#find-text", "edge")
	p.Enter()
	p.Follow(`.found a[href="/edges"]`)
	p.At("/edges")
}
