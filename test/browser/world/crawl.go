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

// The crawl reads as many addresses of each shape, and as many shapes of queries of each address: lists, periods and
// filters have no end.
const (
	alike   = 4
	queries = 8
)

// Crawl reads the addresses of the server that can be reached by links from the given ones, some of each shape, and calls
// look for each: pages, files and what forms without changes ask for.
func (c *Client) Crawl(look func(Visit), from ...string) {
	c.t.Helper()
	type link struct{ path, from string }
	var waiting []link
	for _, path := range from {
		waiting = append(waiting, link{path, ""})
	}
	seen := map[string]bool{}
	shapes := map[string]int{}
	variants := map[string]int{}
	for len(waiting) > 0 {
		next := waiting[0]
		waiting = waiting[1:]
		path, _, _ := strings.Cut(next.path, "#")
		shape := Shape(path)
		bare, _, query := strings.Cut(shape, "?")
		if seen[path] || shapes[shape] >= alike || query && variants[bare] >= queries {
			continue
		}
		seen[path] = true
		if query && shapes[shape] == 0 {
			variants[bare]++
		}
		shapes[shape]++
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

// Pages returns one address of each kind of page that can be reached from the menu, and the page to sign in.
func (c *Client) Pages() []string {
	c.t.Helper()
	var a Atlas
	c.Crawl(a.Add, "/", "/sign-in")
	return a.Pages()
}

// Atlas collects one address of each kind of page.
type Atlas struct {
	found    map[string]string // by shape
	variants map[string]bool   // the shapes without a query that have one with a query
}

// Add adds what a crawl has read. Of the pages that differ in their query alone, there is one without and one with a query.
func (a *Atlas) Add(v Visit) {
	shape := Shape(v.Path)
	bare, _, query := strings.Cut(shape, "?")
	if !IsPage(v.Answer) || v.Answer.Status != http.StatusOK || a.found[shape] != "" || query && a.variants[bare] {
		return
	}
	if a.found == nil {
		a.found, a.variants = map[string]string{}, map[string]bool{}
	}
	a.variants[bare] = a.variants[bare] || query
	a.found[shape] = v.Path
}

// Pages returns the addresses, the shortest shapes first.
func (a *Atlas) Pages() []string {
	shapes := slices.SortedFunc(maps.Keys(a.found), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	paths := make([]string, len(shapes))
	for i, s := range shapes {
		paths[i] = a.found[s]
	}
	return paths
}

// Unread returns the patterns of pages that none of the paths has.
func Unread(patterns, paths []string) []string {
	mux, read := http.NewServeMux(), map[string]bool{}
	for _, pattern := range patterns {
		mux.HandleFunc(pattern, http.NotFound)
	}
	for _, path := range paths {
		if r, err := http.NewRequest(http.MethodGet, path, nil); err == nil {
			_, pattern := mux.Handler(r)
			read[pattern] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(patterns), func(pattern string) bool { return read[pattern] })
}

// IsFile reports whether an answer is a file to store.
func IsFile(a Answer) bool {
	return strings.HasPrefix(a.Header.Get("Content-Disposition"), "attachment")
}

// IsPage reports whether an answer is a page of the console, unlike the reference of the API and files.
func IsPage(a Answer) bool { return len(Find(a.HTML, "main", "id", "main")) == 1 }
