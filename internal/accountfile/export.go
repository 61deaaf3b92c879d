package accountfile

import (
	"context"

	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
)

// Export reads an account from one state of the database, every list in a fixed order. The same state always returns
// the same file, and an account that was imported from it exports the same.
//
// Without secrets, credentials are empty and there are no app keys. With secrets, app keys are exported as hashes
// (key_hash), which keep working where they are imported; the keys themselves are not stored.
// References of the form ${env:NAME} are not secret and always exported.
func Export(ctx context.Context, d *db.DB, keyring *secret.Keyring, account int64, secrets bool) (*File, error) {
	f := &File{Format: Current}
	err := d.Snapshot(ctx, func(tx *db.Tx) error {
		a, found, err := person.DumpAccount(tx, account)
		if err != nil {
			return err
		}
		if !found {
			return fault.Missing("account", account)
		}
		f.Account = a
		w := work{tx: tx, keyring: keyring, account: account, secrets: secrets}
		for _, s := range sections {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.dump(w, f); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}
