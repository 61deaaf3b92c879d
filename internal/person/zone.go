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
