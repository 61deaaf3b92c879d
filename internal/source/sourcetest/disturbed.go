package sourcetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/source"
)

// Disturbed passes a reader its payloads with members replaced at random by odd values, which fuzzing of bytes
// seldom does: the JSON is valid and its values are strange. The reader must keep its promises all the same.
func Disturbed(t *testing.T, parse source.Parser) {
	t.Helper()
	taken := 0
	DisturbedBodies(t, func(body []byte) {
		batch, err := parse(request(body))
		again, errAgain := parse(request(body))
		if one, two := fmt.Sprint(batch, err), fmt.Sprint(again, errAgain); one != two {
			t.Errorf("%s\nand\n%s\nof the same", one, two)
		}
		if err != nil && len(batch.Events) > 0 {
			t.Errorf("events with an error: %v, %v", batch.Events, err)
		}
		for _, e := range batch.Events {
			Bounded(t, e)
		}
		for _, r := range batch.Refused {
			if r.Field == "" || r.Message == "" {
				t.Errorf("refused without a name or a reason: %+v", r)
			}
		}
		taken += len(batch.Events)
	})
	if taken < rounds/4 {
		t.Errorf("only %d events: payloads disturbed this much test nothing", taken)
	}
}

// Steady checks that a reader returns the same for the same body. The bodies have members that could be read in
// more than one order, and a map iterates in a different order each time.
func Steady(t *testing.T, parse source.Parser, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		seen := map[string]bool{}
		for range 50 {
			batch, err := parse(request([]byte(body)))
			seen[fmt.Sprint(batch, err)] = true
		}
		if len(seen) != 1 {
			t.Errorf("%s: %d different results: %v", body, len(seen), slices.Collect(maps.Keys(seen)))
		}
	}
}

// rounds is how often each payload is disturbed.
const rounds = 150

// DisturbedBodies calls read with one disturbed body after the other, for readers that return no source.Batch.
func DisturbedBodies(t *testing.T, read func(body []byte)) {
	t.Helper()
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d payloads, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for range rounds {
			var document any
			if err := json.Unmarshal(text, &document); err != nil {
				t.Fatal(file, err)
			}
			body, err := json.Marshal(disturb(r, document))
			if err != nil {
				t.Fatal(err)
			}
			if read(body); t.Failed() {
				t.Fatalf("seed %d, %s: %.3000s", seed, file, body)
			}
		}
	}
}

// disturb changes members of a document at random: they become odd, are deleted or are repeated.
func disturb(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			switch {
			case r.IntN(10) == 0:
				v[name] = odd[r.IntN(len(odd))]
			case r.IntN(20) == 0:
				delete(v, name)
			default:
				v[name] = disturb(r, v[name])
			}
		}
	case []any:
		for i := range v {
			v[i] = disturb(r, v[i])
		}
		if len(v) > 0 && r.IntN(6) == 0 {
			return append(v, v[r.IntN(len(v))])
		}
		return v
	}
	if r.IntN(20) == 0 {
		return odd[r.IntN(len(odd))]
	}
	return v
}

// odd holds replacements of members: texts beyond every bound, broken texts, invalid URLs, other types.
var odd = []any{
	"", " ", "\x00", "a\x00b", strings.Repeat("é", 2100), strings.Repeat("long ", 500), "\x00" + strings.Repeat("l", 4000), strings.Repeat("k", 256), "$service::$",
	"javascript://example.com/%0aalert(1)", "https://example.com/" + strings.Repeat("a", 300), "img_", "img_\x00", "resolved", "firing", "Ok", "resolve", "0", "1",
	"253402300800", "-62135596800", "9223372036854775807", "2026-04-13T03:59:00Z", "9999-12-31T23:59:59Z", nil, true, 0, -1, 1e300, 253402300800,
	[]any{}, []any{nil, 1, "a:b", []any{"c", "d"}, map[string]any{"tag": "e", "value": 5}}, map[string]any{}, many(), map[string]any{"9a": "b", "a-b": "c", "é": "d"},
	map[string]any{"a": map[string]any{"b": 1, "c": map[string]any{"d": map[string]any{"e": 1}}}, "a.b": 2, "\x00": "x"},
	`[{"tag": "in", "value": "a text"}, 5]`, `{"in": {"a": "text"}}`, `"\"[[[["`,
}

// many returns more members than an event may have labels, some with names and values over the bounds.
func many() map[string]any {
	all := map[string]any{}
	for i := range 80 {
		all[fmt.Sprintf("name_%02d%s", i, strings.Repeat("n", i%10*20))] = strings.Repeat("v", i%8*300)
	}
	return all
}
