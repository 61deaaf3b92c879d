package monitor

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"tocsin/internal/platform/node"
)

// However processes come and go, each slot has one live owner soon, epochs never go back, a slot changes its owner only with its
// epoch, and the parts of processes differ by little once none has come or gone for a while.
func TestSlotsHaveOneOwnerEach(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	all := make([]slot, slots)
	for i := range all {
		all[i].number = int64(i)
	}
	var live []node.Node
	for step := range 400 {
		quiet := step%40 > 5
		switch {
		case len(live) == 0 || !quiet && random.IntN(2) == 0 && len(live) < 6:
			live = append(live, node.Node{ID: fmt.Sprint("n", step), Started: now})
		case !quiet && len(live) > 1:
			at := random.IntN(len(live))
			live = append(live[:at:at], live[at+1:]...)
		}
		for _, self := range live {
			for _, s := range assign(all, self.ID, live, false, now) {
				before := all[s.number]
				if s.epoch < before.epoch || (s.node != before.node) != (s.epoch == before.epoch+1) {
					t.Fatalf("slot changes from %+v to %+v", before, s)
				}
				if s.moving != "" && s.moving != self.ID {
					t.Fatalf("slot is handed over to %s in a report of %s", s.moving, self.ID)
				}
				all[s.number] = s
			}
		}
		count := map[string]int{}
		for _, s := range all {
			count[s.node]++
		}
		sum := 0
		for _, n := range live {
			sum += count[n.ID]
			if step%40 == 39 && (count[n.ID] < slots/len(live)-1 || count[n.ID] > slots/len(live)+2) {
				t.Errorf("step %d: %s has %d slots of %d processes", step, n.ID, count[n.ID], len(live))
			}
		}
		if sum != slots {
			t.Fatalf("step %d: live processes have %d slots", step, sum)
		}
		now = now.Add(5 * time.Second)
	}
}
