package person_test

import (
	"testing"
	"time"

	"tocsin/internal/person"
)

// Every moment of two years has a text of its own: also those of the hour that comes twice.
func TestClockShowsNoTwoMomentsAlike(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		c := person.Clock{Zone: zone, Now: time.Unix(1795255200, 0)}
		seen := map[string]int64{}
		for at := int64(1767225600); at < 1767225600+2*366*86400; at += 900 {
			text := c.Second(at)
			if before, twice := seen[text]; twice {
				t.Fatalf("%d and %d are both %s", before, at, text)
			}
			seen[text] = at
		}
	}
}

func TestClock(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	c := person.Clock{Zone: berlin, Now: time.Unix(1795255200, 0)}
	for got, want := range map[string]string{
		c.Minute(1795420800): "Mon 23 Nov 09:00 (Europe/Berlin)",
		c.Second(1795420807): "Mon 23 Nov 09:00:07 (Europe/Berlin)",
		c.Minute(1800000000): "Fri 15 Jan 2027 09:00 (Europe/Berlin)",
		c.Minute(1792888200): "Sun 25 Oct 02:30 (Europe/Berlin, UTC+02:00)",
		c.Minute(1792891800): "Sun 25 Oct 02:30 (Europe/Berlin, UTC+01:00)",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
