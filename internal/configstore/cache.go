package configstore

import "tocsin/internal/platform/db"

// View is the cached configuration of an account at the revision that one transaction has read. In a write
// transaction it is empty and stores nothing: that transaction sees rows that may never be committed. There Kept
// remembers what it loads as Once does.
//
// A value is returned only at the revision at which it was made, and the revision is read in the caller's own
// transaction. So no node can return a value that another node has since changed. Every change of cached rows must call
// BumpRevision in its own transaction; package apitest checks that for every write of every test.
type View struct {
	tx       *db.Tx
	account  int64
	revision int64
}

// ViewOf returns the view of a transaction.
func ViewOf(tx *db.Tx, account int64) (View, error) {
	v := View{tx: tx, account: account}
	if tx.Cache() == nil {
		return v, nil
	}
	var err error
	v.revision, err = tx.Version(account, revisions)
	return v, err
}

// Cached returns the value that Cache stored under a key. Each package has key types of its own, so keys cannot collide.
func Cached[T any](v View, key any) (kept T, found bool) {
	if v.tx.Cache() == nil {
		return kept, false
	}
	value, found := v.tx.Cache().Get(v.account, v.revision, key)
	if found {
		kept = value.(T)
	}
	return kept, found
}

// Cache stores a value that was made of rows read in the view's transaction. It must not be changed afterwards. Where
// each statement sees the newest commit, it is stored only if the revision is still the same.
func Cache[T any](v View, key any, value T) error {
	if v.tx.Cache() == nil {
		return nil
	}
	if !v.tx.Steady() {
		now, err := Revision(v.tx, v.account)
		if err != nil || now != v.revision {
			return err
		}
	}
	v.tx.Cache().Put(v.account, v.revision, key, value)
	return nil
}

// Kept returns the result of load, which is called once for each revision of the account's configuration. A result
// that was not found is not stored. The value is shared and must not be changed.
func Kept[T any](tx *db.Tx, account int64, key any, load func() (value T, found bool, err error)) (value T, found bool, err error) {
	if tx.Cache() == nil {
		f, err := Once(tx, account, key, func() (f perhaps[T], err error) {
			f.value, f.found, err = load()
			return f, err
		})
		return f.value, f.found, err
	}
	v, err := ViewOf(tx, account)
	if err != nil {
		return value, false, err
	}
	value, found = Cached[T](v, key)
	if found {
		return value, true, nil
	}
	value, found, err = load()
	if err != nil || !found {
		return value, found, err
	}
	return value, true, Cache(v, key, value)
}

// perhaps is a value that may not exist.
type perhaps[T any] struct {
	value T
	found bool
}
