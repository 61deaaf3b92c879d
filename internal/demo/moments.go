package demo

import "time"

// moments computes the times of the account from one now, so that open incidents are always recent.
type moments struct {
	now    time.Time // in the account's zone
	monday time.Time // of this week, 00:00
}

func momentsAt(now time.Time) moments {
	now = now.In(mustZone(timeZone))
	back := (int(now.Weekday()) + 6) % 7
	return moments{now, time.Date(now.Year(), now.Month(), now.Day()-back, 0, 0, 0, 0, now.Location())}
}

func mustZone(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		panic(err) // the zones are built into the program
	}
	return zone
}

// ago returns a moment before now, to the second.
func (m moments) ago(d time.Duration) time.Time { return m.now.Add(-d).Truncate(time.Second) }

// day returns a wall-clock hour some days after this week's Monday.
func (m moments) day(days, hour int) time.Time {
	d := m.monday
	return time.Date(d.Year(), d.Month(), d.Day()+days, hour, 0, 0, 0, d.Location())
}

// nextMonth returns 09:00 of the first Monday of the next month.
func (m moments) nextMonth() time.Time {
	t := time.Date(m.now.Year(), m.now.Month()+1, 1, 9, 0, 0, 0, m.now.Location())
	return t.AddDate(0, 0, (8-int(t.Weekday()))%7)
}

// nextHoliday returns noon of the next public holiday that is no Saturday or Sunday.
func (m moments) nextHoliday() time.Time {
	for _, h := range configured(m).CalendarEvents {
		t, err := time.ParseInLocation("2006-01-02 15", h.StartAt+" 12", m.now.Location())
		if err == nil && t.After(m.now) && t.Weekday()%6 != 0 {
			return t
		}
	}
	return time.Time{}
}

const (
	hour = time.Hour
	day  = 24 * time.Hour
)
