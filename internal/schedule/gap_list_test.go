package schedule_test

import (
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
)

// TestGapList lists when no one is on call in the schedules that page: not in those that page no one, nor after 14 days.
func TestGapList(t *testing.T) {
	t.Parallel()
	s := start(t)
	loadAs(t, s, 9001, object{"schedule_name": "Weekdays", "layers": []any{
		layer(1776009600, []int64{A, B}, object{"layer_name": "Days", "day_mask": object{"repeat": []int{1, 2, 3, 4, 5}}}),
	}})
	loadAs(t, s, 9002, object{"schedule_name": "Unused", "layers": []any{}})
	loadAs(t, s, 9003, object{"schedule_name": "Ends now", "layers": []any{
		layer(1776009600, []int64{A}, object{"layer_name": "Last", "layer_end": apitest.Now.Unix() - 60}),
	}})
	s.Write(func(tx *db.Tx) error {
		for _, used := range []string{"9001", "9003"} {
			_, err := tx.Exec(`INSERT INTO reference (account_id, to_kind, to_id, from_kind, from_id, from_name)
				VALUES ($1, 'schedule', $2, 'escalate_rule', 'r', 'Rule')`, apitest.AccountA, used)
			if err != nil {
				return err
			}
		}
		return nil
	})
	s.Grant(auth.SchedulesRead)
	s.Converse(t, []apitest.Turn{
		{Path: "/schedule/gap/list", Body: `{}`, Golden: "schedule_gap_list"},
		{Path: "/schedule/gap/list", Key: apitest.KeyReader, Body: `{"limit": 1}`, Has: `{"items": [{"schedule_name": "Ends now", "start": 1776052801}], "has_next_page": true}`},
		{Path: "/schedule/gap/list", Key: apitest.KeyNothing, Body: `{}`, Code: "AccessDenied", Says: []string{"Schedules Read"}},
		{Path: "/schedule/gap/list", Key: apitest.KeyB, Body: `{}`, Data: `{"items": [], "total": 0, "has_next_page": false}`},
		{Path: "/schedule/gap/list", Body: `{"limit": 101}`, Code: "InvalidParameter", Says: []string{"limit"}},
	})
}
