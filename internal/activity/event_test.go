package activity_test

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"

	"tocsin/internal/activity"
)

// TestStoredEventsAreReadBack writes each event as the feed does and reads it by its type.
func TestStoredEventsAreReadBack(t *testing.T) {
	kinds := map[string]bool{}
	for _, e := range []activity.Event{
		activity.AlertMerged{IncidentID: "i", Comment: "c"}, activity.Opened{Severity: "Critical", Title: "t"}, activity.Assigned{How: "assign", To: []int64{1}, PersonIDs: []int64{1}, Emails: []string{"a@example.com"}},
		activity.RespondersAdded{To: []int64{1, 2}}, activity.Acknowledged{}, activity.Unacknowledged{}, activity.Snoozed{Minutes: 30}, activity.Woken{SnoozedBefore: 5}, activity.Stormed{Threshold: 100},
		activity.Resolved{From: "manual"}, activity.Reopened{Reason: "r"}, activity.Merged{SourceIncidentIDs: []string{"a"}, TargetIncidentID: "b"}, activity.Commented{Comment: "c", MuteReply: true},
		activity.SeverityChanged{From: "Info", To: "Critical"}, activity.Notified{RID: "n", By: "email", Persons: []activity.Target{{PersonID: 4, FailedReason: "full"}}},
		activity.Joined{Title: "t", Until: 6}, activity.Exhausted{Reason: "r", To: []int64{9}}, activity.Escalated{LayerIdx: 1, EscalateRuleID: "r", EscalateRuleName: "n"}, activity.WarRoomOpened{WarRoom: activity.WarRoom{ChatID: "c"}}, activity.WarRoomClosed{WarRoom: activity.WarRoom{ChatID: "c"}},
	} {
		if kinds[e.Type()] {
			t.Errorf("%s is the type of two events", e.Type())
		}
		kinds[e.Type()] = true
		detail, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := activity.Read(e.Type(), detail)
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%s: %s is read as %#v, %v", e.Type(), detail, got, err)
		}
	}
	if e, err := activity.Read("i_of_a_newer_version", []byte(`{}`)); e != nil || err != nil {
		t.Errorf("an unknown type is read as %v, %v", e, err)
	}
}
