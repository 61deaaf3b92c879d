package schedule_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
)

var (
	commonRequest = regexp.MustCompile("(?s)`(/schedule/[a-z/]+)`:\n\n```json\n(.*?)```")
	commonMoment  = regexp.MustCompile(`(?m)^\| (2026-\d\d-\d\d \d\d:\d\d) \| (.+) \|$`)
)

// TestCommonSchedules sends the requests of docs/common-schedules.md, and reads who is on call at the moments that the page
// lists. Only holes that the page shows may be warned of.
func TestCommonSchedules(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/common-schedules.md")
	if err != nil {
		t.Fatal(err)
	}
	s := start(t)
	persons := map[int64]string{101: "Ann", 102: "Bob", 103: "Cleo", 104: "Dan", 105: "Eve", 106: "Finn"}
	for id, name := range persons {
		s.Person(apitest.AccountA, id, name)
	}
	examples := strings.Split(string(page), "\n## ")[1:]
	if len(examples) < 10 {
		t.Errorf("%d examples", len(examples))
	}
	for _, example := range examples {
		title, _, _ := strings.Cut(example, "\n")
		requests, moments := commonRequest.FindAllStringSubmatch(example, -1), commonMoment.FindAllStringSubmatch(example, -1)
		if len(requests) == 0 || len(moments) < 3 {
			t.Errorf("%s: %d requests, %d moments", title, len(requests), len(moments))
			continue
		}
		var id int64
		zone := time.UTC
		for _, request := range requests {
			var body object
			if err := json.Unmarshal([]byte(request[2]), &body); err != nil {
				t.Fatalf("%s: %v", title, err)
			}
			if name, ok := body["time_zone"].(string); ok {
				zone, err = time.LoadLocation(name)
				if err != nil {
					t.Fatal(err)
				}
			}
			if body["schedule_id"] != nil {
				body["schedule_id"] = id
			}
			var reply struct {
				ScheduleID int64 `json:"schedule_id"`
				Warnings   []string
			}
			s.Call(apitest.KeyA, request[1], body).Into(&reply)
			if reply.ScheduleID != 0 {
				id = reply.ScheduleID
			}
			for _, w := range reply.Warnings {
				if !strings.HasPrefix(w, "layers: no one is on call") || !strings.Contains(example, "| no one |") {
					t.Errorf("%s: warning %q", title, w)
				}
			}
		}
		for _, moment := range moments {
			at, err := time.ParseInLocation("2006-01-02 15:04", moment[1], zone)
			if err != nil {
				t.Fatal(err)
			}
			if got := commonOncall(t, s, id, at.Unix(), persons); got != moment[2] {
				t.Errorf("%s: at %s %s is on call, want %s", title, moment[1], got, moment[2])
			}
		}
	}
}

// commonOncall names the persons on call in a schedule at a moment as the page does.
func commonOncall(t *testing.T, s *apitest.Server, id, at int64, persons map[int64]string) string {
	t.Helper()
	entries := *info(t, s, id, at, at+60).FinalSchedule.Schedules
	if len(entries) == 0 {
		return "no one"
	}
	var names []string
	for _, m := range entries[0].Group.Members {
		for _, p := range m.PersonIDs {
			names = append(names, map[int64]string{1: "backup "}[m.RoleID]+persons[p])
		}
	}
	if entries[0].Start != at || entries[0].End != at+60 {
		return fmt.Sprint(entries)
	}
	return strings.Join(names, ", ")
}
