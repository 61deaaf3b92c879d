package source_test

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

	"tocsin/internal/event"
	"tocsin/internal/source"
	"tocsin/internal/source/grafana"
	"tocsin/internal/source/pagerduty"
	"tocsin/internal/source/prometheus"
	"tocsin/internal/source/sentry"
	"tocsin/internal/source/standard"
	"tocsin/internal/source/zabbix"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

var parsers = map[string]source.Parser{"standard": standard.Parse, "prometheus": prometheus.Parse, "grafana": grafana.Parse, "pagerduty": pagerduty.Parse, "zabbix": zabbix.Parse, "sentry": sentry.Parse}

var came = time.Date(2026, 4, 13, 4, 0, 0, 0, time.UTC)

// Payloads as the systems send them, in testdata/SOURCE_NAME.json, and what becomes of them beside it.
func TestPayloads(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d payloads, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		kind, _, _ := strings.Cut(name, "_")
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		batch, err := parsers[kind](body, came, nil)
		got := ""
		if err != nil {
			got = "error: " + err.Error()
		} else {
			text, _ := json.MarshalIndent(batch, "", "  ")
			got = string(text)
			for _, e := range batch.Events {
				bounded(t, name, e)
			}
		}
		golden := strings.TrimSuffix(file, ".json") + ".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(got+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, _ := os.ReadFile(golden)
		if got+"\n" != string(want) {
			t.Errorf("%s differs; got\n%s", golden, got)
		}
	}
}

// bounded holds an event to what every reader promises.
func bounded(t *testing.T, where string, e event.Event) {
	t.Helper()
	length := utf8.RuneCountInString
	switch {
	case !slices.Contains([]string{event.Critical, event.Warning, event.Info, event.Ok}, e.Status):
		t.Errorf("%s: status %q", where, e.Status)
	case event.Rank(e.Severity) == 0:
		t.Errorf("%s: severity %q", where, e.Severity)
	case e.AlertKey == "" || length(e.AlertKey) > event.MaxAlertKey:
		t.Errorf("%s: key of %d characters", where, length(e.AlertKey))
	case length(e.Title) > event.MaxTitle || length(e.TitleRule) > event.MaxTitle || length(e.Description) > event.MaxDescription:
		t.Errorf("%s: title of %d, description of %d characters", where, length(e.Title), length(e.Description))
	case len(e.Labels) > event.MaxLabels:
		t.Errorf("%s: %d labels", where, len(e.Labels))
	case e.Time <= 0:
		t.Errorf("%s: time %d", where, e.Time)
	}
	for name, value := range e.Labels {
		if name == "" || length(name) > event.MaxLabelKey || length(value) > event.MaxLabelValue {
			t.Errorf("%s: label %.40q of %d characters", where, name, length(value))
		}
	}
	all := fmt.Sprint(e)
	if !utf8.ValidString(all) || strings.ContainsRune(all, 0) {
		t.Errorf("%s: broken text in %q", where, all)
	}
}

func TestStandardRefuses(t *testing.T) {
	long := strings.Repeat("x", 300)
	for body, want := range map[string]string{
		`{}`: "title_rule", `[]`: "1 to 1000", `{"title_rule": "a", "event_status": "critical"}`: "event_status", `{"title_rule": "a", "event_status": "Ok"}`: "alert_key",
		`{"title_rule": "a", "event_status": "Info", "alert_key": "` + long + `"}`:                                            "255",
		`{"title_rule": "a", "event_status": "Info", "labels": {"1a": "b"}}`:                                                  "labels",
		`{"title_rule": "a", "event_status": "Info", "images": [{"src": "ftp://x"}]}`:                                         "images[0].src",
		`{"title_rule": "a", "event_status": "Info", "images": [{"src": "img_1", "alt": "x"}, {"src": "img_2", "alt": "x"}]}`: "images[1].alt",
		`{"title_rule": "a", "event_status": "Info", "images": [{"src": "img_1", "href": "javascript:alert(1)"}]}`:            "images[0].href",
		`{"title_rule": 5, "event_status": "Info"}`:                                                                           "cannot be read", `nonsense`: "cannot be read", `{"title_rule": "a", "event_status": "Info", "labels": {"a": "b"`: "cannot be read",
	} {
		if _, err := standard.Parse([]byte(body), came, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %s", body, err, want)
		}
	}
}

// Whatever comes, a reader does not fall over, keeps to the bounds, and says the same of the same.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.json")
	for _, file := range files {
		body, _ := os.ReadFile(file)
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for name, parse := range parsers {
			batch, err := parse(body, came, nil)
			again, errAgain := parse(body, came, nil)
			if fmt.Sprint(batch, err) != fmt.Sprint(again, errAgain) {
				t.Errorf("%s: %v and %v of the same", name, batch, again)
			}
			if err == nil {
				for _, e := range batch.Events {
					bounded(t, name, e)
				}
			}
		}
	})
}
