package insight

import (
	"testing"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/core/insight"
)

// TestAnnouncedAcknowledgementIsNoEscalation: after a person was made responsible instead of those whom the rule had
// notified, the acknowledgement is announced to those. Their messages name the step that had notified them.
func TestAnnouncedAcknowledgementIsNoEscalation(t *testing.T) {
	t.Parallel()
	for cause, want := range map[string]int64{"page": 2, "": 2, "acknowledged": 1, "recovery": 1} {
		i := insight.Incident{}
		for at, e := range []activity.Event{
			activity.Assigned{How: "escalate", PersonIDs: []int64{1}, EscalateRuleID: "r"},
			activity.Notified{By: "sms", Cause: "page", EscalateRuleID: "r", LayerIdx: 1, Persons: []activity.Target{{PersonID: 2}}},
			activity.Assigned{How: "reassign", PersonIDs: []int64{3}},
			activity.Acknowledged{},
			activity.Notified{By: "sms", Cause: cause, EscalateRuleID: "r", LayerIdx: 1, Persons: []activity.Target{{PersonID: 2}}},
		} {
			x, counts := entry(e, "i")
			if !counts {
				t.Fatalf("%T does not count", e)
			}
			x.At = int64(at)
			i.History = append(i.History, x)
		}
		f := insight.Measure(&i, func(int64) *time.Location { return time.UTC }, 100)
		if f.TimeoutEscalations != want || f.Notifications != 2 {
			t.Errorf("cause %q: %d escalations and %d notifications, want %d and 2", cause, f.TimeoutEscalations, f.Notifications, want)
		}
	}
}
