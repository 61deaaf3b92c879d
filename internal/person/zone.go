package person

import (
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Zone returns the time zone of an account.
func Zone(tx *db.Tx, account int64) (*time.Location, error) {
	return configstore.Once(tx, account, zoneKey{}, func() (*time.Location, error) {
		name, _, err := db.One(tx, db.Column[string], `SELECT time_zone FROM account WHERE account_id = $1`, account)
		if err != nil {
			return nil, err
		}
		zone, err := time.LoadLocation(name)
		return zone, fault.Wrap(err, "time zone of account %d", account)
	})
}

// zoneKey is under which a transaction keeps the account's time zone.
type zoneKey struct{}
