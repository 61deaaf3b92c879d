package api_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
)

// TestChecksAgreeWithDocument sends random requests, good and bad, and compares the frame's verdict with that of an
// independent validator of the published schema. An empty text where it counts as absent is left out of what the validator
// sees. Integers beyond their width and in other notations, which schemas do not distinguish, are left to TestIntegers.
func TestChecksAgreeWithDocument(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, toys())
	published := apitest.OpenAPISchema(t, s.Frame, "/paths/~1toy~1echo/post/requestBody/content/application~1json/schema")
	const seed = 20261121
	rnd := rand.New(rand.NewPCG(seed, 0))
	accepted := 0
	const rounds = 1500
	for i := range rounds {
		body, err := json.Marshal(toysFields.object(rnd, 0))
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"kind", "id"} {
			if seen, ok := document.(map[string]any); ok && seen[name] == "" {
				delete(seen, name)
			}
		}
		ours, theirs := api.Check(s.Frame, echo, body), published.Validate(document)
		if (ours == nil) != (theirs == nil) {
			t.Fatalf("seed %d, request %d: %s\nthe frame: %v\nthe schema: %v", seed, i, body, ours, theirs)
		}
		if ours == nil {
			accepted++
		}
	}
	if accepted < rounds/10 || accepted > rounds*9/10 {
		t.Errorf("%d of %d accepted: too few of one kind to prove anything", accepted, rounds)
	}
}

// randomField generates a value of a field: most often one of fine, else one of odd.
type randomField struct {
	name     string
	required bool
	fine     []any
	made     func(r *rand.Rand, depth int) any
}

type randomFields []randomField

var odd = []any{nil, true, 0, 1, -1, 2, 101, 0.25, 0.75, "", "a", "red", "Red", "00ff", "AB", "ab", "日本語日本", "日本語日本語", []any{}, []any{nil}, []any{"a"}, []any{1}, map[string]any{}, map[string]any{"weight": 1}, map[string]any{"x": "y"}, map[string]any{"x": nil}}

var partFields, toysFields randomFields

func init() { // the two tables hold functions that use them
	part := func(r *rand.Rand, depth int) any { return partFields.object(r, depth+1) }
	parts := func(r *rand.Rand, depth int) any {
		list := []any{}
		for range r.IntN(4) {
			list = append(list, part(r, depth))
		}
		return list
	}
	partFields = randomFields{
		{"weight", true, []any{0, 1, 9}, nil},
		{"label", false, []any{"", "abcd"}, nil},
		{"inner", false, nil, part},
		{"parts", false, nil, parts},
	}
	toysFields = randomFields{
		{"name", true, []any{"a", "abcde", "日本語日本"}, nil},
		{"count", true, []any{1, 50, 100}, nil},
		{"maybe", true, []any{nil, nil, map[string]any{"weight": 1}}, nil},
		{"big", false, []any{0, -1, 1 << 60}, nil},
		{"huge", false, []any{0, 1 << 60}, nil},
		{"mode", false, []any{0, 1}, nil},
		{"ratio", false, []any{0, 0.25, 0.5}, nil},
		{"on", false, []any{true, false}, nil},
		{"kind", false, []any{"red", "blue"}, nil},
		{"id", false, []any{"00ff"}, nil},
		{"code", false, []any{"", "AB"}, nil},
		{"tags", false, []any{[]any{"a"}, []any{"a", "b", "abcd"}}, nil},
		{"ids", false, []any{[]any{}, []any{0, 1, 2, 3}}, nil},
		{"labels", false, []any{map[string]any{}, map[string]any{"a.b": ""}}, nil},
		{"counts", false, []any{map[string]any{"x": -1, "y": 1}}, nil},
		{"bag", false, []any{map[string]any{"size": 1}, map[string]any{"size": 2, "note": nil, "zip": odd}, map[string]any{"size": 0}}, nil},
		{"parts", false, nil, parts},
		{"free", false, odd, nil},
		{"colour", false, []any{"", "red"}, nil},
		{"unknown", false, odd, nil},
	}
}

// object generates an object.
func (fields randomFields) object(r *rand.Rand, depth int) map[string]any {
	object := map[string]any{}
	for _, f := range fields {
		if f.required && r.IntN(40) == 0 || !f.required && r.IntN(4) != 0 {
			continue
		}
		switch {
		case r.IntN(30) == 0:
			object[f.name] = odd[r.IntN(len(odd))]
		case f.made == nil:
			object[f.name] = f.fine[r.IntN(len(f.fine))]
		case depth <= 3:
			object[f.name] = f.made(r, depth)
		}
	}
	return object
}

// TestCheckStopsAtFirstFault: else a megabyte of faults would cost a hundred megabytes.
func TestCheckStopsAtFirstFault(t *testing.T) {
	s := apitest.Start(t, toys())
	spent := func(field string) float64 {
		body := []byte(with(`"` + field + `":[` + strings.Repeat(`true,`, 5_000) + `true]`))
		return testing.AllocsPerRun(3, func() { api.Check(s.Frame, echo, body) })
	}
	if none, many := spent("unknown"), spent("parts"); many > none+100 {
		t.Errorf("%.0f allocations without a fault, %.0f with many", none, many)
	}
	err := api.Check(s.Frame, echo, []byte(with(`"parts":[true,true]`)))
	if err == nil || !strings.Contains(err.Error(), "parts[0]") {
		t.Errorf("%v", err)
	}
}
