package insight

import (
	"slices"
	"testing"
	"time"
)

// oddZones put their clocks forward or back at midnight, by half an hour, by a whole day, or never.
var oddZones = []string{"UTC", "Europe/Berlin", "America/Sao_Paulo", "America/St_Johns", "Atlantic/Azores", "Asia/Beirut", "Africa/Cairo",
	"Australia/Lord_Howe", "Pacific/Apia", "Asia/Tehran", "America/Havana", "Asia/Kolkata"}

// TestBucketsAreDatesOfZone: every moment is in the bucket that begins with the first second of its date, the Monday of
// its week or the first of its month, however the clock is changed.
func TestBucketsAreDatesOfZone(t *testing.T) {
	from := time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	until := time.Date(2012, 3, 1, 0, 0, 0, 0, time.UTC).Unix()
	for _, name := range oddZones {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, unit := range []string{Day, Week, Month} {
			b := Buckets{unit, zone}
			all := b.All(from, until)
			if !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
				t.Errorf("%s %s: the buckets are not in order", name, unit)
			}
			for at := from; at < until; at += 1800 {
				start := b.Start(at)
				if _, found := slices.BinarySearch(all, start); !found {
					t.Fatalf("%s %s: the bucket of %d begins at %d, which is none of them", name, unit, at, start)
				}
				want := first(at, unit, zone)
				if got := time.Unix(start, 0).In(zone).Format(time.DateOnly); got != want && name != "Pacific/Apia" { // a date that never was
					t.Fatalf("%s %s: %d is in the bucket of %s, want %s", name, unit, at, got, want)
				}
				if before := time.Unix(start-1, 0).In(zone).Format(time.DateOnly); before >= want && name != "Pacific/Apia" {
					t.Fatalf("%s %s: the bucket of %s begins at %d, but it was %s a second before", name, unit, want, start, before)
				}
			}
		}
	}
}

// first returns the first date of the day, week or month of a moment, by counting days back.
func first(at int64, unit string, zone *time.Location) string {
	local := time.Unix(at, 0).In(zone).Format(time.DateOnly)
	day, err := time.Parse(time.DateOnly, local)
	if err != nil {
		panic(err)
	}
	for unit == Week && day.Weekday() != time.Monday || unit == Month && day.Day() != 1 {
		day = day.AddDate(0, 0, -1)
	}
	return day.Format(time.DateOnly)
}

func TestHours(t *testing.T) {
	zone, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"2026-04-13 05:59": Sleep, "2026-04-13 06:00": Off, "2026-04-13 08:59": Off, "2026-04-13 09:00": Work, "2026-04-13 17:59": Work,
		"2026-04-13 18:00": Off, "2026-04-13 21:59": Off, "2026-04-13 22:00": Sleep, "2026-04-12 12:00": Off, "2026-04-11 12:00": Off, "2026-04-12 23:00": Sleep,
	} {
		at, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := HoursOf(at.Unix(), zone); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
		if got := Weekend(at.Unix(), zone); got != (at.Day() == 11 || at.Day() == 12) {
			t.Errorf("%s is a weekend: %t", text, got)
		}
	}
}
