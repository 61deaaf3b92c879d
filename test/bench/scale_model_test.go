package main

import (
	"math"
	"testing"
	"time"
)

// With one server the time that calls take has a known distribution: exponential, with the mean 1 / (1 - utilisation). With
// several and little to do no call waits.
func TestQueuesAreAsInBooks(t *testing.T) {
	for _, utilisation := range []float64{0.1, 0.5, 0.8} {
		half, most := queued(1, utilisation, 2_000_000, 7)
		for name, c := range map[string][2]float64{"p50": {half, math.Ln2 / (1 - utilisation)}, "p99": {most, math.Log(100) / (1 - utilisation)}} {
			if math.Abs(c[0]-c[1]) > 0.05*c[1] {
				t.Errorf("utilisation %.1f: %s %.3f, want %.3f", utilisation, name, c[0], c[1])
			}
		}
	}
	if half, _ := queued(8, 0.01, 1_000_000, 7); math.Abs(half-math.Ln2) > 0.01 {
		t.Errorf("eight servers with nothing to do: p50 %.3f, want %.3f", half, math.Ln2)
	}
}

// A plan grows with what it is for, and never has less than one node for each database.
func TestPlansGrowWithDemand(t *testing.T) {
	before := planned(documented, demand{1, 0.1})
	if before.nodes != 1 || before.databases != 1 {
		t.Errorf("%+v for one account", before)
	}
	for _, d := range []demand{{10, 1}, {1000, 100}, {100_000, 100}, {100_000, 10_000}, {100_000, 100_000}} {
		p := planned(documented, d)
		if p.cores < before.cores || p.databaseCores < before.databaseCores || p.log < before.log || p.nodes < p.databases {
			t.Errorf("%+v: %+v after %+v", d, p, before)
		}
		before = p
	}
	if none := planned(costs{event: unit{node: time.Second}}, demand{1, 1}); none.cores != opening/utilisation {
		t.Errorf("%f processors for a tenth of a second's work, half used", none.cores)
	}
}
