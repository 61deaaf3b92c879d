// Package sourcetest tests every reader of a source in the same way: its payloads against golden files, the
// bounds of events, and malformed input. It is for tests, and the product must never import it.
package sourcetest

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"tocsin/internal/core/event"
	"tocsin/internal/source"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// Came is the moment at which all payloads are received.
var Came = time.Date(2026, 4, 13, 4, 0, 0, 0, time.UTC)

// request returns the request with a body.
func request(body []byte) source.Request {
	return source.Request{Body: body, At: Came, MaxAlerts: source.MaxAlerts}
}

// Golden reads the payloads testdata/*.json and compares the result of each with testdata/golden.
func Golden(t *testing.T, parse source.Parser) {
	t.Helper()
	Payloads(t, func(body []byte) (any, error) {
		batch, err := parse(request(body))
		for _, e := range batch.Events {
			if err == nil {
				Bounded(t, e)
			}
		}
		return batch, err
	})
}

// Payloads is Golden for readers that return no source.Batch.
func Payloads(t *testing.T, read func(body []byte) (any, error)) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d payloads, %v", len(files), err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		made, err := read(body)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		got, err := json.MarshalIndent(made, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata/golden", filepath.Base(file))
		if *update {
			if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || string(want) != string(got)+"\n" {
			t.Errorf("%s differs (%v); got\n%s", golden, err, got)
		}
	}
}

// Refuses checks that a reader refuses each body with an error that contains the text.
func Refuses(t *testing.T, parse source.Parser, bodies map[string]string) {
	t.Helper()
	for body, want := range bodies {
		if batch, err := parse(request([]byte(body))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.120s: %+v, %v; want %s", body, batch, err, want)
		}
	}
}

// One returns the event of a body that must hold exactly one.
func One(t *testing.T, parse source.Parser, body string) event.Event {
	t.Helper()
	batch, err := parse(request([]byte(body)))
	if err != nil || len(batch.Events) != 1 || len(batch.Refused) != 0 {
		t.Fatalf("%.120s: %+v, %v; want one event", body, batch, err)
	}
	Bounded(t, batch.Events[0])
	return batch.Events[0]
}

// Bounded checks that an event is within the bounds that every reader promises.
func Bounded(t *testing.T, e event.Event) {
	t.Helper()
	length := utf8.RuneCountInString
	switch {
	case !slices.Contains([]string{event.Critical, event.Warning, event.Info, event.Ok}, e.Status):
		t.Errorf("status %q", e.Status)
	case event.Rank(e.Severity) == 0:
		t.Errorf("severity %q", e.Severity)
	case e.AlertKey == "" || length(e.AlertKey) > event.MaxAlertKey:
		t.Errorf("key of %d characters", length(e.AlertKey))
	case e.Title == "" || length(e.Title) > event.MaxTitle || length(e.TitleRule) > event.MaxTitle || length(e.Description) > event.MaxDescription:
		t.Errorf("title of %d, rule of %d, description of %d characters", length(e.Title), length(e.TitleRule), length(e.Description))
	case len(e.Labels) > event.MaxLabels || len(e.Images) > source.MaxImages:
		t.Errorf("%d labels, %d images", len(e.Labels), len(e.Images))
	case e.Time <= 0:
		t.Errorf("time %d", e.Time)
	}
	for name, value := range e.Labels {
		if name == "" || length(name) > event.MaxLabelKey || length(value) > event.MaxLabelValue {
			t.Errorf("label %.40q of %d characters", name, length(value))
		}
	}
	for _, i := range e.Images {
		if !source.IsURL(i.Src) && !strings.HasPrefix(i.Src, "img_") || i.Href != "" && !source.IsURL(i.Href) || length(i.Src) > source.MaxURL || length(i.Href) > source.MaxURL || length(i.Alt) > source.MaxAlt {
			t.Errorf("image %.300q", i)
		}
	}
	if all := fmt.Sprint(e); !utf8.ValidString(all) || strings.ContainsRune(all, 0) {
		t.Errorf("broken text in %q", all)
	}
}

// Fuzz checks that a reader does not panic on any body, keeps to the bounds, and returns the same for the same body.
func Fuzz(f *testing.F, parse source.Parser) {
	files, _ := filepath.Glob("testdata/*.json")
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		batch, err := parse(request(body))
		again, errAgain := parse(request(body))
		if fmt.Sprint(batch, err) != fmt.Sprint(again, errAgain) {
			t.Errorf("%v %v and %v %v of the same", batch, err, again, errAgain)
		}
		if err == nil {
			for _, e := range batch.Events {
				Bounded(t, e)
			}
		}
	})
}
