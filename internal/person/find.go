package person

import (
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// recordKey is the cache key of a person with all that is stored but their roles.
type recordKey struct{ id int64 }

// Find returns a person, deleted ones too, without their roles; found is false when the account has none of this id.
func Find(tx *db.Tx, account, person int64) (r Record, found bool, err error) {
	return configstore.Kept(tx, account, recordKey{person}, func() (Record, bool, error) { return get(tx, account, person) })
}

// EraseAccount deletes an account with everything in it.
func EraseAccount(tx *db.Tx, account int64) error {
	return tx.Do(`DELETE FROM account WHERE account_id = $1`, account)
}

// Ref identifies a person among those of all accounts.
type Ref struct{ AccountID, PersonID int64 }

// WithPhone returns the persons with a phone number, given as + and digits: of all accounts, because a text message names
// no account.
func WithPhone(tx *db.Tx, number string) ([]Ref, error) {
	return db.All(tx, func(scan db.Scan) (r Ref, err error) { return r, scan(&r.AccountID, &r.PersonID) },
		`SELECT account_id, person_id FROM person WHERE status <> 'deleted' AND phone <> ''
			AND replace(replace(replace(replace(replace(replace(phone, ' ', ''), '-', ''), '.', ''), '(', ''), ')', ''), '/', '') = $1
			ORDER BY account_id, person_id`, number)
}

// WithEmail returns the persons with an e-mail address in upper or lower case: of all accounts, because a person who
// signs in names no account.
func WithEmail(tx *db.Tx, email string) ([]Ref, error) {
	return db.All(tx, func(scan db.Scan) (r Ref, err error) { return r, scan(&r.AccountID, &r.PersonID) },
		`SELECT account_id, person_id FROM person WHERE status <> 'deleted' AND email <> '' AND lower(email) = lower($1)
			ORDER BY account_id, person_id`, email)
}

// Provision stores a person whom an OpenID Connect provider names, who has signed in there with this e-mail address.
func Provision(tx *db.Tx, account int64, name, email string, now int64) (person int64, err error) {
	person, err = id.Unused(func(n int64) (bool, error) { return stored(tx, account, n) })
	if err != nil {
		return 0, err
	}
	name = string([]rune(name)[:min(len([]rune(name)), maxShown)])
	item := Item{PersonID: person, PersonName: name, Email: email, EmailVerified: true, As: "member", Status: "enabled"}
	return person, Record{Item: item, CreatedAt: now, UpdatedAt: now}.put(tx, account)
}

// maxShown is the longest name that is shown, in characters.
const maxShown = 100
