package render

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Link is an address with what it leads to, in a word.
type Link struct{ Name, URL string }

const (
	maxLinks   = 8
	maxAddress = 1000 // bytes; a longer one would leave no space for the text
)

// linkNames are the words for labels whose own names would not do, and their order.
var linkNames = []Link{
	{"runbook", "runbook_url"}, {"runbook", "runbook"}, {"graph", "generator_url"}, {"dashboard", "dashboard_url"}, {"panel", "panel_url"},
	{"silence", "silence_url"}, {"rule", "rule_url"}, {"source", "url"}, {"source", "link"}, {"source", "external_url"},
}

// LinksOf returns the links in the labels of an alert, and their names among the labels. A label is a link if its name
// ends in url or is a known one, and its value is an http or https address.
func LinksOf(labels map[string]string) (links []Link, names []string) {
	add := func(word, name string) {
		address := strings.TrimSpace(labels[name])
		if slices.Contains(names, name) || !isLink(address) {
			return
		}
		names = append(names, name)
		known := func(l Link) bool { return l.URL == address || l.Name == word }
		if len(links) < maxLinks && !slices.ContainsFunc(links, known) {
			links = append(links, Link{word, address})
		}
	}
	for _, known := range linkNames {
		add(known.Name, known.URL)
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if word, found := strings.CutSuffix(strings.ToLower(name), "url"); found {
			word = strings.TrimSpace(strings.ReplaceAll(strings.Trim(word, "_."), "_", " "))
			if word == "" {
				word = "source"
			}
			add(OneLine(word), name)
		}
	}
	return links, names
}

// isLink reports whether a label's value is an address that a message may link to. User names are refused: an address
// such as https://bank.example@evil.example leads to another host than it seems to.
func isLink(s string) bool {
	if len(s) > maxAddress || !isURL.MatchString(s) || s != OneLine(s) || strings.Contains(s, " ") {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && u.User == nil
}
