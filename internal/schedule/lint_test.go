package schedule_test

import (
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
)

// loadAs stores a schedule under a fixed id, and returns the id.
func loadAs(t *testing.T, s *apitest.Server, id int64, body object) int64 {
	t.Helper()
	body["schedule_id"] = id
	var record schedule.Record
	if err := json.Unmarshal([]byte(text(t, body)), &record); err != nil {
		t.Fatal(err)
	}
	s.Write(func(tx *db.Tx) error { return schedule.Load(tx, box(t), apitest.AccountA, []schedule.Record{record}) })
	return id
}

// A schedule's problems are listed: holes only if it pages, what else is wrong always, and of the own account only.
func TestLint(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := loadAs(t, s, 9001, object{"schedule_name": "Weekdays", "layers": []any{
		layer(1776009600, []int64{A, B}, object{"layer_name": "Days", "day_mask": object{"repeat": []int{1, 2, 3, 4, 5}}}),
		layer(1776009600, []int64{A}, object{"layer_name": "Over", "layer_end": 1776009601}),
	}})
	other := loadAs(t, s, 9002, object{"schedule_name": "Nights", "layers": []any{
		layer(1776009600, []int64{A}, object{"layer_name": "Nights", "restrict_mode": 1,
			"restrict_periods": []any{object{"restrict_start": 0, "restrict_end": 6 * 3600}}}),
		layer(1776009600, []int64{A}, object{"layer_name": "Later", "layer_start": 1976009600, "enable_time": 1976009600}),
	}})
	s.Grant(auth.SchedulesRead)
	s.Scenarios(t, "/schedule/lint", []apitest.Scenario{
		{Name: "it pages no one", Key: apitest.KeyReader, Body: fmt.Sprintf(`{"schedule_ids": [%d]}`, id),
			Data: `{"items": [{"code": "layer_over", "severity": "info", "object": {"kind": "schedule", "id": "` + fmt.Sprint(id) + `", "name": "Weekdays"},
				"sentence": "schedule \"Weekdays\": layers[1] \"Over\" has ended and can be removed", "fix": "Remove them from the schedule."}],
				"total": 1, "checked": 1, "complete": true}`},
		{Name: "unknown", Body: `{"schedule_ids": [42]}`, Code: "ResourceNotFound", Says: []string{"42"}},
		{Name: "another account", Key: apitest.KeyB, Body: fmt.Sprintf(`{"schedule_ids": [%d]}`, id), Code: "ResourceNotFound"},
		{Name: "another account's are not in all", Key: apitest.KeyB, Body: `{}`, Data: `{"items": [], "total": 0, "checked": 0, "complete": true}`},
		{Name: "no permission", Key: apitest.KeyNothing, Body: `{}`, Code: "AccessDenied", Says: []string{"Schedules Read"}},
	})
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1001, ChannelName: "Payments"}}); err != nil {
			return err
		}
		for _, used := range []int64{id, other} {
			_, err := tx.Exec(`INSERT INTO reference (account_id, to_kind, to_id, from_kind, from_id, from_name)
				VALUES ($1, 'schedule', $2, 'escalate_rule', 'r', 'Rule')`, apitest.AccountA, fmt.Sprint(used))
			if err != nil {
				return err
			}
		}
		return nil
	})
	s.Converse(t, []apitest.Turn{{Path: "/schedule/lint", Body: `{}`, Golden: "schedule_lint"}})
}
