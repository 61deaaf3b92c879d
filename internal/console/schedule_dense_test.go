package console_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A schedule of hourly turns is a page like the others: its turns are drawn as one, what one looks for is a bar, and the
// list has all of them when they are asked for.
func TestHourlyTurnsMakeNoHeavyPage(t *testing.T) {
	t.Parallel()
	s := open(t)
	var made struct {
		ID int64 `json:"schedule_id"`
	}
	start := noon.Add(-24 * time.Hour).Truncate(time.Hour).Unix()
	s.call("/schedule/create", fmt.Sprintf(`{"schedule_name": "Hourly", "layers": [{"layer_name": "Turns", "layer_start": %d, "rotation_unit": "hour", "rotation_value": 1, "groups": [`+
		`{"group_name": "A", "members": [{"role_id": 0, "person_ids": [3846027201131]}]}, {"group_name": "B", "members": [{"role_id": 0, "person_ids": [3846027202131]}]}]}]}`, start), &made)
	v := s.signIn(s.keys.All, "en")
	status, page := v.get(at(made.ID, "?days=14&tz=UTC&from="+noon.AddDate(0, 0, 1).Format(time.DateOnly)))
	if status != http.StatusOK || len(page) > 100_000 {
		t.Fatalf("%d, %d bytes", status, len(page))
	}
	has(t, page, `<li class="slivers">`, "336 short turns, which the list names", "72 of 336 periods.")
	if n := strings.Count(page, "<tr><td>"); n != 72 {
		t.Errorf("the list has %d periods", n)
	}
	all := regexp.MustCompile(`href="([^"]*periods=all[^"]*)"`).FindStringSubmatch(page)
	if all == nil {
		t.Fatal("no link to all periods")
	}
	_, page = v.get(strings.ReplaceAll(strings.TrimSuffix(all[1], "#list"), "&amp;", "&"))
	if strings.Count(page, "<tr><td>") != 336 {
		t.Errorf("the list of all has %d periods", strings.Count(page, "<tr><td>"))
	}
}
