package cli

import (
	"os"
	"runtime"
	"runtime/metrics"
	"testing"
)

func TestRoomForGarbageIsBoundedByWhatLives(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{0: 400, 4 << 20: 400, 8 << 20: 400, 16 << 20: 200, 32 << 20: 100, 64 << 20: 50, 1 << 30: 50} {
		if got := ServerPace.percent(live); got != want {
			t.Errorf("%d bytes live: %d percent, want %d", live, got, want)
		}
	}
}

// TestPaceFollowsHeap is not parallel: the pace is the process's, which keeps it, as a server does.
func TestPaceFollowsHeap(t *testing.T) { //nolint:paralleltest // see above
	if _, set := os.LookupEnv("GOGC"); set {
		t.Skip("GOGC sets the pace")
	}
	ServerPace.Keep()
	held := make([]byte, 100<<20)
	percent := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	for range 100 { // the pace is set after a collection, by another goroutine
		runtime.GC()
		metrics.Read(percent)
		if percent[0].Value.Uint64() == 50 {
			runtime.KeepAlive(held)
			return
		}
	}
	t.Errorf("with %d bytes live garbage may be %d percent of them, want 50", len(held), percent[0].Value.Uint64())
}
