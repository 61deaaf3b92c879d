package channel

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// clockChanges are days on which the clocks of a zone change: an hour forward, an hour back, half an hour, at
// midnight, a day that is skipped, and one day without a change.
var clockChanges = map[string][]string{
	"America/New_York":    {"2026-03-08", "2026-11-01"},
	"Europe/London":       {"2026-03-29", "2026-10-25"},
	"Australia/Lord_Howe": {"2026-04-05", "2026-10-04"},
	"America/Sao_Paulo":   {"2018-02-17", "2018-11-04"},
	"Pacific/Apia":        {"2011-12-30"},
	"Asia/Shanghai":       {"2026-04-13"},
}

// TestEffectiveAgreesWithWallClock compares Effective, for every minute of three days around each change,
// with a model that marks the minutes of a week one by one.
func TestEffectiveAgreesWithWallClock(t *testing.T) {
	t.Parallel()
	for name, days := range clockChanges {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, day := range days {
			for seed := range uint64(6) {
				rng := rand.New(rand.NewPCG(seed, 1))
				rule := SilenceRule{Rule: Rule{Status: "enabled"}, TimeFilters: randomWindows(rng)}
				week := markedMinutes(rule.TimeFilters)
				noon, err := time.ParseInLocation(time.DateOnly, day, time.UTC)
				if err != nil {
					t.Fatal(err)
				}
				for minute := -36 * 60; minute < 36*60; minute++ {
					now := noon.Add(time.Duration(minute)*time.Minute + time.Duration(rng.IntN(60))*time.Second)
					if got, want := Effective(rule, now, zone, nil), week[minuteOfWeek(now, zone)]; got != want {
						t.Fatalf("seed %d, %s: %v, want %v for %+v", seed, now.In(zone), got, want, rule.TimeFilters)
					}
				}
			}
		}
	}
}

// minuteOfWeek returns the local minute, counted from Sunday 00:00, computed from the zone's offset alone.
func minuteOfWeek(now time.Time, zone *time.Location) int {
	_, offset := now.In(zone).Zone()
	const thursday = 4 * 24 * 60 // 1970-01-01
	return int((now.Unix()+int64(offset))/60+thursday) % (7 * 24 * 60)
}

// markedMinutes returns for each minute of a week, counted from Sunday 00:00, whether a window holds it.
func markedMinutes(windows []TimeFilter) (week [7 * 24 * 60]bool) {
	for _, w := range windows {
		days := w.Repeat
		if len(days) == 0 {
			days = []int{0, 1, 2, 3, 4, 5, 6}
		}
		end := w.End
		if end == "23:59" {
			end = "00:00"
		}
		for _, day := range days {
			inside := false
			for m := range 2 * 24 * 60 {
				clock := fmt.Sprintf("%02d:%02d", m/60%24, m%60)
				if inside && clock == end {
					break
				}
				inside = inside || clock == w.Start
				if inside {
					week[(day*24*60+m)%len(week)] = true
				}
			}
		}
	}
	return week
}

func randomWindows(rng *rand.Rand) []TimeFilter {
	clocks := []string{"00:00", "00:01", "01:30", "02:00", "02:30", "03:00", "09:00", "18:00", "22:15", "23:58", "23:59"}
	windows := []TimeFilter{}
	for range 1 + rng.IntN(3) {
		w := TimeFilter{Start: clocks[rng.IntN(len(clocks))], Repeat: []int{}}
		for w.End == "" || w.End == w.Start {
			w.End = clocks[rng.IntN(len(clocks))]
		}
		for day := range 7 {
			if rng.IntN(3) == 0 {
				w.Repeat = append(w.Repeat, day)
			}
		}
		windows = append(windows, w)
	}
	return windows
}

func TestEffective(t *testing.T) {
	t.Parallel()
	shanghai := time.FixedZone("", 8*3600)
	monday := time.Date(2026, 4, 13, 12, 0, 0, 0, shanghai)
	once := &OnceTimeFilter{StartTime: monday.Unix(), EndTime: monday.Unix() + 60}
	weekly := func(start, end string, days ...int) []TimeFilter {
		return []TimeFilter{{Start: start, End: end, Repeat: days}}
	}
	for _, c := range []struct {
		name   string
		status string
		once   *OnceTimeFilter
		recur  []TimeFilter
		after  time.Duration // since Monday noon
		want   bool
	}{
		{"first second of a one-off window", "enabled", once, nil, 0, true},
		{"second before it", "enabled", once, nil, -time.Second, false},
		{"last second of it", "enabled", once, nil, 59 * time.Second, true},
		{"second after it", "enabled", once, nil, time.Minute, false},
		{"disabled", "disabled", once, nil, 0, false},
		{"deleted", "deleted", once, nil, 0, false},
		{"no window at all", "enabled", nil, nil, 0, false},
		{"on its day", "enabled", nil, weekly("12:00", "13:00", 1), 0, true},
		{"on another day", "enabled", nil, weekly("12:00", "13:00", 2), 0, false},
		{"every day", "enabled", nil, weekly("12:00", "13:00"), 72 * time.Hour, true},
		{"the end is outside", "enabled", nil, weekly("11:00", "12:00"), 0, false},
		{"second before the end", "enabled", nil, weekly("11:00", "12:00"), -time.Second, true},
		{"23:59 is inside to its last second", "enabled", nil, weekly("12:00", "23:59", 1), 12*time.Hour - time.Second, true},
		{"midnight after 23:59", "enabled", nil, weekly("12:00", "23:59", 1), 12 * time.Hour, false},
		{"over midnight, the day after", "enabled", nil, weekly("22:00", "06:00", 1), 17 * time.Hour, true},
		{"over midnight, the morning before", "enabled", nil, weekly("22:00", "06:00", 1), -7 * time.Hour, false},
		{"over midnight from Saturday into Sunday", "enabled", nil, weekly("22:00", "06:00", 6), -36 * time.Hour, true},
		{"over midnight, after its end", "enabled", nil, weekly("22:00", "06:00", 1), 18 * time.Hour, false},
		{"a calendar that does not exist", "enabled", nil, []TimeFilter{{Start: "00:00", End: "23:59", CalID: new("cn")}}, 0, false},
		{"beside a window that holds", "enabled", nil, []TimeFilter{{Start: "00:00", End: "23:59", CalID: new("cn")}, {Start: "00:00", End: "23:59"}}, 0, true},
		{"a malformed window", "enabled", nil, weekly("9:00", "23:00"), 0, false},
	} {
		rule := SilenceRule{Rule: Rule{Status: c.status}, TimeFilter: c.once, TimeFilters: c.recur}
		if got := Effective(rule, monday.Add(c.after), shanghai, nil); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// FuzzMinuteOf checks that a clock time that is read is formatted as it was written.
func FuzzMinuteOf(f *testing.F) {
	for _, s := range []string{"00:00", "23:59", "24:00", "9:00", "09:0", "", "12:60", "12:00 ", "-1:00", "1２:00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if minute, ok := minuteOf(s); ok {
			if back := fmt.Sprintf("%02d:%02d", minute/60, minute%60); back != s {
				t.Errorf("%q is read as %s", s, back)
			}
		}
	})
}
