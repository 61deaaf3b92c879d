package schedule_test

import (
	"fmt"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/calendar"
	"tocsin/internal/platform/db"
)

func TestStats(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Grant(auth.SchedulesRead)
	from := int64(1776009600) // Monday 2026-04-13 00:00 in Shanghai
	loadAs(t, s, 9001, object{"schedule_name": "Days", "team_id": int64(apitest.TeamA), "layers": []any{layer(from, []int64{A, B})}})
	loadAs(t, s, 9002, object{"schedule_name": "Also", "team_id": int64(apitest.TeamA), "layers": []any{layer(from, []int64{A})}})
	s.Write(func(tx *db.Tx) error {
		c := calendar.Calendar{CalID: "cal.1", CalName: "Office", TimeZone: "Asia/Shanghai", Workdays: []int64{0, 1, 2, 3, 4, 5, 6}}
		if err := calendar.Kind.Put(tx, apitest.AccountA, &c); err != nil {
			return err
		}
		e := calendar.Event{CalID: "cal.1", EventID: "e", Summary: "Holiday", StartAt: "2026-04-15", EndAt: "2026-04-16", IsOff: true}
		return calendar.EventKind.Put(tx, apitest.AccountA, &e)
	})
	week := func(rest string) string { return fmt.Sprintf(`{"start": %d, "end": %d%s}`, from, from+7*86400, rest) }
	s.Scenarios(t, "/schedule/stats", []apitest.Scenario{
		{Name: "golden", Key: apitest.KeyReader, Body: week(`, "schedule_ids": [9001], "cal_id": "cal.1"`), Golden: "schedule_stats"},
		{Name: "a team counts each time once", Body: week(fmt.Sprintf(`, "team_ids": [%d], "night_start": "00:00", "night_end": "12:00"`, int64(apitest.TeamA))),
			Data: fmt.Sprintf(`{"items": [
				{"person_id": %d, "person_name": "Olga Owner", "time_zone": "Asia/Shanghai", "seconds": 604800, "night_seconds": 302400, "weekend_seconds": 172800,
					"holiday_seconds": 0, "shifts": 5, "longest_seconds": 604800, "difference_seconds": 172800},
				{"person_id": %d, "person_name": "Rita Reader", "time_zone": "Asia/Shanghai", "seconds": 259200, "night_seconds": 129600, "weekend_seconds": 86400,
					"holiday_seconds": 0, "shifts": 3, "longest_seconds": 86400, "difference_seconds": -172800}],
				"total": 2, "schedules": 2, "mean_seconds": 432000}`, int64(A), int64(B))},
		{Name: "a role that no one has", Body: week(`, "schedule_ids": [9001], "role_ids": [1]`), Data: `{"items": [], "total": 0, "schedules": 1, "mean_seconds": 0}`},
		{Name: "nothing named", Body: week(``), Code: "InvalidParameter", Says: []string{"schedule_ids", "team_ids"}},
		{Name: "unknown schedule", Body: week(`, "schedule_ids": [42]`), Code: "ResourceNotFound", Says: []string{"42"}},
		{Name: "unknown team", Body: week(`, "team_ids": [42]`), Code: "InvalidParameter", Says: []string{"team_ids[0]", "42"}},
		{Name: "unknown calendar", Body: week(`, "schedule_ids": [9001], "cal_id": "cal.2"`), Code: "ResourceNotFound", Says: []string{"cal.2"}},
		{Name: "another account's", Key: apitest.KeyB, Body: week(`, "schedule_ids": [9001]`), Code: "ResourceNotFound"},
		{Name: "no time of day", Body: week(`, "schedule_ids": [9001], "night_start": "25:00"`), Code: "InvalidParameter", Says: []string{"night_start", "25:00"}},
		{Name: "more than a year", Body: fmt.Sprintf(`{"start": %d, "end": %d, "schedule_ids": [9001]}`, from, from+367*86400), Code: "InvalidParameter", Says: []string{"end", "366"}},
		{Name: "a year", Body: fmt.Sprintf(`{"start": %d, "end": %d, "schedule_ids": [9001]}`, from, from+366*86400)},
		{Name: "no permission", Key: apitest.KeyNothing, Body: week(`, "schedule_ids": [9001]`), Code: "AccessDenied"},
	})
}
