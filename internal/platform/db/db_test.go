package db_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

var ctx = context.Background()

// openNew opens a new database on the engine of the run.
func openNew(t testing.TB) *db.DB {
	t.Helper()
	d, err := db.Open(ctx, dbtest.Migrated(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// openItems opens a database with a table of names.
func openItems(t *testing.T) *db.DB {
	t.Helper()
	d := openNew(t)
	write(t, d, `CREATE TABLE item (id BIGINT PRIMARY KEY, name TEXT NOT NULL)`)
	return d
}

func write(t *testing.T, d *db.DB, query string, args ...any) {
	t.Helper()
	if err := d.Write(ctx, exec(query, args...)); err != nil {
		t.Fatal(err)
	}
}

func exec(query string, args ...any) func(*db.Tx) error {
	return func(tx *db.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	}
}

func insert(id int, name string) func(*db.Tx) error {
	return exec(`INSERT INTO item (id, name) VALUES ($1, $2)`, id, name)
}

func names(tx *db.Tx) ([]string, error) {
	return db.All(tx, db.Column[string], `SELECT name FROM item ORDER BY id`)
}

// expect checks the names that the table holds.
func expect(t *testing.T, d *db.DB, want ...string) {
	t.Helper()
	var got []string
	err := d.Read(ctx, func(tx *db.Tx) (err error) {
		got, err = names(tx)
		return err
	})
	if err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%q (%v), want %q", got, err, want)
	}
}

func TestWriteIsAllOrNothing(t *testing.T) {
	t.Parallel()
	d := openItems(t)
	refused := errors.New("refused")
	if err := d.Write(ctx, func(tx *db.Tx) error { return errors.Join(insert(1, "a")(tx), refused) }); !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
	expect(t, d)
	func() {
		defer func() {
			if p := recover(); !strings.HasPrefix(fmt.Sprint(p), "a panic\n") {
				t.Errorf("recovered %v", p)
			}
		}()
		d.Write(ctx, func(tx *db.Tx) error {
			if err := insert(1, "a")(tx); err != nil {
				t.Error(err)
			}
			panic("a panic")
		})
	}()
	expect(t, d)
	err := d.Write(ctx, func(tx *db.Tx) error { return errors.Join(insert(1, "a")(tx), insert(1, "again")(tx)) })
	if err == nil || !strings.Contains(err.Error(), "INSERT INTO item") {
		t.Errorf("an error must name its statement: %v", err)
	}
	expect(t, d)
	if err := d.Write(ctx, insert(1, "a")); err != nil {
		t.Error(err)
	}
	expect(t, d, "a")
}

// A Try that fails or panics is rolled back alone.
func TestTryUndoesWhatFailed(t *testing.T) {
	t.Parallel()
	d := openItems(t)
	refused := errors.New("refused")
	err := d.Write(ctx, func(tx *db.Tx) error {
		for n, fail := range []func() error{nil, func() error { return refused }, func() error { panic("a panic") }, func() error { return insert(0, "again")(tx) }, nil} {
			failed, err := tx.Try(func() error {
				if err := insert(n, fmt.Sprint("item", n))(tx); err != nil || fail == nil {
					return err
				}
				return fail()
			})
			if err != nil || (failed != nil) != (fail != nil) || n == 1 && !errors.Is(failed, refused) {
				t.Errorf("%d: %v, %v", n, failed, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, d, "item0", "item4")
}

// A function that does not return the error of a statement changes nothing: half of what was meant must not be stored.
func TestStatementThatFailedIsNotPassedOver(t *testing.T) {
	t.Parallel()
	d := openItems(t)
	passedOver := func(tx *db.Tx) error {
		_ = insert(1, "again")(tx)
		return nil
	}
	write(t, d, `INSERT INTO item (id, name) VALUES (1, 'a')`)
	if err := d.Write(ctx, func(tx *db.Tx) error { return errors.Join(insert(2, "b")(tx), passedOver(tx)) }); err == nil {
		t.Error("a write that passed over an error succeeded")
	}
	expect(t, d, "a")
	err := d.Write(ctx, func(tx *db.Tx) error {
		failed, err := tx.Try(func() error { return errors.Join(insert(2, "b")(tx), passedOver(tx)) })
		if failed == nil || err != nil {
			t.Errorf("a try that passed over an error: %v, %v", failed, err)
		}
		if _, _, err := db.One(tx, db.Column[int64], `SELECT name FROM item`); err == nil {
			t.Error("a text was read into a number")
		} // a row that cannot be read is no failure of the statement
		return insert(3, "c")(tx)
	})
	if err != nil {
		t.Error(err)
	}
	expect(t, d, "a", "c")
}

// TestSnapshotSeesOneState changes the data between two statements of a Snapshot, and of a Read.
func TestSnapshotSeesOneState(t *testing.T) {
	t.Parallel()
	d := openItems(t)
	look := func(in func(context.Context, func(*db.Tx) error) error, id int) (before, after []string) {
		err := in(ctx, func(tx *db.Tx) (err error) {
			before, err = names(tx)
			if err != nil {
				return err
			}
			write(t, d, `INSERT INTO item (id, name) VALUES ($1, 'new')`, id)
			after, err = names(tx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return before, after
	}
	if before, after := look(d.Snapshot, 1); len(before) != 0 || len(after) != 0 {
		t.Errorf("snapshot: %q, then %q", before, after)
	}
	if before, after := look(d.Read, 2); len(before) != 1 || len(after) != 2 {
		t.Errorf("read: %q, then %q", before, after)
	}
}

func TestReadersCannotWrite(t *testing.T) {
	t.Parallel()
	d := openItems(t)
	if err := d.Read(ctx, insert(1, "a")); err == nil {
		t.Error("a read wrote")
	}
	if err := d.Snapshot(ctx, insert(1, "a")); err == nil {
		t.Error("a snapshot wrote")
	}
	expect(t, d)
}

func TestRowsAndColumns(t *testing.T) {
	t.Parallel()
	d := openItems(t)
	write(t, d, `INSERT INTO item (id, name) VALUES ($1, $2), ($3, $4)`, 1, "a", int64(-1<<63), "b'\";--")
	err := d.Snapshot(ctx, func(tx *db.Tx) error {
		all, err := names(tx)
		if err != nil || !reflect.DeepEqual(all, []string{"b'\";--", "a"}) {
			t.Errorf("%q %v", all, err)
		}
		none, err := db.All(tx, db.Column[string], `SELECT name FROM item WHERE id = $1`, 7)
		if err != nil || none == nil || len(none) != 0 {
			t.Errorf("without rows: %v %v, want an empty list", none, err)
		}
		name, found, err := db.One(tx, db.Column[string], `SELECT name FROM item WHERE id = $1`, 1)
		if err != nil || !found || name != "a" {
			t.Errorf("%q %t %v", name, found, err)
		}
		if _, found, err := db.One(tx, db.Column[string], `SELECT name FROM item WHERE id = $1`, 7); err != nil || found {
			t.Errorf("%t %v", found, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	_ = d.Read(ctx, func(tx *db.Tx) error { // each statement by itself: one that fails ends a transaction
		if _, err := db.All(tx, db.Column[int64], `SELECT name FROM item`); err == nil || !strings.Contains(err.Error(), "SELECT name") {
			t.Errorf("a row of another type: %v", err)
		}
		if _, _, err := db.One(tx, db.Column[int64], `SELECT name FROM nowhere`); err == nil || !strings.Contains(err.Error(), "nowhere") {
			t.Errorf("a table that does not exist: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	err = d.Write(ctx, func(tx *db.Tx) error {
		n, err := tx.Exec(`UPDATE item SET name = 'c'`)
		if n != 2 {
			t.Errorf("%d rows changed", n)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestConcurrentReadsAndWrites has writers that read before they write, so that a lost update would show, and
// readers that check that two rows agree.
func TestConcurrentReadsAndWrites(t *testing.T) {
	t.Parallel()
	d := openItems(t)
	write(t, d, `CREATE TABLE counter (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)`)
	write(t, d, `INSERT INTO counter (id, n) VALUES (1, 0), (2, 0)`)
	read := func(tx *db.Tx, id int) (int64, error) {
		n, _, err := db.One(tx, db.Column[int64], `SELECT n FROM counter WHERE id = $1`, id)
		return n, err
	}
	const workers, rounds = 6, 25
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range rounds {
				err := d.Write(ctx, func(tx *db.Tx) error {
					for id := 1; id <= 2; id++ {
						n, err := read(tx, id)
						if err != nil {
							return err
						}
						if err := exec(`UPDATE counter SET n = $1 WHERE id = $2`, n+1, id)(tx); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
				err = d.Snapshot(ctx, func(tx *db.Tx) error {
					a, err := read(tx, 1)
					b, err2 := read(tx, 2)
					if a != b {
						t.Errorf("%d and %d in one snapshot", a, b)
					}
					return errors.Join(err, err2)
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	err := d.Read(ctx, func(tx *db.Tx) error {
		n, err := read(tx, 1)
		if n != workers*rounds {
			t.Errorf("%d, want %d", n, workers*rounds)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWaitingEndsWithContext(t *testing.T) {
	t.Parallel()
	d := openItems(t)
	err := d.Write(ctx, func(*db.Tx) error {
		ended, end := context.WithCancel(ctx)
		end()
		if err := d.Write(ended, insert(1, "a")); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	expect(t, d)
}

// TestCloseWaits: a transaction that has begun is committed; one that begins later fails.
func TestCloseWaits(t *testing.T) {
	t.Parallel()
	d := openItems(t)
	begun, closed := make(chan struct{}), make(chan error)
	err := d.Write(ctx, func(tx *db.Tx) error {
		go func() {
			close(begun)
			closed <- d.Close()
		}()
		<-begun
		return insert(1, "a")(tx)
	})
	if err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	for _, in := range []func(context.Context, func(*db.Tx) error) error{d.Read, d.Snapshot, d.Write} {
		if err := in(ctx, func(*db.Tx) error { return nil }); !errors.Is(err, db.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	if err := d.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	again, err := db.Open(ctx, d.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	expect(t, again, "a")
}

// TestEveryTableBelongsToAccount: the rows of every table are deleted with their account. The tables of sealing
// keys, of the key for push, of the hold, of nodes with their slots and of moved accounts belong to the database as a whole.
func TestEveryTableBelongsToAccount(t *testing.T) {
	t.Parallel()
	d := openNew(t)
	err := d.Read(ctx, func(tx *db.Tx) error {
		tables, err := dbtest.Tables(tx)
		if err != nil {
			return err
		}
		for _, table := range tables {
			if slices.Contains([]string{"account", "seal_key", "hold", "push_key", "moved", "moved_key", "node", "node_slot", "daily_job", "schema_floor", "sign_in_attempt", "sign_in_state"}, table) {
				continue
			}
			with, err := dbtest.WithAccount(tx, table)
			if err != nil {
				return err
			}
			if !with {
				t.Errorf("the rows of %s are not deleted with their account", table)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestForeignKeysAreEnforced(t *testing.T) {
	t.Parallel()
	d := openNew(t)
	if err := d.Write(ctx, exec(`INSERT INTO team (account_id, team_id, team_name) VALUES (7, 1, 'SRE')`)); err == nil {
		t.Error("a team of no account")
	}
	write(t, d, `INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES (7, 'Acme', 'UTC', 1, 1)`)
	write(t, d, `INSERT INTO team (account_id, team_id, team_name) VALUES (7, 1, 'SRE')`)
	write(t, d, `DELETE FROM account`)
	err := d.Read(ctx, func(tx *db.Tx) error {
		n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM team`)
		if n != 0 {
			t.Error("a team outlived its account")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
