package browser

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"tocsin/test/browser/world"
)

// Every kind of address that the owner, a reader and the owner of an empty account can reach by links answers, and every
// page is sound.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	t.Parallel()
	full, empty := full(t), empty(t)
	for name, s := range map[string]*survey{
		"owner":         surveyed(t, full, full.Keys.All),
		"reader":        surveyed(t, full, full.Keys.ReadOnly),
		"empty account": surveyed(t, empty, empty.Keys.All),
	} {
		s.wrong.report(t)
		if s.count < 20 {
			t.Errorf("%s: %d pages were found", name, s.count)
		}
		t.Logf("%s: %d pages of %d kinds, %d forms", name, s.count, len(s.pages), len(s.forms))
	}
}

// How large a page may be before compression, in bytes. A shift that is drawn in a picture and stands in its list costs more
// than a row of other lists: a schedule that changes every hour has hundreds. A moment has its second and zone in its title.
const (
	heavy  = 100 << 10
	bar    = 240
	moment = 120
)

// icons finds the icons of the sprite.
var icons = regexp.MustCompile(`<symbol id="([^"]+)"`)

// suspicious is what a template draws of a value that it cannot draw.
var suspicious = regexp.MustCompile(`%!\w?\(|<no value>|ZgotmplZ|&lt;nil&gt;`)

// source are the elements that show the source of templates.
var source = map[string]bool{"textarea": true, "pre": true, "code": true}

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
		for text := range n.ChildNodes() {
			if text.Type == html.TextNode && strings.Contains(text.Data, "{{") && !source[n.Data] {
				problems = append(problems, "it has "+text.Data)
			}
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

// Names, titles and labels from others are shown as they are, on every page.
func TestHostileTextIsOnlyText(t *testing.T) {
	t.Parallel()
	w := hostile(t)
	s := surveyed(t, w, w.Keys.All)
	s.wrong.report(t)
	if s.shown < 20 {
		t.Errorf("%d pages show a hostile text", s.shown)
	}
}
