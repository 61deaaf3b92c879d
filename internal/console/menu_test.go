package console_test

import (
	"regexp"
	"slices"
	"testing"
	"time"
)

var menuEntry = regexp.MustCompile(`<a href="([^"]+)" data-go="([a-z])"`)

// TestMenuLeadsToWhatMayBeRead compares the entries of the menu and their keys, for persons who may read everything and next to nothing.
func TestMenuLeadsToWhatMayBeRead(t *testing.T) {
	t.Parallel()
	w := begin(t)
	for key, want := range map[string][]string{
		ownerKey:                {"n /", "i /incidents", "a /alerts", "o /schedules", "r /rules", "c /channels", "t /insight", "s /setup"},
		w.kindOf("nobody", nil): {"n /", "a /rum", "o /schedules", "c /channels", "s /setup"},
	} {
		b := w.signIn(key)
		var got []string
		for _, m := range menuEntry.FindAllStringSubmatch(b.get("/").body, -1) {
			got = append(got, m[2]+" "+m[1])
		}
		if menu := got[:min(len(want), len(got))]; !slices.Equal(menu, want) {
			t.Errorf("the menu is %q, want %q", menu, want)
		}
		if rest := got[min(len(want), len(got)):]; !slices.Equal(rest, want[4:]) {
			t.Errorf("More is %q, want %q", rest, want[4:])
		}
	}
}

// TestPagesSayWhereTheyAre asks which entries are marked as the present one.
func TestPagesSayWhereTheyAre(t *testing.T) {
	t.Parallel()
	b := begin(t).signIn(ownerKey)
	here := regexp.MustCompile(`<a [^>]*href="([^"]+)"[^>]* aria-current="page"`)
	for path, want := range map[string][]string{
		"/": {"/", "/"}, "/alerts": {"/alerts", "/alerts", "/alerts"}, "/datasources": {"/rules", "/rules", "/datasources"},
		"/teams/7000000000021": {"/setup", "/setup", "/teams"}, "/health/server": {"/setup", "/setup", "/health/server"}, "/me/security": {"/me", "/me/security"},
	} {
		var got []string
		for _, m := range here.FindAllStringSubmatch(b.get(path).body, -1) {
			got = append(got, m[1])
		}
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestSetUpCountsWorstProblems makes a channel from which no one is notified: the menu has it within a minute, for those who may
// read it.
func TestSetUpCountsWorstProblems(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	const problems = `<span class="problems">1<span`
	owner.get("/").shows("!" + problems)
	w.call(ownerKey, "/channel/create", `{"channel_name": "Alone", "team_id": 7000000000021}`)
	owner.get("/").shows("!" + problems) // the whole account is not read for every page
	w.clock.Add(time.Minute)
	owner.get("/").shows(problems)
	w.anyone(w.kindOf("nobody", nil)).get("/").shows("!" + problems)
	owner.get("/teams").shows(problems)
	w.clock.Add(10 * time.Second)
	w.signIn(emptyKey).get("/").shows("!" + problems)
}
