package schedule_test

import (
	"fmt"
	"testing"

	"tocsin/internal/api/apitest"
)

// BenchmarkCalendarWrite changes a day of a calendar, which none or all of 500 schedules use.
func BenchmarkCalendarWrite(b *testing.B) {
	for _, used := range []bool{false, true} {
		b.Run(fmt.Sprintf("used=%t", used), func(b *testing.B) {
			s := startMoving(b)
			cal := holidays(b, s)
			more := object{}
			if used {
				more["skip_cal_ids"] = []string{cal}
			}
			for range 500 {
				create(b, s, object{"layers": []any{layer(1774224000, []int64{A, B, Z}, more)}})
			}
			for i := range 50 {
				s.Call(apitest.KeyA, "/calendar/event/upsert", object{"cal_id": cal, "summary": "Off", "start_at": fmt.Sprintf("2027-01-%02d", i%28+1),
					"end_at": "2027-02-01", "is_off": true})
			}
			off := false
			for b.Loop() {
				off = !off
				s.Call(apitest.KeyA, "/calendar/event/upsert", object{"cal_id": cal, "summary": "Off", "start_at": "2026-04-12", "end_at": "2026-04-15", "is_off": off})
			}
		})
	}
}
