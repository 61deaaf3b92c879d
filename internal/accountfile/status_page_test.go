package accountfile_test

import (
	"strings"
	"testing"

	"tocsin/internal/accountfile"
	"tocsin/internal/statuspage"
)

// An apply that changes a page keeps its changes, which are history; one that deletes it deletes them too.
func TestApplyKeepsChangesOfPage(t *testing.T) {
	h := newInstallation(t)
	f := read(t, byHand(t))
	f.StatusPages = []statuspage.Page{{PageID: 7, Name: "Acme", URLName: "acme", Components: []statuspage.Component{{ComponentID: "c", Name: "C"}}}}
	f.StatusChanges = []statuspage.Change{{ChangeID: 9, PageID: 7, Type: "incident", Title: "Slow", StartAt: 5, Updates: []statuspage.Update{
		{UpdateID: "u", At: 5, Status: "investigating", Components: []statuspage.ComponentChange{{ComponentID: "c", Status: "degraded"}}},
	}}}
	h.apply(t, f, accountfile.Options{})
	for _, c := range []struct {
		change func(f *accountfile.File)
		plan   string
		title  bool
	}{
		{func(*accountfile.File) {}, "", true},
		{func(f *accountfile.File) { f.StatusPages[0].Name, f.StatusChanges = "Other", nil }, `change status_page 7 name: "Acme" -> "Other"`, true},
		{func(f *accountfile.File) { f.StatusPages, f.StatusChanges = nil, nil }, "delete status_page 7", false},
	} {
		f := read(t, h.export(t, bluewhale, false))
		c.change(f)
		plan, _ := h.apply(t, f, accountfile.Options{Prune: true})
		if strings.Join(plan, "; ") != c.plan {
			t.Errorf("%q, want %q", plan, c.plan)
		}
		if got := strings.Contains(h.export(t, bluewhale, true), "Slow"); got != c.title {
			t.Errorf("after %q the change is there: %t", plan, got)
		}
	}
}

// Two pages of a file cannot have the same name in URLs.
func TestStatusPagesOfFileAreUnique(t *testing.T) {
	h := newInstallation(t)
	f := read(t, byHand(t))
	f.StatusPages = []statuspage.Page{{PageID: 7, Name: "A", URLName: "acme"}, {PageID: 8, Name: "B", URLName: "acme"}}
	if err := h.load(f, false); err == nil || !strings.Contains(err.Error(), "status_pages[1].url_name") {
		t.Error(err)
	}
}
