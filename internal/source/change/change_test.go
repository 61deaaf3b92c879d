package change_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"tocsin/internal/core/event"
	"tocsin/internal/source"
	"tocsin/internal/source/change"
	"tocsin/internal/source/sourcetest"
)

func TestPayloads(t *testing.T) {
	sourcetest.Payloads(t, func(body []byte) (any, error) { return change.Parse(body, sourcetest.Came) })
}

func TestInvalidBodiesAreRefused(t *testing.T) {
	done := func(more string) string {
		return `{"title": "x", "change_key": "k", "change_status": "done"` + more + `}`
	}
	for body, want := range map[string]string{
		`{}`: "title: is required", `{"title": " "}`: "title: is required", `{"title": "x", "change_status": "over"}`: `change_status: must be Planned, Ready, Processing, Canceled or Done, got "over"`,
		`{"title": "x", "change_status": "ready"}`:                                                   "change_key: must have 1 to 255 characters, got 0",
		`{"title": "x", "change_status": "ready", "change_key": "` + strings.Repeat("x", 256) + `"}`: "got 256",
		done(`, "link": "javascript:alert(1)"`):                                                      "link: must be an http or https URL", done(`, "link": "https://e.com/` + strings.Repeat("x", 1024) + `"`): "link: must be",
		done(`, "labels": {` + many(51) + `}`): "labels: must be at most 50, got 51", done(`, "labels": []`): "labels: cannot be read: it must not be a list", `x`: "it is no JSON",
	} {
		if e, err := change.Parse([]byte(body), sourcetest.Came); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.120s: %+v, %v; want %s", body, e, err, want)
		}
	}
}

func many(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`"label_%d": "x"`, i)
	}
	return strings.Join(all, ", ")
}

func TestStatuses(t *testing.T) {
	for word, over := range map[string]bool{"planned": false, "Ready": false, "PROCESSING": false, "canceled": true, "Done": true} {
		if e, err := change.Parse([]byte(`{"title": "x", "change_key": "k", "change_status": "`+word+`"}`), sourcetest.Came); err != nil || !strings.EqualFold(e.Status, word) || change.Over(e.Status) != over {
			t.Errorf("%s: %+v, %v", word, e, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"title": "x", "change_key": "k", "change_status": "done", "link": "https://e.com", "labels": {"a": "b"}, "event_time": 1776050000}`))
	f.Fuzz(keepsPromises)
}

func TestDisturbed(t *testing.T) {
	sourcetest.DisturbedBodies(t, func(body []byte) { keepsPromises(t, body) })
}

// keepsPromises checks that the reader does not panic, keeps to the bounds, and returns the same for the same body.
func keepsPromises(t *testing.T, body []byte) {
	e, err := change.Parse(body, sourcetest.Came)
	again, errAgain := change.Parse(body, sourcetest.Came)
	if fmt.Sprint(e, err) != fmt.Sprint(again, errAgain) {
		t.Errorf("%v %v and %v %v of the same", e, err, again, errAgain)
	}
	if err != nil {
		return
	}
	length := utf8.RuneCountInString
	if e.Title == "" || length(e.Title) > event.MaxTitle || length(e.Description) > event.MaxDescription || e.Key == "" || length(e.Key) > event.MaxAlertKey || len(e.Labels) > event.MaxLabels || e.Time <= 0 {
		t.Errorf("out of bounds: %.1000q", fmt.Sprint(e))
	}
	if e.Link != "" && !source.IsURL(e.Link) {
		t.Errorf("link %q", e.Link)
	}
	if all := fmt.Sprint(e); !utf8.ValidString(all) || strings.ContainsRune(all, 0) {
		t.Errorf("broken text in %q", all)
	}
}
