package apitest

import (
	"errors"
	"testing"

	"tocsin/internal/platform/db"
)

var errRollback = errors.New("rolled back")

// Passed loads records of an account file into a new account, dumps them and rolls everything back. It returns the
// error of load or dump.
func Passed[T any](t testing.TB, d *db.DB, load func(*db.Tx, int64, []T) error, dump func(*db.Tx, int64) ([]T, error), records []T) (dumped []T, err error) {
	t.Helper()
	const account = 7
	err = d.Write(t.Context(), func(tx *db.Tx) error {
		if _, err := tx.Exec(`INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES ($1, 'A', 'UTC', 1, 0)`, account); err != nil {
			t.Fatal(err)
		}
		if err := load(tx, account, records); err != nil {
			return err
		}
		dumped, err = dump(tx, account)
		if err != nil {
			return err
		}
		return errRollback
	})
	if errors.Is(err, errRollback) {
		return dumped, nil
	}
	return nil, err
}
