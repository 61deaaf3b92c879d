package incident

import (
	"testing"
	"time"
)

func TestMorningIsNextNineOClock(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]int64{
		"2026-11-28T02:13:30": 407, "2026-11-28T09:00:00": 1440, "2026-11-28T10:00:00": 1380,
		"2026-10-24T09:00:00": 1440, // the clock is set back in that night, and a silence lasts a day at most
		"2026-03-28T09:00:00": 1380,
	} {
		now, err := time.ParseInLocation("2006-01-02T15:04:05", at, berlin)
		if err != nil {
			t.Fatal(err)
		}
		if got := untilMorning(now); got != want {
			t.Errorf("%s: %d minutes, want %d", at, got, want)
		}
	}
}
