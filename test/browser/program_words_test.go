package browser

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tocsin/test/browser/world"
)

var (
	// programIDs are ids of numbers and of hexadecimal digits, and places in a list, counted from 0.
	programIDs = regexp.MustCompile(`\b(?:\d{13,}|[0-9a-f]{24})\b|\bcase_\d+\b|\b\w+\[\d+\]`)
	// programNames may be members of requests, codes of events, or constants.
	programNames = regexp.MustCompile(`\b[a-z]+(?:_[a-z\d]+)+\b`)
)

// subjects are the pages that show what was sent to the API, where a member or an id is the subject.
var subjects = []string{"/audit/{id}?at"}

// typed is what a person types as it stands.
const typed = "group_key"

// Pages name things as people do: ids, members and constants of the API stand only in samples of code, and names with a _ only where
// people or sources wrote them.
func TestNoProgramWordIsShown(t *testing.T) {
	t.Parallel()
	w := full(t)
	c := client(t, w, w.Keys.All)
	data, api := written(t, w), apiNames(t, w)
	left, pages := map[string]string{}, 0
	look := func(path string, a world.Answer) {
		pages++
		shape := world.Shape(path)
		if slices.Contains(subjects, shape) {
			return
		}
		for _, text := range shown(a.HTML) {
			words := programIDs.FindAllString(text.text, -1)
			for _, name := range programNames.FindAllString(text.text, -1) {
				if name != typed && (api[name] || !strings.Contains(data, name)) {
					words = append(words, name)
				}
			}
			for _, word := range words {
				left[shape+": "+word] = text.text
			}
		}
	}
	c.Crawl(func(v world.Visit) {
		if world.IsPage(v.Answer) {
			look(v.Path, v.Answer)
		}
	}, "/")
	for _, word := range slices.Sorted(maps.Keys(left)) {
		t.Errorf("%s in %.200q", word, left[word])
	}
	if pages < 50 {
		t.Errorf("%d pages were found", pages)
	}
}

// apiNames returns the names of members and the constants of the API with a _ in them.
func apiNames(t *testing.T, w *world.World) map[string]bool {
	t.Helper()
	var document any
	if err := json.Unmarshal(w.Client(t).Get("/openapi.json").Body, &document); err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	var walk func(any)
	walk = func(v any) {
		list, _ := v.([]any)
		for _, one := range list {
			walk(one)
		}
		object, _ := v.(map[string]any)
		members, _ := object["properties"].(map[string]any)
		for name := range members {
			all[name] = strings.Contains(name, "_")
		}
		values, _ := object["enum"].([]any)
		for _, one := range values {
			name, _ := one.(string)
			all[name] = strings.Contains(name, "_")
		}
		for _, one := range object {
			walk(one)
		}
	}
	walk(document)
	return all
}
