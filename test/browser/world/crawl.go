package world

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Visit is an address that a crawl read.
type Visit struct {
	Path   string
	From   string // the page with the link
	Answer Answer
}

// queries bounds the addresses that differ in their query alone: periods and pages of lists have no end.
const queries = 8

// Crawl reads every address of the server that can be reached by links from the given ones, and calls look for each:
// pages, files and what forms without changes ask for.
func (c *Client) Crawl(look func(Visit), from ...string) {
	c.t.Helper()
	type link struct{ path, from string }
	var waiting []link
	for _, path := range from {
		waiting = append(waiting, link{path, ""})
	}
	seen, variants := map[string]bool{}, map[string]int{}
	for len(waiting) > 0 {
		next := waiting[0]
		waiting = waiting[1:]
		path, _, _ := strings.Cut(next.path, "#")
		bare, query, _ := strings.Cut(path, "?")
		if seen[path] || query != "" && variants[bare] >= queries {
			continue
		}
		seen[path] = true
		if query != "" {
			variants[bare]++
		}
		a := c.Get(path)
		look(Visit{path, next.from, a})
		for hops := 0; a.Status >= 300 && a.Status < 400 && hops < 5; hops++ {
			path = Resolve(path, a.Header.Get("Location"))
			if path == "" || seen[path] {
				break
			}
			seen[path] = true
			a = c.Get(path)
			look(Visit{path, next.from, a})
		}
		for _, l := range Links(a.HTML) {
			if to := Resolve(path, l); to != "" {
				waiting = append(waiting, link{to, path})
			}
		}
	}
}

// Links returns the addresses that a page refers to: of links, files, pictures and forms that change nothing.
func Links(page *html.Node) (all []string) {
	Each(page, func(n *html.Node) {
		switch n.Data {
		case "a", "area", "link", "use":
			all = append(all, Attribute(n, "href"))
		case "script", "img", "source", "iframe":
			all = append(all, Attribute(n, "src"))
		case "form":
			if !strings.EqualFold(Attribute(n, "method"), http.MethodPost) {
				all = append(all, Attribute(n, "action")+"?"+Values(n).Encode())
			}
		}
	})
	return slices.DeleteFunc(all, func(l string) bool { return l == "" })
}

// Resolve returns the address of this server that a link of a page leads to; empty: it leads elsewhere.
func Resolve(page, link string) string {
	base, err := url.Parse("http://here" + page)
	if err != nil {
		return ""
	}
	u, err := base.Parse(strings.TrimSpace(link))
	if err != nil || u.Host != "here" || u.Scheme != "http" {
		return ""
	}
	u.Scheme, u.Host = "", ""
	return u.String()
}

var (
	identifier = regexp.MustCompile(`^[0-9A-Za-z_-]*[0-9][0-9A-Za-z_-]*$`)
	word       = regexp.MustCompile(`^[a-z][a-z_-]{0,30}$`)
)

// Shape returns an address without what differs between two of a kind: identifiers and moments.
func Shape(path string) string {
	bare, query, _ := strings.Cut(path, "?")
	parts := strings.Split(bare, "/")
	for i, p := range parts {
		if identifier.MatchString(p) {
			parts[i] = "{id}"
		}
	}
	values, _ := url.ParseQuery(query) // what cannot be read has no shape
	var names []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch v := values.Get(name); {
		case v == "":
		case word.MatchString(v):
			names = append(names, name+"="+v)
		default:
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return strings.Join(parts, "/")
	}
	return strings.Join(parts, "/") + "?" + strings.Join(names, "&")
}

// variety bounds the representatives of pages that differ in their query alone.
const variety = 2

// Pages returns one address of each kind of page that can be reached from the menu, and the page to sign in.
func (c *Client) Pages() []string {
	c.t.Helper()
	found, variants := map[string]string{}, map[string]int{}
	c.Crawl(func(v Visit) {
		shape := Shape(v.Path)
		bare, query, _ := strings.Cut(shape, "?")
		if !IsPage(v.Answer) || v.Answer.Status != http.StatusOK || found[shape] != "" || query != "" && variants[bare] >= variety {
			return
		}
		if query != "" {
			variants[bare]++
		}
		found[shape] = v.Path
	}, "/", "/sign-in")
	shapes := slices.SortedFunc(maps.Keys(found), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	paths := make([]string, len(shapes))
	for i, s := range shapes {
		paths[i] = found[s]
	}
	return paths
}

// IsPage reports whether an answer is a page of the console, unlike the reference of the API and files.
func IsPage(a Answer) bool { return len(Find(a.HTML, "main", "id", "main")) == 1 }
