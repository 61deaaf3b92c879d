package source_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"tocsin/internal/core/event"
	"tocsin/internal/source"
)

// words has every known word by its severity, as docs/sources.md lists them.
var words = map[string]string{
	event.Critical: "page critical crit fatal emergency emerg panic disaster blocker urgent p0 p1 p2 sev0 sev1 s1 error err high major",
	event.Warning:  "warning warn p3 sev2 sev3 moderate medium minor ticket average",
	event.Info:     "info p4 p5 sev4 sev5 low notice debug none informational acknowledged unknown unk",
	event.Ok:       "ok",
}

func TestSeverityWords(t *testing.T) {
	t.Parallel()
	for severity, list := range words {
		for word := range strings.FieldsSeq(list) {
			for _, label := range []string{"severity", "priority"} {
				want := source.Rating{Severity: severity, Word: word}
				if got := source.SeverityMap(nil).Rate(map[string]string{label: word}); got != want {
					t.Errorf("%s=%s: %+v, want %+v", label, word, got, want)
				}
			}
			level := severity
			if severity == event.Critical && !strings.Contains(" critical fatal emerg panic ", " "+word+" ") {
				level = event.Warning
			}
			if got := source.SeverityMap(nil).Rate(map[string]string{"level": word}); got.Severity != level || got.Unknown {
				t.Errorf("level=%s: %+v, want %s", word, got, level)
			}
		}
	}
}

// TestSeverityWordsIgnoreCase compares words in random case and with spaces around with the same words in lower case.
func TestSeverityWordsIgnoreCase(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	own := source.SeverityMap{"tier one": event.Critical, "störung": event.Info}
	all := append(strings.Fields(strings.Join([]string{words[event.Critical], words[event.Warning], words[event.Info], words[event.Ok]}, " ")),
		"tier one", "störung", "no such word")
	for range 2000 {
		word, label := all[r.IntN(len(all))], []string{"severity", "priority", "level"}[r.IntN(3)]
		written := strings.Map(func(c rune) rune {
			if r.IntN(2) == 0 {
				return unicode.ToUpper(c)
			}
			return c
		}, word)
		want := own.Rate(map[string]string{label: word})
		want.Word = written
		if got := own.Rate(map[string]string{label: strings.Repeat(" ", r.IntN(3)) + written + "\t"}); got != want {
			t.Fatalf("seed %d: %s=%q: %+v, want %+v", seed, label, written, got, want)
		}
	}
}

func TestUnknownSeverityHidesNoOtherLabel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		severity, priority, level string
		want                      source.Rating
	}{
		{"", "", "", source.Rating{Severity: event.Warning}},
		{"  ", "", "", source.Rating{Severity: event.Warning}},
		{"page", "P4", "info", source.Rating{Severity: event.Critical, Word: "page"}},
		{"info", "P1", "fatal", source.Rating{Severity: event.Info, Word: "info"}},
		{" ", "P1", "", source.Rating{Severity: event.Critical, Word: "P1"}},
		{"team-a", "P1", "", source.Rating{Severity: event.Critical, Word: "P1"}},
		{"team-a", "P4", "critical", source.Rating{Severity: event.Info, Word: "P4"}},
		{"team-a", "", "", source.Rating{Severity: event.Warning, Word: "team-a", Unknown: true}},
		{"team-a", "x", "", source.Rating{Severity: event.Warning, Word: "team-a", Unknown: true}},
		{"", "x", "y", source.Rating{Severity: event.Warning, Word: "x", Unknown: true}},
		{"", "", "error", source.Rating{Severity: event.Warning, Word: "error"}},
		{"", "", "Fatal", source.Rating{Severity: event.Critical, Word: "Fatal"}},
		{"team-a", "", "error", source.Rating{Severity: event.Warning, Word: "team-a", Unknown: true}},
		{"team-a", "", "panic", source.Rating{Severity: event.Critical, Word: "team-a", Unknown: true}},
		{"team-a", "", "debug", source.Rating{Severity: event.Info, Word: "team-a", Unknown: true}},
		{"team-a", "ok", "ok", source.Rating{Severity: event.Warning, Word: "team-a", Unknown: true}},
		{"ok", "P1", "", source.Rating{Severity: event.Ok, Word: "ok"}},
	} {
		labels := map[string]string{"severity": c.severity, "priority": c.priority, "level": c.level}
		if got := source.SeverityMap(nil).Rate(labels); got != c.want {
			t.Errorf("%q: %+v, want %+v", labels, got, c.want)
		}
	}
}

// TestSeverityMapPrecedesTable maps known and unknown words; the bound of the label level holds for the table alone.
func TestSeverityMapPrecedesTable(t *testing.T) {
	t.Parallel()
	own := source.SeverityMap{"ticket": event.Info, "tier1": event.Critical, "error": event.Critical}
	for labels, want := range map[[3]string]source.Rating{
		{"Ticket", "", ""}:      {Severity: event.Info, Word: "Ticket"},
		{"TIER1", "P5", "info"}: {Severity: event.Critical, Word: "TIER1"},
		{"x", "tier1", ""}:      {Severity: event.Critical, Word: "tier1"},
		{"", "", "error"}:       {Severity: event.Critical, Word: "error"},
		{"", "", "err"}:         {Severity: event.Warning, Word: "err"},
		{"page", "", ""}:        {Severity: event.Critical, Word: "page"},
	} {
		if got := own.Rate(map[string]string{"severity": labels[0], "priority": labels[1], "level": labels[2]}); got != want {
			t.Errorf("%q: %+v, want %+v", labels, got, want)
		}
	}
}

// TestSeverityWordIsBounded: a long or broken word is kept in part, and can be mapped by that part.
func TestSeverityWordIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("É", 100)
	kept := strings.Repeat("É", event.MaxSeverityWord)
	if got := source.SeverityMap(nil).Rate(map[string]string{"severity": long}); got.Word != kept {
		t.Errorf("%+v", got)
	}
	if got := (source.SeverityMap{source.SeverityKey(kept): event.Info}).Rate(map[string]string{"severity": long}); got.Severity != event.Info {
		t.Errorf("%+v", got)
	}
	if got := source.SeverityMap(nil).Rate(map[string]string{"severity": "a\x00\xff"}); got.Word != "a\uFFFD" {
		t.Errorf("%+v", got)
	}
}
