package rumintake

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/event"
	"tocsin/internal/core/rumerror"
	"tocsin/internal/core/stack"
)

var began = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

func TestTitleOfGroupNamesCount(t *testing.T) {
	t.Parallel()
	deploy := alertGroup{version: "2.0.1", opened: began.UnixMilli(), issues: 7}
	if got := deploy.title("Shop", began); got != "Shop: 7 new issues in 2.0.1" {
		t.Error(got)
	}
	further := alertGroup{opened: began.UnixMilli(), issues: 1}
	further.put(listedIssue{"a", event.Info, "Error: a"})
	if got := further.title("Shop", began); got != "1 further new issue in application Shop this hour: Error: a" {
		t.Error(got)
	}
	further.issues = 34
	further.put(listedIssue{"b", event.Critical, "Error: b"})
	if got := further.title("Shop", began); got != "34 further new issues in application Shop this hour, such as Error: b" {
		t.Error(got)
	}
	if got := further.title("Shop", began.Add(time.Hour)); !strings.HasPrefix(got, "34 further new issues in application Shop within an hour") {
		t.Error(got)
	}
}

// The most severe issues are listed, each once. Issues that began first come before the others.
func TestGroupListsMostSevereIssues(t *testing.T) {
	t.Parallel()
	g := alertGroup{application: "app", version: "1"}
	for i := range 12 {
		g.issues++
		g.put(listedIssue{fmt.Sprint(i), event.Warning, fmt.Sprint("Error: ", i)})
	}
	g.put(listedIssue{"9", event.Critical, "Error: 9"})
	var ids []string
	for _, one := range g.listed {
		ids = append(ids, one.Issue)
	}
	if want := []string{"9", "0", "1", "2", "3", "4", "5", "6", "7", "8"}; !slices.Equal(ids, want) {
		t.Error(ids)
	}
	if text := g.text("https://tocsin.example.com/"); g.severity != event.Critical || !strings.HasPrefix(text, "Critical: Error: 9\nWarning: Error: 0\n") ||
		!strings.HasSuffix(text, "\nand 2 more\nhttps://tocsin.example.com/rum/applications/app") {
		t.Errorf("%s\n%s", g.severity, text)
	}
}

func TestTextOfGroupFitsDescription(t *testing.T) {
	t.Parallel()
	g := alertGroup{issues: 100}
	for i := range maxListed {
		g.put(listedIssue{fmt.Sprint(i), event.Critical, strings.Repeat("é", 600)})
	}
	if text := g.text("https://tocsin.example.com"); len([]rune(text)) > event.MaxDescription || !strings.Contains(text, "and 90 more") {
		t.Error(len([]rune(text)), text)
	}
}

func TestPlaceOfError(t *testing.T) {
	t.Parallel()
	library := stack.Frame{File: "https://shop.example.com/vendor.js", Line: 1, Column: 2, Function: "call"}
	own := stack.Frame{File: "https://shop.example.com/app.js?token=hidden", Line: 3, Column: 4, Function: "pay"}
	for _, c := range []struct {
		frames []stack.Frame
		want   string
	}{
		{nil, ""},
		{[]stack.Frame{library, own}, "pay, https://shop.example.com/app.js:3:4"},
		{[]stack.Frame{library}, "call, https://shop.example.com/vendor.js:1:2"},
		{[]stack.Frame{{File: "https://shop.example.com/app.js", Line: 3, Column: 4}}, "https://shop.example.com/app.js:3:4"},
		{[]stack.Frame{{File: "<anonymous>"}}, "<anonymous>"},
	} {
		if got := placeOf(&rumerror.Error{Frames: c.frames}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
