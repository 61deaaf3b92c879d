package browser

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"tocsin/test/browser/world"
)

// Every address that the owner, a reader and the owner of an empty account can reach by links answers, and every page is
// sound.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	full, empty := begin(t), ended(t, world.BeginEmpty(t, t.TempDir()))
	world.PushDemo(t, full)
	for name, c := range map[string]*world.Client{
		"owner":         client(t, full, full.Keys.All),
		"reader":        client(t, full, full.Keys.ReadOnly),
		"empty account": client(t, empty, empty.Keys.All),
	} {
		t.Run(name, func(t *testing.T) {
			ids, wanted := map[string]map[string]bool{}, map[string]string{} // of each page; and the page that wants each
			pages, o := 0, once(t)
			c.Crawl(func(v world.Visit) {
				if s := v.Answer.Status; s != http.StatusOK && s != http.StatusSeeOther {
					o.note([]string{fmt.Sprintf("%d %s", s, world.Shape(v.Path))}, v.Path, "linked from", v.From)
				}
				if n := len(v.Answer.Body); world.IsPage(v.Answer) && n > heavy {
					o.note([]string{"more than 100 KB"}, v.Path)
				}
				if strings.HasPrefix(v.Path, "/assets/icons.svg") {
					ids[v.Path] = map[string]bool{}
					for _, id := range icons.FindAllSubmatch(v.Answer.Body, -1) {
						ids[v.Path][string(id[1])] = true
					}
				}
				if !world.IsPage(v.Answer) {
					return
				}
				pages++
				o.note(unsound(v.Answer), v.Path)
				ids[v.Path] = idsOf(v.Answer.HTML)
				for _, l := range world.Links(v.Answer.HTML) {
					if to := world.Resolve(v.Path, l); strings.Contains(to, "#") {
						wanted[to] = v.Path
					}
				}
			}, "/", "/sign-in")
			for to, from := range wanted {
				path, id, _ := strings.Cut(to, "#")
				if has, read := ids[path]; read && !has[id] {
					o.note([]string{"a link leads to no element " + world.Shape(path) + "#" + id}, from)
				}
			}
			if pages < 4 {
				t.Errorf("%d pages were found", pages)
			}
			t.Logf("%d pages", pages)
		})
	}
}

// heavy is how large a page may be before compression, in bytes.
const heavy = 100 << 10

// icons finds the icons of the sprite.
var icons = regexp.MustCompile(`<symbol id="([^"]+)"`)

// suspicious is what a template draws of a value that it cannot draw.
var suspicious = regexp.MustCompile(`%!\w?\(|<no value>|ZgotmplZ|&lt;nil&gt;|\{\{`)

// unsound returns what is wrong with a page whatever it shows: scripts and styles that the policy would refuse or that
// others have smuggled in, and marks of a template that failed.
func unsound(a world.Answer) (problems []string) {
	if m := suspicious.Find(a.Body); m != nil {
		problems = append(problems, "it has "+string(m))
	}
	if !strings.HasPrefix(a.Header.Get("Content-Security-Policy"), "default-src 'none'") || a.Header.Get("X-Frame-Options") != "DENY" {
		problems = append(problems, "its policy is "+a.Header.Get("Content-Security-Policy"))
	}
	seen := map[string]bool{}
	world.Each(a.HTML, func(n *html.Node) {
		if id := world.Attribute(n, "id"); id != "" {
			if seen[id] {
				problems = append(problems, "two elements are "+id)
			}
			seen[id] = true
		}
		switch {
		case n.Data == "script" && !strings.HasPrefix(world.Attribute(n, "src"), "/assets/"):
			problems = append(problems, "a script: "+world.Text(n))
		case n.Data == "style" && world.Attribute(n, "nonce") == "":
			problems = append(problems, "a style without a nonce")
		case n.Data == "title" && strings.HasPrefix(world.Text(n), " ·"):
			problems = append(problems, "no title")
		case n.Data == "img" && world.Attribute(n, "src") == "x", n.Data == "iframe", n.Data == "base", n.Data == "object":
			problems = append(problems, "an element that no template has: "+n.Data)
		}
		for _, at := range n.Attr {
			switch value := strings.ToLower(strings.TrimSpace(at.Val)); {
			case strings.HasPrefix(at.Key, "on") || at.Key == "style":
				problems = append(problems, "the attribute "+at.Key+"="+at.Val)
			case (at.Key == "href" || at.Key == "src" || at.Key == "action") && (strings.HasPrefix(value, "javascript:") || strings.HasPrefix(value, "data:")):
				problems = append(problems, "the address "+at.Val)
			}
		}
	})
	return problems
}

func idsOf(page *html.Node) map[string]bool {
	ids := map[string]bool{}
	world.Each(page, func(n *html.Node) { ids[world.Attribute(n, "id")] = true })
	return ids
}

// Names, titles and labels from others are shown as they are, on every page.
func TestHostileTextIsOnlyText(t *testing.T) {
	w := ended(t, world.Begin(t, t.TempDir(), hostileAccount(t)))
	world.PushHostile(t, w)
	shown, o := 0, once(t)
	client(t, w, w.Keys.All).Crawl(func(v world.Visit) {
		if s := v.Answer.Status; s >= 400 {
			o.note([]string{fmt.Sprintf("%d %s", s, world.Shape(v.Path))}, v.Path, "linked from", v.From)
		}
		if world.IsPage(v.Answer) {
			o.note(unsound(v.Answer), v.Path)
			if strings.Contains(string(v.Answer.Body), "&lt;img src=x") {
				shown++
			}
		}
	}, "/")
	if shown < 3 {
		t.Errorf("%d pages show a hostile text", shown)
	}
}
