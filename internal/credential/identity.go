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

// HasIdentity reports whether a person has an identity at a provider; with an empty issuer at any.
func HasIdentity(tx *db.Tx, account int64, issuer string, person int64) (bool, error) {
	_, found, err := db.One(tx, db.Column[int64], `SELECT 1 FROM identity WHERE account_id = $1 AND person_id = $2 AND ($3 = '' OR issuer = $3)
		LIMIT 1`, account, person, issuer)
	return found, err
}

// SetIdentity stores who a person is at a provider. An identity stays with its person until it is forgotten.
func SetIdentity(tx *db.Tx, account int64, issuer, subject string, person int64, now time.Time) error {
	return tx.Do(`INSERT INTO identity (account_id, issuer, subject, person_id, created_at) VALUES ($1, $2, $3, $4, $5)`,
		account, issuer, subject, person, now.Unix())
}

// ForgetIdentities deletes who a person is at all providers.
func ForgetIdentities(tx *db.Tx, account, person int64) error {
	return tx.Do(`DELETE FROM identity WHERE account_id = $1 AND person_id = $2`, account, person)
}
