package person

import (
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Zone returns the time zone of an account.
func Zone(tx *db.Tx, account int64) (*time.Location, error) {
	zone, _, err := configstore.Kept(tx, account, zoneKey{}, func() (*time.Location, bool, error) {
		a, found, err := DumpAccount(tx, account)
		if err != nil {
			return nil, false, err
		}
		zone, err := time.LoadLocation(a.TimeZone)
		return zone, found, fault.Wrap(err, "time zone of account %d", account)
	})
	return zone, err
}

// zoneKey is the cache key of the account's time zone.
type zoneKey struct{}

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
