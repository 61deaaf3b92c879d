package triage_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/core/event"
)

// Events in one batch see the effects of the events before them, which are not stored yet. The result is that of deciding
// each event by itself. TOCSIN_TRIAGE_SEEDS sets how many runs the test makes.
func TestBatchResultsEqualSingleResults(t *testing.T) {
	t.Parallel()
	rules := `,"inhibit_rules": [{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e0a", "channel_id": 7000000000041, "rule_name": "less", "equals": ["labels.host"],
		"source_filters": [[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]], "target_filters": [[{"key": "severity", "oper": "IN", "vals": ["Warning", "Info"]}]]}]}`
	text := strings.Replace(file, `"channel_name": "Shop"}`, `"channel_name": "Shop", "group": {"method": "p", "equals": [["labels.host"]], "time_window": 5}}`, 1)
	text = strings.TrimSuffix(text, "}") + rules
	for seed := range uint64(apitest.Setting(t, "TOCSIN_TRIAGE_SEEDS", 4)) {
		batch, single := newFixtureOf(t, text), newFixtureOf(t, text)
		for _, r := range []*fixture{batch, single} {
			rng := rand.New(rand.NewPCG(seed, 9))
			for range 10 {
				for range 1 + rng.IntN(12) {
					key := rng.IntN(4)
					r.take(sink, []string{"t", "u", "noise"}[rng.IntN(3)], fmt.Sprint("k", key), []string{event.Critical, event.Warning, event.Info, event.Ok}[rng.IntN(4)], map[string]string{"host": fmt.Sprint(key % 2)})
					if r == single {
						r.runs()
					}
				}
				r.runs()
				r.now = r.now.Add(time.Duration(rng.IntN(8)) * time.Minute)
				again := r.Jobs()[1]
				for range 2 { // the second reports what the rounds of the first returned
					if _, err := again.Run(t.Context(), r.now); err != nil {
						t.Fatal(err)
					}
					again.Wait()
				}
			}
		}
		if got, want := batch.story(), single.story(); got != want {
			t.Fatalf("seed %d:\n%s\nwant\n%s", seed, got, want)
		}
	}
}
