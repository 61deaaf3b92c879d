package evaluate

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestReconcileMakesStoredWhatIsOpen: whatever part of the transitions was stored, the transitions that Reconcile returns lead from what
// is stored to what is open. Nothing begins that is stored, nothing ends that is not, and every end was found.
func TestReconcileMakesStoredWhatIsOpen(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		times := 1 + r.Int64N(3)
		w, err := New(Rule{Interval: time.Minute, Config: Config{
			Queries:        []Query{{Name: "A", Expr: "a"}},
			CheckThreshold: &Threshold{Counts: Counts{Enabled: true, AlertingCheckTimes: times, RecoveryCheckTimes: times}, Critical: "$A > 2", Warning: "$A > 1"},
		}}, "")
		if err != nil {
			t.Fatal(err)
		}
		stored, found := map[string]Instance{}, []Transition(nil)
		at, lost := time.Unix(0, 0), r.IntN(10)
		for range 40 {
			at = at.Add(time.Minute)
			var rows []Row
			for host := range 4 {
				if r.IntN(5) > 0 {
					rows = append(rows, Row{Labels: map[string]string{"host": fmt.Sprint(host)}, Values: Values{{Number: float64(r.IntN(4))}}})
				}
			}
			result := w.Step(at, []Answer{{Query: "A", Rows: rows}})
			if r.IntN(10) >= lost { // its reply may be lost
				put(stored, result.Transitions)
			}
			found = append(found, result.Transitions...)
		}
		if r.IntN(4) == 0 { // an older copy of the server was restored
			stored["threshold/x"] = Instance{Check: "threshold", Query: "A", Key: Key(map[string]string{"host": "x"}),
				Labels: map[string]string{"host": "x"}, Severity: "Warning", Since: at}
		}
		var open []Instance
		for _, i := range stored {
			open = append(open, i)
		}
		left, past := w.Reconcile(at, open, found)
		for _, c := range left {
			before, has := stored[c.Check+"/"+c.Labels["host"]]
			if (c.To == Begin) == has || has && c.From != before.Severity {
				t.Fatalf("seed %d: %s of %v, stored %v", seed, c.To, c.Labels, before)
			}
		}
		if n := len(found) - len(past); n > len(left) {
			t.Fatalf("seed %d: %d of %d are neither sent nor past", seed, n-len(left), len(found))
		}
		put(stored, left)
		firing := 0
		for _, i := range w.Instances() {
			if !i.Firing {
				continue
			}
			firing++
			if s := stored[i.Check+"/"+i.Labels["host"]]; s.Severity != i.Severity {
				t.Fatalf("seed %d: %v is %s, stored %q", seed, i.Labels, i.Severity, s.Severity)
			}
		}
		if firing != len(stored) || firing != w.opened {
			t.Fatalf("seed %d: %d open, %d counted, %d stored", seed, firing, w.opened, len(stored))
		}
	}
}

func put(stored map[string]Instance, all []Transition) {
	for _, c := range all {
		name := c.Check + "/" + c.Labels["host"]
		if c.To.Ends() {
			delete(stored, name)
			continue
		}
		stored[name] = Instance{Check: c.Check, Query: c.Query, Key: c.Key, Labels: c.Labels, Severity: c.Severity, Since: c.Since}
	}
}
