package revision

import "tocsin/internal/db"

// View is what is kept of an account's configuration at the revision that one transaction has read. In a write
// transaction it is empty and keeps nothing: that sees what may never be committed.
//
// A value is found only at the revision at which it was made, and the revision is read in the transaction of who
// asks. So no node can answer with what another has changed, whether it has heard of the change or not. That asks of
// every change of what is kept that it calls Bump in its own transaction; a test of every operation holds them to it.
type View struct {
	tx       *db.Tx
	account  int64
	revision int64
}

// At is the view of a transaction.
func At(tx *db.Tx, account int64) (View, error) {
	v := View{tx: tx, account: account}
	if tx.Memory() == nil {
		return v, nil
	}
	var err error
	v.revision, err = tx.Version(account, func() (int64, error) { return Of(tx, account) })
	return v, err
}

// Get finds what Put has kept under a key. The type of the key says what is kept: each package has keys of its own.
func Get[T any](v View, key any) (kept T, found bool) {
	if v.tx.Memory() == nil {
		return kept, false
	}
	value, found := v.tx.Memory().Get(v.account, v.revision, key)
	if found {
		kept = value.(T)
	}
	return kept, found
}

// Put keeps a value that was made of rows read in the view's transaction. Nobody may change it afterwards. Where each
// statement sees the newest commit, it is kept only if no change has come in between.
func Put[T any](v View, key any, value T) error {
	if v.tx.Memory() == nil {
		return nil
	}
	if !v.tx.Steady() {
		now, err := Of(v.tx, v.account)
		if err != nil || now != v.revision {
			return err
		}
	}
	v.tx.Memory().Put(v.account, v.revision, key, value)
	return nil
}

// Kept gives what make makes, made once for each revision of the account's configuration. What was not found is not
// kept. Nobody may change the value.
func Kept[T any](tx *db.Tx, account int64, key any, make func() (value T, found bool, err error)) (value T, found bool, err error) {
	v, err := At(tx, account)
	if err != nil {
		return value, false, err
	}
	if value, found = Get[T](v, key); found {
		return value, true, nil
	}
	if value, found, err = make(); err != nil || !found {
		return value, found, err
	}
	return value, true, Put(v, key, value)
}
