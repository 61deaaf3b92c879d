package remote_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"tocsin/internal/core/condition"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/engine/evaluator/remote"
)

// TestJSONKeepsAllValues: what one side writes, the other reads, with values that JSON itself does not have.
func TestJSONKeepsAllValues(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 2, 3, 4, 5000, time.UTC)
	value := 1e300
	for _, v := range []any{
		evaluate.Rule{ID: math.MaxUint64, Zone: zone, Interval: 1500 * time.Millisecond, Windows: []evaluate.Window{{Days: []int64{1}}}},
		evaluate.Rule{ID: 1},
		evaluator.Batch{AsOf: at, Transitions: []evaluate.Transition{{
			At: at, Value: &value, Why: []sentence.Value{sentence.New("mon_within", 10)},
			Clauses: []condition.Clause{{Text: "$A > 1", Left: condition.Number(math.Inf(1))}},
			Rows:    []evaluate.Answer{{Query: "A", Rows: []evaluate.Row{{Values: evaluate.Values{{Field: "a", Number: math.Inf(-1)}, {Field: "b", Number: 0.1}}}}}},
		}}},
		evaluator.Saved{Key: evaluator.Key{Account: 1, Rule: math.MaxUint64}, State: `{"v":1}`, Open: []evaluate.Instance{{Since: at}}},
		remote.SyncRequest{Report: evaluator.Report{Digests: map[int64]uint64{3: math.MaxUint64}, Watches: []evaluator.WatchState{{Kind: evaluate.Missed, Since: at}}}},
	} {
		text, err := remote.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		got := reflect.New(reflect.TypeOf(v))
		if err := remote.Unmarshal(text, got.Interface()); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		again, err := remote.Marshal(got.Elem().Interface())
		if err != nil || string(again) != string(text) {
			t.Errorf("%s\n%s %v", text, again, err)
		}
	}
	var row evaluate.Row
	if err := remote.Unmarshal([]byte(`{"Values":{"a":"NaN"}}`), &row); err != nil || len(row.Values) != 1 || row.Values[0].Field != "a" || !math.IsNaN(row.Values[0].Number) {
		t.Error(row, err)
	}
}
