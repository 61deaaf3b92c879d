package oncall

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestNextDailyAgainstWall reads the wall clock at every minute. The first instant of a date that shows the
// time of day is the one that NextDaily returns; on dates that never show it there is one within the jump.
func TestNextDailyAgainstWall(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for _, place := range []string{"UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Santiago"} {
		zone, err := time.LoadLocation(place)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			seconds := int64(random.IntN(1440) * 60)
			from := time.Date(2026, time.Month(1+random.IntN(12)), 1, 0, 0, 0, 0, time.UTC).Unix()
			until := from + 40*day
			first := map[int]int64{}
			for now := from; now < until; now += 60 {
				wall := time.Unix(now, 0).In(zone)
				date := wall.Year()*1000 + wall.YearDay()
				if _, seen := first[date]; !seen && int64(wall.Hour()*3600+wall.Minute()*60) == seconds {
					first[date] = now
				}
			}
			found := map[int64]bool{}
			for at := NextDaily(zone, seconds, from-1); at < until; {
				found[at] = true
				next := NextDaily(zone, seconds, at)
				if next <= at || next > at+day+2*3600 {
					t.Fatalf("seed %d, %s, %d seconds: after %d comes %d", seed, place, seconds, at, next)
				}
				at = next
			}
			for date, at := range first {
				if !found[at] && at > from+day {
					t.Errorf("seed %d, %s: %d seconds of day %d, which is %d, is not found", seed, place, seconds, date, at)
				}
			}
			if extra := len(found) - len(first); extra < -1 || extra > 1 {
				t.Errorf("seed %d, %s, %d seconds: %d dates, %d found", seed, place, seconds, len(first), len(found))
			}
		}
	}
}
