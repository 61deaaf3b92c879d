package credential

import (
	"time"

	"tocsin/internal/platform/db"
)

// PersonOf returns the person of an identity at an OpenID Connect provider; found is false when there is none.
func PersonOf(tx *db.Tx, account int64, issuer, subject string) (person int64, found bool, err error) {
	return db.One(tx, db.Column[int64], `SELECT person_id FROM identity WHERE account_id = $1 AND issuer = $2 AND subject = $3`,
		account, issuer, subject)
}

// SetIdentity stores who a person is at a provider.
func SetIdentity(tx *db.Tx, account int64, issuer, subject string, person int64, now time.Time) error {
	return tx.Do(`INSERT INTO identity (account_id, issuer, subject, person_id, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (account_id, issuer, subject) DO UPDATE SET person_id = excluded.person_id`,
		account, issuer, subject, person, now.Unix())
}
