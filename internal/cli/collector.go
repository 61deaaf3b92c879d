package cli

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// PaceCollector lets garbage have about the same room whatever the heap holds. At the default, as much garbage as live data,
// the collector ran dozens of times a second under load, because live data is a few megabytes: simple reads reached three
// fifths of today's rate. At a fixed four times the live data, a heap of 80 MB grew to 400. GOGC sets another pace.
func PaceCollector() {
	if _, set := os.LookupEnv("GOGC"); !set {
		pace()
	}
}

// pace sets the collector by what its last collection left, and does so again after the next one: the object without a
// reference is what that one finds.
func pace() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(garbagePercent(live[0].Value.Uint64()))
	runtime.AddCleanup(new([16]byte), func(struct{}) { pace() }, struct{}{})
}

// garbagePercent returns how much garbage may be made until the next collection, in percent of the live bytes: 32 MB, but at
// most four times as much as is live, so that a small program stays small, and at least half as much, so that a large one does
// not collect all the time.
func garbagePercent(live uint64) int {
	const (
		room  = 32 << 20
		most  = 400
		least = 50
	)
	return int(math.Round(min(most, max(least, room*100/max(1, float64(live))))))
}
