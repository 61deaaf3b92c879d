package person

import (
	"time"

	"tocsin/internal/platform/db"
)

// AdoptZone stores the time zone that a browser or an identity provider names, unless the person has one. A name that is no
// time zone here is ignored: they may know newer names, and the account's zone still serves.
func AdoptZone(tx *db.Tx, account, person int64, name string, now time.Time) error {
	if len(name) > maxName || zone("", name) != nil {
		return nil
	}
	r, found, err := get(tx, account, person)
	if err != nil || !found || r.TimeZone != "" {
		return err
	}
	r.TimeZone = name
	r.UpdatedAt = now.Unix()
	return r.put(tx, account)
}
