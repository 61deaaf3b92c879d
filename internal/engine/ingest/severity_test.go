package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api/apitest"
	"tocsin/internal/core/event"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/ratelimit"
)

// firing pushes alerts of Prometheus with some values of the label severity.
func (r *fixture) firing(status string, words ...string) {
	r.t.Helper()
	var alerts []string
	for n, word := range words {
		alerts = append(alerts, fmt.Sprintf(`{"status": %q, "labels": {"alertname": "a%d", "severity": %q}}`, status, n, word))
	}
	if a := r.send("POST", "alert/prometheus?integration_key="+keyTheirs, []byte(`{"alerts": [`+strings.Join(alerts, ",")+`]}`)); a.status != 200 {
		r.t.Fatalf("%+v", a)
	}
}

// severities returns the stored events as severity and word, in the order of arrival.
func (r *fixture) severities() (all []string) {
	r.t.Helper()
	r.Read(func(tx *db.Tx) error {
		bodies, err := db.All(tx, db.Column[string], `SELECT body FROM event ORDER BY received_at`)
		for _, body := range bodies {
			var e event.Event
			if err := json.Unmarshal([]byte(body), &e); err != nil {
				return err
			}
			all = append(all, e.Severity+" "+e.Word)
		}
		return err
	})
	return all
}

// theirInfo returns the reply of /integration/info about the source of account B.
func (r *fixture) theirInfo() (info integration.Info) {
	r.t.Helper()
	r.Call(apitest.KeyB, "/integration/info", map[string]any{"integration_id": theirs}).Into(&info)
	return info
}

func TestUnknownSeveritiesAreCountedByWord(t *testing.T) {
	t.Parallel()
	r := newFixture(t, ratelimit.Rate{})
	r.firing("firing", "page", "Foo", "foo ", "bar")
	r.firing("resolved", "foo")
	if got := strings.Join(r.severities(), ", "); got != "Critical page, Warning Foo, Warning foo, Warning bar, Warning foo" {
		t.Errorf("stored %s", got)
	}
	if info := r.theirInfo(); info.Unknown != nil {
		t.Errorf("before they are stored: %+v", info.Unknown)
	}
	store := func() {
		t.Helper()
		if err := r.StoreCounts(t.Context(), apitest.Now); err != nil {
			t.Fatal(err)
		}
	}
	store()
	store()
	at := apitest.Now.Unix()
	want := []integration.UnknownSeverity{{Word: "foo", Events: 2, LastAt: at}, {Word: "bar", Events: 1, LastAt: at}}
	if info := r.theirInfo(); fmt.Sprint(info.Unknown) != fmt.Sprint(want) {
		t.Errorf("%+v", info.Unknown)
	}
	r.Call(apitest.KeyB, "/integration/update", map[string]any{"integration_id": theirs, "settings": map[string]any{"severity_map": map[string]string{"FOO": "Info"}}}).Into(&struct{}{})
	if info := r.theirInfo(); fmt.Sprint(info.Unknown) != fmt.Sprint(want[1:]) {
		t.Errorf("after it was mapped: %+v", info.Unknown)
	}
}

// TestSeverityMapHoldsForNextEvent maps a known word and an unknown word.
func TestSeverityMapHoldsForNextEvent(t *testing.T) {
	t.Parallel()
	r := newFixture(t, ratelimit.Rate{})
	r.Call(apitest.KeyB, "/integration/update", map[string]any{"integration_id": theirs, "settings": map[string]any{"severity_map": map[string]string{"Foo": "Critical", "page": "Info"}}}).Into(&struct{}{})
	r.firing("firing", "FOO", "page", "ticket")
	if got := strings.Join(r.severities(), ", "); got != "Critical FOO, Info page, Warning ticket" {
		t.Errorf("stored %s", got)
	}
	if err := r.StoreCounts(t.Context(), apitest.Now); err != nil {
		t.Fatal(err)
	}
	if info := r.theirInfo(); info.Unknown != nil {
		t.Errorf("%+v", info.Unknown)
	}
}

// TestUnknownSeveritiesAreBounded: a sender that chooses a new word for each alert fills neither memory nor database.
func TestUnknownSeveritiesAreBounded(t *testing.T) {
	t.Parallel()
	r := newFixture(t, ratelimit.Rate{})
	for round := range 3 {
		var words []string
		for n := range 200 {
			words = append(words, fmt.Sprintf("w-%d-%d %s", round, n, strings.Repeat("x", 300)))
		}
		r.firing("firing", words...)
		if err := r.StoreCounts(t.Context(), apitest.Now); err != nil {
			t.Fatal(err)
		}
	}
	unknown := r.theirInfo().Unknown
	if len(unknown) != integration.MaxUnknownSeverities {
		t.Errorf("%d words", len(unknown))
	}
	for _, u := range unknown {
		if len(u.Word) > event.MaxSeverityWord {
			t.Errorf("%d characters", len(u.Word))
		}
	}
}
