package console_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var foundLink = regexp.MustCompile(`<li>\s*<a href="([^"]+)"`)

// finds returns the links to what a text finds.
func (b *browser) finds(text string) (links []string) {
	b.w.t.Helper()
	_, list, _ := strings.Cut(b.get("/find?q="+url.QueryEscape(text)).shows().body, `id="found"`)
	list, _, _ = strings.Cut(list, "</main>")
	for _, m := range foundLink.FindAllStringSubmatch(list, -1) {
		links = append(links, m[1])
	}
	return links
}

// TestFindLeadsToPagesAndRecords looks for parts of names in upper and lower case, for an incident's number, and for nothing.
func TestFindLeadsToPagesAndRecords(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(`{"title_rule": "Disk of the shop is full", "event_status": "Critical", "alert_key": "disk"}`)
	b := w.signIn(ownerKey)
	incident := b.get("/incidents").link("/incidents/")
	number := incident[len(incident)-6:]
	for text, want := range map[string][]string{
		"SHOP":                       {incident, "/channels/7000000000041"},
		number:                       {incident},
		"#" + number:                 {incident},
		"nights":                     {"/schedules/7000000000032"},
		"edges":                      {"/edges"},
		"nothing has this in a name": nil,
		strings.Repeat("x", 1000):    nil,
		"":                           nil,
	} {
		if found := b.finds(text); !slices.Equal(found, want) {
			t.Errorf("%q finds %q, want %q", text, found, want)
		}
	}
	b.lang = "zh"
	if found := b.finds("值班表"); !slices.Contains(found, "/schedules") {
		t.Errorf("in Chinese, the page of schedules is not among %q", found)
	}
}

// TestFindShowsWhatMayBeRead looks with few rights, and in another account.
func TestFindShowsWhatMayBeRead(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(`{"title_rule": "Disk of the shop is full", "event_status": "Critical", "alert_key": "disk"}`)
	for _, b := range []*browser{w.signIn(w.kindOf("few", nil)), w.signIn(emptyKey)} {
		if found := b.finds("full"); len(found) > 0 {
			t.Errorf("a person who may not read incidents finds %q", found)
		}
	}
	if found := w.signIn(emptyKey).finds("Nights"); len(found) > 0 {
		t.Errorf("another account's person finds %q", found)
	}
}
