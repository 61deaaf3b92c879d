package news_test

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"

	"tocsin/internal/news"
)

// TestStoredEventsAreReadBack writes each event as the feed does and reads it by its type.
func TestStoredEventsAreReadBack(t *testing.T) {
	kinds := map[string]bool{}
	for _, e := range []news.Event{
		news.AlertMerged{IncidentID: "i", Comment: "c"}, news.Opened{Severity: "Critical", Title: "t"}, news.Assigned{How: "assign", To: []int64{1}, PersonIDs: []int64{1}, Emails: []string{"a@example.com"}},
		news.RespondersAdded{To: []int64{1, 2}}, news.Acknowledged{}, news.Unacknowledged{}, news.Snoozed{Minutes: 30}, news.Woken{SnoozedBefore: 5}, news.Stormed{Threshold: 100},
		news.Resolved{From: "manual"}, news.Reopened{Reason: "r"}, news.Merged{SourceIncidentIDs: []string{"a"}, TargetIncidentID: "b"}, news.Commented{Comment: "c", MuteReply: true},
		news.SeverityChanged{From: "Info", To: "Critical"}, news.Notified{RID: "n", By: "email", Persons: []news.Fired{{PersonID: 4, FailedReason: "full"}}},
		news.Exhausted{Reason: "r", To: []int64{9}}, news.WarRoomOpened{WarRoom: news.WarRoom{ChatID: "c"}}, news.WarRoomClosed{WarRoom: news.WarRoom{ChatID: "c"}},
	} {
		if kinds[e.Type()] {
			t.Errorf("%s is the type of two events", e.Type())
		}
		kinds[e.Type()] = true
		detail, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := news.Read(e.Type(), detail)
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%s: %s is read as %#v, %v", e.Type(), detail, got, err)
		}
	}
	if e, err := news.Read("i_of_a_newer_version", []byte(`{}`)); e != nil || err != nil {
		t.Errorf("an unknown type is read as %v, %v", e, err)
	}
}
