package notify

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Whatever waits: no more messages than are free, every notification in exactly one of them while there is one, what was
// tried before in the same message unless all becomes one, and incidents that were sent by themselves no less severe
// than those in the bundle.
func TestPlanOfMessages(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5000) {
		rng := rand.New(rand.NewPCG(seed, 45))
		var rows []*member
		for n := range rng.IntN(40) {
			m := &member{urgency: int64(rng.IntN(recovery + 1)), late: rng.IntN(4) == 0}
			m.ID, m.Incident = fmt.Sprint(n), fmt.Sprint(rng.IntN(20))
			if m.urgency == plainNews {
				m.Incident = ""
			}
			if rng.IntN(6) == 0 {
				m.Attempts, m.bundle = 1, []string{"", fmt.Sprint("b", rng.IntN(3), "/", min(m.urgency, 3))}[rng.IntN(2)]
			}
			rows = append(rows, m)
		}
		slices.SortStableFunc(rows, func(a, b *member) int { return int(a.urgency - b.urgency) })
		budget := MinBudget + rng.IntN(9)
		sent := rng.IntN(budget + 2)
		messages := plan(rows, budget, sent, budget)
		if len(messages) > max(0, budget-sent) {
			t.Fatalf("seed %d: %d messages, %d are free", seed, len(messages), budget-sent)
		}
		seen := map[*member]int{}
		for _, members := range messages {
			for _, m := range members {
				seen[m]++
				if (m.urgency <= lastPage) != (members[0].urgency <= lastPage) || (m.urgency == recovery) != (members[0].urgency == recovery) {
					t.Fatalf("seed %d: a message of different kinds", seed)
				}
			}
		}
		for _, c := range classes {
			pages, taken := 0, 0
			for _, m := range rows {
				if m.urgency >= c.from && m.urgency <= c.to {
					pages++
					taken += min(seen[m], 1)
				}
				if seen[m] > 1 {
					t.Fatalf("seed %d: a notification is in %d messages", seed, seen[m])
				}
			}
			if taken != 0 && taken != pages || c.from == 0 && sent < budget && taken != pages {
				t.Fatalf("seed %d: %d of %d notifications are sent", seed, taken, pages)
			}
		}
	}
}
