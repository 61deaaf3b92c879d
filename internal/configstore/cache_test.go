package configstore_test

import (
	"context"
	"errors"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

type keptName struct{}

// name returns an account's name from the cache, and whether it had to be read.
func name(tx *db.Tx) (text string, read bool, err error) {
	text, _, err = configstore.Kept(tx, 1, keptName{}, func() (string, bool, error) {
		read = true
		return db.One(tx, db.Column[string], `SELECT account_name FROM account WHERE account_id = 1`)
	})
	return text, read, err
}

func rename(tx *db.Tx, to string) error {
	_, err := tx.Exec(`UPDATE account SET account_name = $1 WHERE account_id = 1`, to)
	return errors.Join(err, configstore.BumpRevision(tx, 1))
}

func open(t *testing.T) *db.DB {
	t.Helper()
	d := apitest.OpenDB(t)
	write(t, d, func(tx *db.Tx) error {
		_, err := tx.Exec(`INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES (1, 'old', 'UTC', 1, 0)`)
		return err
	})
	return d
}

func write(t *testing.T, d *db.DB, fn func(*db.Tx) error) {
	t.Helper()
	if err := d.Write(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, tx *db.Tx, text string, read bool) {
	t.Helper()
	if got, asked, err := name(tx); err != nil || got != text || asked != read {
		t.Errorf("%q, read %t, %v; want %q, read %t", got, asked, err, text, read)
	}
}

// TestValueIsCachedUntilRevisionChanges checks that a value is read once for each revision. A transaction from before a
// change still sees the former value, and does not share it.
func TestValueIsCachedUntilRevisionChanges(t *testing.T) {
	d := open(t)
	read := func(fn func(tx *db.Tx)) func(*db.Tx) error { return func(tx *db.Tx) error { fn(tx); return nil } }
	d.Read(t.Context(), read(func(tx *db.Tx) { want(t, tx, "old", true) }))
	d.Snapshot(t.Context(), read(func(tx *db.Tx) { want(t, tx, "old", false) }))
	d.Snapshot(t.Context(), read(func(before *db.Tx) {
		want(t, before, "old", false)
		write(t, d, func(tx *db.Tx) error { return rename(tx, "new") })
		d.Snapshot(t.Context(), read(func(tx *db.Tx) { want(t, tx, "new", true) }))
		want(t, before, "old", true) // no longer kept
		d.Read(t.Context(), read(func(tx *db.Tx) { want(t, tx, "new", false) }))
	}))
}

// TestUncommittedValueIsNotCached checks that a write sees its own change, and that a failed write leaves nothing in the
// cache although the next change gets the same revision.
func TestUncommittedValueIsNotCached(t *testing.T) {
	d := open(t)
	failed := errors.New("failed")
	err := d.Write(t.Context(), func(tx *db.Tx) error {
		want(t, tx, "old", true)
		err := rename(tx, "never")
		want(t, tx, "never", true)
		return errors.Join(err, failed)
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	write(t, d, func(tx *db.Tx) error { return rename(tx, "new") })
	d.Snapshot(t.Context(), func(tx *db.Tx) error { want(t, tx, "new", true); return nil })
}

// TestValueIsNotCachedAfterConcurrentChange changes the configuration between two reads: where each statement sees the newest commit, the revision may be older than the
// rows that are read after it.
func TestValueIsNotCachedAfterConcurrentChange(t *testing.T) {
	d := open(t)
	err := d.Read(t.Context(), func(tx *db.Tx) error {
		_, _, err := configstore.Kept(tx, 1, keptName{}, func() (string, bool, error) {
			write(t, d, func(tx *db.Tx) error { return rename(tx, "new") })
			return db.One(tx, db.Column[string], `SELECT account_name FROM account WHERE account_id = 1`)
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, d, func(tx *db.Tx) error { // back to the revision of the reader above, as no change could do
		_, err := tx.Exec(`UPDATE account SET revision = revision - 1, account_name = 'older' WHERE account_id = 1`)
		return err
	})
	d.Snapshot(t.Context(), func(tx *db.Tx) error { want(t, tx, "older", true); return nil })
}

// TestContinue checks that an account that replaces another one has a revision that the other never had.
func TestContinue(t *testing.T) {
	d := open(t)
	write(t, d, func(tx *db.Tx) error { return errors.Join(rename(tx, "a"), rename(tx, "b")) })
	write(t, d, func(tx *db.Tx) error {
		before, err := configstore.Revision(tx, 1)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE account SET revision = 0 WHERE account_id = 1`); err != nil {
			return err
		}
		err = configstore.Continue(tx, 1, before)
		if after, _ := configstore.Revision(tx, 1); after <= before {
			t.Errorf("revision %d after %d", after, before)
		}
		return err
	})
}
