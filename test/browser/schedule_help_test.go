package browser

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"tocsin/internal/demo"

	"tocsin/test/browser/page"
	"tocsin/test/browser/world"
)

// The demo's schedules.
const (
	weekly    = "Plattform: Rufbereitschaft"       // overrides now and next week
	gaps      = "Checkout rund um die Uhr"         // none on Monday mornings
	stacked   = "Storefront mit Datenbank-Reserve" // a primary and a backup
	daily     = "Checkout second line"             // at 08:00; one of seven is absent in three weeks
	monthly   = "Incident managers"
	unstaffed = "Search relevance (unstaffed)"
)

// scheduleOf returns the id of a schedule of the demo.
func scheduleOf(t *testing.T, w *world.World, name string) int64 {
	t.Helper()
	var reply struct {
		Items []struct {
			ID   int64  `json:"schedule_id"`
			Name string `json:"schedule_name"`
		} `json:"items"`
	}
	w.Do(t, "/schedule/list", map[string]any{"limit": 100}, &reply)
	for _, s := range reply.Items {
		if s.Name == name {
			return s.ID
		}
	}
	t.Fatalf("there is no schedule %s", name)
	return 0
}

// picture returns the address of a schedule's page, with more behind it.
func picture(t *testing.T, w *world.World, name, more string) string {
	t.Helper()
	return fmt.Sprintf("/schedules/%d%s", scheduleOf(t, w, name), more)
}

// personOf returns the id of a person of the demo.
func personOf(t *testing.T, name string) int64 {
	t.Helper()
	for _, p := range demo.Account(world.Start).Persons {
		if p.PersonName == name {
			return p.PersonID
		}
	}
	t.Fatalf("the demo has no %s", name)
	return 0
}

// nameOf returns the name of a person of the demo.
func nameOf(id int64) string {
	for _, p := range demo.Account(world.Start).Persons {
		if p.PersonID == id {
			return p.PersonName
		}
	}
	return ""
}

// onCall returns who is on call in a schedule at a moment, as the API answers.
func onCall(t *testing.T, w *world.World, name string, at time.Time) string {
	t.Helper()
	var reply struct {
		Oncall *struct {
			Group struct {
				Members []struct {
					Persons []int64 `json:"person_ids"`
				} `json:"members"`
			} `json:"group"`
		} `json:"oncall"`
	}
	w.Do(t, "/schedule/explain", map[string]any{"schedule_id": scheduleOf(t, w, name), "at": at.Unix()}, &reply)
	var names []string
	if reply.Oncall != nil {
		for _, m := range reply.Oncall.Group.Members {
			for _, id := range m.Persons {
				names = append(names, nameOf(id))
			}
		}
	}
	return strings.Join(names, ", ")
}

// revision returns how often a schedule was changed.
func revision(t *testing.T, w *world.World, name string) int64 {
	t.Helper()
	var reply struct{ Revision int64 }
	w.Do(t, "/schedule/info", map[string]any{"schedule_id": scheduleOf(t, w, name)}, &reply)
	return reply.Revision
}

// saves follows a button that stores a change of a schedule, and wants its page and one revision more.
func saves(t *testing.T, w *world.World, p *page.Page, name, button string) {
	t.Helper()
	before := revision(t, w, name)
	p.Follow(button)
	p.At(picture(t, w, name, ""))
	if got := revision(t, w, name); got != before+1 {
		t.Errorf("%s was not stored: revision %d after %d", name, got, before)
	}
}

// berlin returns a moment on the clock of the demo's account.
func berlin(t *testing.T, text string) time.Time {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// listed is a row of the list that has what a picture shows.
type listed struct {
	From, Until time.Time
	Length, Who string
	Why         string // the address
	Links       string // their texts
}

// list returns the list below a picture.
func list(p *page.Page) []listed {
	return page.Eval[[]listed](p, `[...document.querySelectorAll('#list tbody tr')].map(r => { const c = [...r.children]; return {
		From: c[0].querySelector('time').dateTime, Until: c[1].querySelector('time').dateTime, Length: c[2].textContent.trim(),
		Who: [...c[3].querySelectorAll('bdi')].map(b => b.textContent).join(', '), Why: c[5].querySelector('a').getAttribute('href'), Links: c[5].textContent.trim(),
	}; })`)
}

// choose selects an option of a list by its text, as a reader does.
func choose(p *page.Page, field, text string) {
	p.Has(field)
	if !page.Eval[bool](p, fmt.Sprintf(`(e => { const i = [...e.options].findIndex(o => o.text === %q); if (i < 0) return false;
		e.selectedIndex = i; e.dispatchEvent(new Event('change', {bubbles: true})); return true; })(document.querySelector(%q))`, text, field)) {
		panic(field + " has no " + text)
	}
}

// fill sets what a field of a form holds that keys write differently in each language, such as a time.
func fill(p *page.Page, field, value string) {
	p.Has(field)
	page.Eval[bool](p, fmt.Sprintf(`(e => { e.value = %q; e.dispatchEvent(new Event('change', {bubbles: true})); return true; })(document.querySelector(%q))`, value, field))
}

// value returns what a field holds.
func value(p *page.Page, field string) string {
	return page.Eval[string](p, fmt.Sprintf(`document.querySelector(%q).value`, field))
}

// sound is how each story ends: axe-core finds nothing wrong, and nothing must be scrolled sideways. What is written to the
// browser's console fails every test.
func sound(t *testing.T, p *page.Page) {
	t.Helper()
	if thorough || unread(p) {
		for _, problem := range p.Axe() {
			t.Errorf("%s: %s", p.Path(), problem)
		}
	}
	if over, who := p.Sideways(); over > 0 {
		t.Errorf("%s: must be scrolled sideways by %d pixels\n    %s", p.Path(), over, who)
	}
}

// elements are the kinds of elements that unread has seen, on wide pages and on narrow ones.
var elements sync.Map

// unread reports whether a page has a kind of element that it has not seen before: axe-core has not read it.
func unread(p *page.Page) (is bool) {
	for _, kind := range page.Eval[[]string](p, `[...new Set([...document.body.querySelectorAll('*')].filter(e => e.checkVisibility())
		.map(e => [innerWidth < 600, e.tagName, e.getAttribute('class'), e.getAttribute('role'), e.type].join(' ')))]`) {
		_, read := elements.LoadOrStore(kind, true)
		is = is || !read
	}
	return is
}

// tabTo presses the Tab key until an element has the focus whose text, label or id is given.
func tabTo(t *testing.T, p *page.Page, what string) {
	t.Helper()
	for range 400 {
		p.Key("\t")
		if page.Eval[bool](p, fmt.Sprintf(`(e => [e.id, e.getAttribute('aria-label'), e.innerText?.trim().replace(/\s+/g, ' ')].includes(%q))(document.activeElement)`, what)) {
			return
		}
	}
	t.Fatalf("%s: the Tab key does not reach %s", p.Path(), what)
}
