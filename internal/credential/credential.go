// Package credential stores what persons sign in with: passwords, links that set one, identities at an OpenID Connect
// provider and second factors.
//
// It must never store a password, a token or a code itself: only hashes, and what must be read again sealed.
package credential

import (
	"time"

	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Module returns the package's resealing of secrets, retention, count of overdue work and settling at a release.
func Module() module.Module {
	return module.Module{
		Name:   "credential",
		Reseal: []func(*db.Tx, secret.Renew) (int, error){Reseal},
		Prune:  []module.Retention{{Period: module.Ended, Prune: Prune}},

		Overdue: Overdue,
		Sends:   true,
		Release: Release,
	}
}

// Forget deletes everything that a person signs in with.
func Forget(tx *db.Tx, account, person int64) error {
	if err := forgetLinks(tx, account, person); err != nil {
		return err
	}
	if err := ForgetSecondFactor(tx, account, person); err != nil {
		return err
	}
	if err := ForgetIdentities(tx, account, person); err != nil {
		return err
	}
	return tx.Do(`DELETE FROM password WHERE account_id = $1 AND person_id = $2`, account, person)
}

// batch is the largest number of rows that one call of Prune deletes.
const batch = 1000

// Prune deletes links that have ended. more reports that others may be left.
func Prune(tx *db.Tx, now time.Time) (more bool, err error) {
	n, err := tx.Exec(`DELETE FROM sign_in_link WHERE token_hash IN (SELECT token_hash FROM sign_in_link WHERE ends_at < $1 LIMIT $2)`,
		now.Unix(), batch)
	return n == batch, err
}
