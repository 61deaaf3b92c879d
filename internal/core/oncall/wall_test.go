package oncall

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func utc(text string) int64 {
	t, err := time.Parse("2006-01-02 15:04:05", text)
	if err != nil {
		panic(err)
	}
	return t.Unix()
}

// TestInstantNumbers checks R2 with numbers computed elsewhere: a time in a gap
// takes the offset before it, an ambiguous one is its first occurrence.
func TestInstantNumbers(t *testing.T) {
	for _, x := range []struct {
		zone, wall string
		want       int64
	}{
		{"America/New_York", "2026-03-08 02:30:00", 1772955000},    // gap: 03:30 EDT
		{"America/New_York", "2025-03-09 02:30:00", 1741505400},    // gap: 03:30 EDT
		{"America/New_York", "2025-11-02 01:30:00", 1762061400},    // twice: the EDT one
		{"America/Chicago", "2024-11-03 01:00:00", 1730613600},     // twice
		{"America/Chicago", "2025-03-09 02:00:00", 1741507200},     // first second of the gap
		{"Europe/London", "2023-03-26 01:15:00", 1679793300},       // gap
		{"Europe/London", "2023-10-29 01:15:00", 1698538500},       // twice
		{"Australia/Lord_Howe", "2025-10-05 02:15:00", 1759592700}, // gap of 30 minutes
		{"Australia/Lord_Howe", "2025-04-06 01:45:00", 1743864300}, // twice, 30 minutes apart
		{"Africa/Cairo", "2025-04-25 00:00:00", 1745532000},        // no midnight: 01:00
		{"Africa/Cairo", "2025-10-30 23:30:00", 1761856200},        // twice, before midnight
		{"America/Sao_Paulo", "2018-11-04 00:00:00", 1541300400},   // no midnight: 01:00
		{"America/Sao_Paulo", "2018-02-17 23:30:00", 1518917400},   // twice, before midnight
		{"Pacific/Apia", "2011-12-30 00:00:00", 1325239200},        // no such date: the 31st begins
		{"Pacific/Apia", "2011-12-30 09:00:00", 1325271600},        // no such date: 31st, 09:00
		{"Pacific/Apia", "2011-12-31 09:00:00", 1325271600},
		{"Africa/Casablanca", "2025-02-23 02:30:00", 1740274200}, // twice, Ramadan begins
		{"Africa/Casablanca", "2025-04-06 02:30:00", 1743906600}, // gap, Ramadan ends
		{"Asia/Shanghai", "2026-04-15 09:00:00", 1776214800},
		{"Asia/Shanghai", "1986-05-04 02:30:00", 515529000}, // gap: China had summer time then
	} {
		z := &zone{loc: location(t, x.zone)}
		if got := z.instant(utc(x.wall)); got != x.want {
			t.Errorf("%s %s: got %d, want %d", x.zone, x.wall, got, x.want)
		}
	}
}

// TestInstantSearch compares instant and local with a naive search of the clock around changes of every named zone
// and of some others, in any order of calls.
func TestInstantSearch(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	check := func(name string, all []int64) {
		loc := location(t, name)
		z := &zone{loc: loc}
		for _, change := range all {
			before := change + offset(loc, change-1)
			var walls []int64
			for h := int64(-27); h <= 27; h += 3 {
				walls = append(walls, before+h*3600+r.Int64N(3600))
			}
			for q := int64(-5); q <= 5; q++ {
				walls = append(walls, before+q*900, before+q*900+r.Int64N(900))
			}
			for _, w := range walls {
				if got, want := z.instant(w), naiveInstant(loc, time.Unix(w, 0).UTC()); got != want {
					t.Fatalf("%s: instant(%s) = %d, want %d", name, time.Unix(w, 0).UTC(), got, want)
				}
				if got, want := z.local(w), w+offset(loc, w); got != want {
					t.Fatalf("%s: local(%d) = %d, want %d", name, w, got, want)
				}
			}
		}
	}
	some := func(name string, n int) {
		all := slices.Clone(changes(t, name))
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		check(name, all[:min(n, len(all))])
	}
	for _, name := range namedZones {
		some(name, 8)
	}
	for range 15 {
		some(allZones[r.IntN(len(allZones))], 2)
	}
}

// TestLastDayOfLeapYear: in the last day of a leap year time.Time.ZoneBounds
// ends before the instant it was called with, where a zone is described by a
// yearly rule.
func TestLastDayOfLeapYear(t *testing.T) {
	loc := location(t, "America/New_York")
	for _, year := range []int{2028, 2040, 2096} {
		last := time.Date(year, 12, 31, 12, 0, 0, 0, time.UTC).Unix()
		z := &zone{loc: loc}
		if got, want := z.local(last), last-5*3600; got != want {
			t.Errorf("%d: local %d, want %d", year, got, want)
		}
		if got, want := z.instant(last), last+5*3600; got != want {
			t.Errorf("%d: instant %d, want %d", year, got, want)
		}
		if got, want := z.local(last+200*day), last+200*day-4*3600; got != want {
			t.Errorf("%d: local %d, want %d in the next summer", year, got, want)
		}
	}
}

func TestCalendar(t *testing.T) {
	for d := int64(-800); d < 40000; d += 13 {
		w := d*day + 4000
		at := time.Unix(w, 0).UTC()
		if weekday(w) != at.Weekday() {
			t.Fatalf("weekday of %s is %s", at, weekday(w))
		}
		if m := time.Unix(monday(w), 0).UTC(); m.Weekday() != time.Monday || m.Hour() != 0 || w-m.Unix() < 0 || w-m.Unix() >= week {
			t.Fatalf("monday of %s is %s", at, m)
		}
	}
	begin := utc("2026-01-31 09:00:00")
	for n, want := range map[int64]string{
		0: "2026-01-31 09:00:00", 1: "2026-02-28 09:00:00", 2: "2026-03-31 09:00:00", 3: "2026-04-30 09:00:00",
		11: "2026-12-31 09:00:00", 12: "2027-01-31 09:00:00", 25: "2028-02-29 09:00:00", -2: "2025-11-30 09:00:00",
	} {
		if got := addMonths(begin, n); got != utc(want) {
			t.Errorf("%d months: got %s, want %s", n, time.Unix(got, 0).UTC(), want)
		}
	}
}
