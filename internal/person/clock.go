package person

import (
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
)

// Clock shows moments as one person reads them: on the wall clock of the person's time zone.
type Clock struct {
	Zone *time.Location
	Now  time.Time // moments of another year are shown with their year
}

// ClockOf returns the clock of a caller: in the person's time zone, or the account's if unset.
func ClockOf(tx *db.Tx, who auth.Principal, now time.Time) (Clock, error) {
	c := Clock{who.Zone, now}
	p, found, err := Find(tx, who.AccountID, who.PersonID)
	if err != nil || !found || p.TimeZone == "" {
		return c, err
	}
	if zone, err := time.LoadLocation(p.TimeZone); err == nil { // checked when it was stored; the account's zone still serves
		c.Zone = zone
	}
	return c, nil
}

// Minute returns a moment (Unix seconds), such as: Mon 23 Nov 09:00 (Europe/Berlin).
func (c Clock) Minute(unix int64) string { return c.show(unix, "15:04") }

// Second returns a moment (Unix seconds), such as: Mon 23 Nov 09:00:07 (Europe/Berlin).
func (c Clock) Second(unix int64) string { return c.show(unix, "15:04:05") }

func (c Clock) show(unix int64, clock string) string {
	t, date := time.Unix(unix, 0).In(c.Zone), "Mon 2 Jan "
	if t.Year() != c.Now.In(c.Zone).Year() {
		date += "2006 "
	}
	return t.Format(date+clock) + " (" + c.place(t) + ")"
}

// place returns the name of the zone. An hour that comes twice, because the clock is put back, has its offset too.
func (c Clock) place(t time.Time) string {
	_, here := t.Zone()
	for _, shift := range []time.Duration{-3 * time.Hour, 3 * time.Hour} {
		_, there := t.Add(shift).Zone()
		if twin := t.Add(time.Duration(here-there) * time.Second); here != there && twin.Format(time.DateTime) == t.Format(time.DateTime) {
			return c.Zone.String() + ", UTC" + t.Format("-07:00")
		}
	}
	return c.Zone.String()
}
