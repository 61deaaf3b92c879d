package event

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestShortenedEventIsBounded: whatever its texts, an event is cut to its bound, keeps short labels whole, and one within
// the bound stays as it is.
func TestShortenedEventIsBounded(t *testing.T) {
	long := strings.Repeat("\U0001F525", MaxLabelValue)
	labels := map[string]string{"host": "web-1", "service": "checkout"}
	for n := range MaxLabels - 2 {
		labels[fmt.Sprintf("%s%d", strings.Repeat("é", 100), n)] = long
	}
	for name, e := range map[string]Event{
		"all":          {Description: strings.Repeat("é", MaxDescription), Labels: labels, Images: []Image{{Src: long}}, Identifying: Identifying(labels)},
		"labels":       {Labels: map[string]string{"host": "web-1", "service": "checkout", "stack": long}},
		"images":       {Labels: map[string]string{"host": "web-1", "service": "checkout"}, Images: []Image{{Src: long, Href: long, Alt: long}}},
		"description":  {Labels: map[string]string{"host": "web-1", "service": "checkout"}, Description: long},
		"within, long": {Labels: map[string]string{"host": "web-1", "service": "checkout"}, Description: strings.Repeat("x", MaxShortened-24)},
	} {
		whole := e.large() <= MaxShortened
		if cut := e.Shorten(); cut == whole || e.Shortened == whole {
			t.Errorf("%s: cut %v", name, cut)
		}
		if e.large() > MaxShortened || e.Size() > 2*MaxShortened || e.Labels["host"] != "web-1" || e.Labels["service"] != "checkout" {
			t.Errorf("%s: %d bytes, %v", name, e.large(), e.Labels)
		}
		for _, value := range e.Labels {
			if !utf8.ValidString(value) {
				t.Errorf("%s: half a character", name)
			}
		}
		if !utf8.ValidString(e.Description) {
			t.Errorf("%s: half a character", name)
		}
		if e.Shorten() {
			t.Errorf("%s: cut twice", name)
		}
	}
}
