package browser

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"tocsin/internal/console"
	"tocsin/test/browser/world"
)

// survey is what a crawl as one person found.
type survey struct {
	pages []string // one address of each kind
	forms []form   // one of each kind
	wrong *problems
	count int // of pages that were read
	shown int // of pages that show a hostile text
}

// form is a form that changes something.
type form struct {
	page, action string
	values       url.Values
}

var (
	surveys     = map[string]*survey{} // by address of the world and key
	surveysLock sync.Mutex
)

// surveyed returns what a crawl of a shared world finds, for the owner with the pages that no link leads to. Each is done
// once.
func surveyed(t *testing.T, w *world.World, key string) *survey {
	t.Helper()
	surveysLock.Lock()
	defer surveysLock.Unlock()
	s := surveys[w.URL+key]
	if s == nil {
		s = crawl(client(t, w, key))
		if key == w.Keys.All {
			s.pages = append(unlinked(t, w, s.pages), s.pages...)
		}
		surveys[w.URL+key] = s
	}
	return s
}

// crawl reads pages of each kind and returns what it finds, and what is wrong with it.
func crawl(c *world.Client) *survey {
	s := &survey{wrong: &problems{where: map[string][]string{}}}
	var atlas world.Atlas
	var links anchors
	seen := map[string]bool{}
	c.Crawl(func(v world.Visit) {
		if a := v.Answer.Status; a != http.StatusOK && a != http.StatusSeeOther {
			s.wrong.note([]string{http.StatusText(a) + " " + world.Shape(v.Path)}, v.Path, "linked from", v.From)
		}
		links.add(v)
		if !world.IsPage(v.Answer) || strings.HasPrefix(v.Path, "/docs") { // the reference of the API is no page of the console
			return
		}
		s.count++
		if strings.Contains(string(v.Answer.Body), "&lt;img src=x") {
			s.shown++
		}
		atlas.Add(v)
		s.wrong.note(unsound(v.Answer), v.Path)
		shifts, moments := bytes.Count(v.Answer.Body, []byte(`<li class="b `)), bytes.Count(v.Answer.Body, []byte("<time"))
		if n := len(v.Answer.Body); n > heavy+2*bar*shifts+moment*moments {
			s.wrong.note([]string{fmt.Sprintf("%d KB", n>>10)}, v.Path)
		}
		for _, f := range formsOf(v) {
			if shape := world.Shape(f.action); !seen[shape] {
				seen[shape] = true
				s.forms = append(s.forms, f)
			}
		}
	}, "/", "/sign-in")
	s.pages = atlas.Pages()
	links.check(s.wrong)
	return s
}

func formsOf(v world.Visit) (all []form) {
	world.Each(v.Answer.HTML, func(n *html.Node) {
		if n.Data == "form" && strings.EqualFold(world.Attribute(n, "method"), http.MethodPost) {
			all = append(all, form{v.Path, world.Resolve(v.Path, world.Attribute(n, "action")), world.Values(n)})
		}
		if to := world.Attribute(n, "formaction"); to != "" {
			all = append(all, form{v.Path, world.Resolve(v.Path, to), url.Values{}})
		}
	})
	return all
}

// anchors are the places of pages that links lead to.
type anchors struct {
	ids    map[string]map[string]bool // of each page
	wanted map[string]string          // the page that wants each
}

func (a *anchors) add(v world.Visit) {
	if a.ids == nil {
		a.ids, a.wanted = map[string]map[string]bool{}, map[string]string{}
	}
	if strings.HasPrefix(v.Path, "/assets/icons.svg") {
		a.ids[v.Path] = map[string]bool{}
		for _, id := range icons.FindAllSubmatch(v.Answer.Body, -1) {
			a.ids[v.Path][string(id[1])] = true
		}
	}
	if !world.IsPage(v.Answer) {
		return
	}
	a.ids[v.Path] = map[string]bool{}
	world.Each(v.Answer.HTML, func(n *html.Node) { a.ids[v.Path][world.Attribute(n, "id")] = true })
	for _, l := range world.Links(v.Answer.HTML) {
		if to := world.Resolve(v.Path, l); strings.Contains(to, "#") {
			a.wanted[to] = v.Path
		}
	}
}

func (a *anchors) check(o *problems) {
	for to, from := range a.wanted {
		path, id, _ := strings.Cut(to, "#")
		if has, read := a.ids[path]; read && !has[id] {
			o.note([]string{"a link leads to no element " + world.Shape(path) + "#" + id}, from)
		}
	}
}

// templates returns pages without those that differ from another one in their query alone.
func templates(pages []string) []string {
	bare := map[string]bool{}
	for _, path := range pages {
		bare[world.Shape(path)] = true
	}
	return slices.DeleteFunc(slices.Clone(pages), func(path string) bool {
		shape, _, query := strings.Cut(world.Shape(path), "?")
		return query && bare[shape]
	})
}

// unlinked returns the pages that no link of the account leads to, but a message or a step of signing in does.
func unlinked(t *testing.T, w *world.World, pages []string) []string {
	t.Helper()
	all := []string{setPassword(t, w), "/sign-in/code", "/incidents/chosen"}
	for _, path := range pages {
		if world.Shape(path) == "/schedules/{id}" {
			all = append(all, path+"/plan")
		}
		if world.Shape(path) == "/rules/{id}" {
			all = append(all, "/rules/change?rule="+strings.TrimPrefix(path, "/rules/"))
		}
	}
	return all
}

// setPassword returns the address at which a person sets a password who does not sign in meanwhile, which would end the link.
func setPassword(t *testing.T, w *world.World) string {
	t.Helper()
	var invited struct {
		Items []struct {
			ID int64 `json:"member_id"`
		}
	}
	w.Do(t, "/member/invite", map[string]any{"members": []any{map[string]any{"email": "nina@example.com", "member_name": "Nina New"}}}, &invited)
	var link struct {
		Path string `json:"link_path"`
	}
	w.Do(t, "/person/link/create", map[string]any{"person_id": invited.Items[0].ID}, &link)
	return link.Path
}

// TestNoPageIsForgotten holds that the tests of all pages look at every page of the console.
func TestNoPageIsForgotten(t *testing.T) {
	t.Parallel()
	w := full(t)
	for _, pattern := range world.Unread(console.Addresses(), surveyed(t, w, w.Keys.All).pages) {
		t.Errorf("no test looks at %s: nothing of the demo leads there", pattern)
	}
}
