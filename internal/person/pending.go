package person

import (
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/credential"
	"tocsin/internal/platform/db"
	"tocsin/internal/session"
)

// SignedIn reports whether a person has signed in so far: by a password, at a provider, or in a session that is stored.
func SignedIn(tx *db.Tx, account, person int64) (bool, error) {
	password, err := credential.PasswordOf(tx, account, person)
	if err != nil || password.Hash != "" {
		return true, err
	}
	if has, err := credential.HasIdentity(tx, account, "", person); err != nil || has {
		return true, err
	}
	return session.Any(tx, account, person)
}

// Pending reports whether a person has neither signed in nor an app key so far, and did not set the e-mail address: persons who
// were invited, and those of account files.
func Pending(tx *db.Tx, account int64, r Record) (bool, error) {
	switch {
	case r.Status == "pending":
		return true, nil
	case r.Status == "deleted" || r.EmailSetBy == r.PersonID:
		return false, nil
	}
	if signedIn, err := SignedIn(tx, account, r.PersonID); err != nil || signedIn {
		return false, err
	}
	has, err := auth.HasKey(tx, account, r.PersonID)
	return !has, err
}

// ProvePhone stores that a number is a person's, if it is the person's present number.
func ProvePhone(tx *db.Tx, account, person int64, number string) error {
	err := tx.Do(`UPDATE person SET phone_verified = TRUE WHERE account_id = $1 AND person_id = $2 AND phone = $3`, account, person, number)
	if err != nil {
		return err
	}
	return configstore.BumpRevision(tx, account)
}

// Prove stores that the present e-mail address of a person is theirs.
func Prove(tx *db.Tx, account, person int64) error {
	err := tx.Do(`UPDATE person SET email_verified = TRUE WHERE account_id = $1 AND person_id = $2`, account, person)
	if err != nil {
		return err
	}
	return configstore.BumpRevision(tx, account)
}
