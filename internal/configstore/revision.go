package configstore

import "tocsin/internal/platform/db"

// BumpRevision increments the account's revision, in the transaction that changes its configuration.
func BumpRevision(tx *db.Tx, account int64) error {
	tx.SetValue(assumed{account}, nil)
	return tx.Do(`UPDATE account SET revision = revision + 1 WHERE account_id = $1`, account)
}

// Continue sets the revision of an account that replaces another one of the same id to a later one, so that no revision
// means two configurations.
func Continue(tx *db.Tx, account, from int64) error {
	tx.SetValue(assumed{account}, nil)
	return tx.Do(`UPDATE account SET revision = revision + $1 + 1 WHERE account_id = $2`, from, account)
}

// Revision returns the current revision of an account.
func Revision(tx *db.Tx, account int64) (int64, error) {
	if a, ok := tx.Value(assumed{account}).(assumption); ok {
		return a.revision, nil
	}
	n, _, err := db.One(tx, db.Column[int64], RevisionQuery, account)
	return n, err
}

// RevisionQuery is what Revision reads, for a statement that returns it beside its own rows.
const RevisionQuery = `SELECT revision FROM account WHERE account_id = $1`

// revisions is what Revision reads, for transactions that read.
var revisions = db.Versions{
	One:  RevisionQuery,
	Many: `SELECT account_id, revision FROM json_each($1) AS one CROSS JOIN account WHERE account_id = CAST(one.value AS BIGINT)`,
}

// assumed is the key of an assumption among the values of a transaction.
type assumed struct{ account int64 }

// assumption is a revision, and what Once has read of it.
type assumption struct {
	revision int64
	read     map[any]any
}

// Assume makes Revision return a revision that a transaction that writes has read, and Once what it has returned before,
// so that an operation on many rows reads each once. No other transaction can change them meanwhile; BumpRevision ends it.
func Assume(tx *db.Tx, account, revision int64) {
	tx.SetValue(assumed{account}, assumption{revision, map[any]any{}})
}

// Once returns the result of load, which is called once for each key while a revision is assumed, else each time. An error
// is not kept. Each package has key types of its own, so keys cannot collide. The value is shared and must not be changed.
func Once[T any](tx *db.Tx, account int64, key any, load func() (T, error)) (T, error) {
	a, _ := tx.Value(assumed{account}).(assumption)
	if have, read := a.read[key]; read {
		return have.(T), nil
	}
	value, err := load()
	if err == nil && a.read != nil {
		a.read[key] = value
	}
	return value, err
}
