package cli

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Pace is how much garbage a program may make until its collector runs. GOGC sets another pace.
type Pace struct {
	room  uint64 // bytes
	least int    // percent of the live bytes, whatever the room
}

// The paces of the programs. An edge makes little garbage, so that it collects every few seconds even with a quarter of what is live.
var (
	ServerPace = Pace{room: 32 << 20, least: 50}
	edgePace   = Pace{room: 8 << 20, least: 25}
)

// Keep lets garbage have about the same room whatever the heap holds. At the default, as much garbage as live data, the
// collector ran dozens of times a second under load, because live data is a few megabytes: simple reads reached three
// fifths of today's rate. At a fixed four times the live data, a heap of 80 MB grew to 400.
func (p Pace) Keep() {
	if _, set := os.LookupEnv("GOGC"); !set {
		p.apply()
	}
}

// apply sets the collector by what its last collection left, and does so again after the next one: the object without a
// reference is what that one finds.
func (p Pace) apply() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(p.percent(live[0].Value.Uint64()))
	runtime.AddCleanup(new([16]byte), func(struct{}) { p.apply() }, struct{}{})
}

// percent returns how much garbage may be made until the next collection, in percent of the live bytes: the room, but at
// most four times as much as is live, so that a small program stays small, and not too little, so that a large one does not
// collect all the time.
func (p Pace) percent(live uint64) int {
	const most = 400
	return int(math.Round(min(most, max(float64(p.least), float64(p.room)*100/max(1, float64(live))))))
}
