package story

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// calendar reads a feed as a calendar program does.
func (w *world) calendar(address string) (status int, text string) {
	w.t.Helper()
	path, ours := strings.CutPrefix(address, "https://tocsin.example.com/")
	if !ours {
		w.t.Fatalf("the address is %q", address)
	}
	answer, err := http.Get(w.http.URL + "/" + path)
	w.must(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	w.must(err)
	return answer.StatusCode, string(body)
}

// A person's calendar follows the schedule: an override in another person's place is gone from it after a restart too,
// and it can be revoked.
func TestCalendarFollowsSchedule(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{}`))
	made := w.do("/schedule/calendar/url", `{"kind": "person", "id": %d}`, bob)
	address := made.get("url")
	status, before := w.calendar(address)
	if status != 200 || !strings.Contains(before, "SUMMARY:On call: Turns (primary)\r\n") {
		t.Fatalf("%d %s", status, before)
	}
	w.do("/schedule/update", `{"schedule_id": %d, "layers": [%s, %s]}`, turns, rotation, override(ann, start.Add(-24*time.Hour), start.Add(30*24*time.Hour)))
	w.restart()
	_, after := w.calendar(address)
	if b, a := strings.Count(before, "BEGIN:VEVENT"), strings.Count(after, "BEGIN:VEVENT"); a >= b || a == 0 {
		t.Errorf("%d shifts, then %d", b, a)
	}
	w.do("/schedule/calendar/revoke", `{"feed_id": "%s"}`, made.get("feed_id"))
	if status, _ := w.calendar(address); status != 404 {
		t.Errorf("revoked: %d", status)
	}
}

// A hole of a schedule that pages is named before anyone falls into it, by its day of the week.
func TestHoleIsNamedBeforeItComes(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{}`))
	weekdays := strings.Replace(rotation, `"layer_name"`, `"day_mask": {"repeat": [1, 2, 3, 4, 5]}, "layer_name"`, 1)
	r := w.do("/schedule/update", `{"schedule_id": %d, "layers": [%s]}`, turns, weekdays)
	if !strings.Contains(r.get("warnings"), "no one is on call every Saturday 00:00 to Monday 00:00") {
		t.Errorf("%s", r)
	}
}
