package db_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// opened returns a connection to a database and its name.
func opened(t *testing.T, schema ...string) (*db.DB, string) {
	t.Helper()
	dsn := dbtest.Migrated(t)
	d := connected(t, dsn)
	for _, text := range schema {
		change(t, d, text)
	}
	return d, dsn
}

func connected(t *testing.T, dsn string) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func change(t *testing.T, d *db.DB, text string, args ...any) {
	t.Helper()
	if err := d.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(text, args...)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, d *db.DB, query string) (n int64) {
	t.Helper()
	if err := d.Read(t.Context(), func(tx *db.Tx) (err error) {
		n, _, err = db.One(tx, db.Column[int64], query)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

const (
	letters = `CREATE TABLE letter (n BIGINT PRIMARY KEY, body TEXT NOT NULL, urgent BOOLEAN NOT NULL, weight DOUBLE PRECISION, seal BYTEA)`
	waiting = `CREATE TABLE letter_waiting (n BIGINT PRIMARY KEY)`
)

// letter returns the rows of a letter in both tables.
func letter(numbers ...int) (stored, waits db.Rows) {
	stored = db.Rows{Table: "letter", Columns: []string{"n", "body", "urgent", "weight", "seal"}}
	waits = db.Rows{Table: "letter_waiting", Columns: []string{"n"}}
	for _, n := range numbers {
		var weight *float64
		if n%3 == 0 {
			weight = new(float64)
			*weight = float64(n) / 2
		}
		stored.Values = append(stored.Values, []any{n, fmt.Sprint("letter ", n), n%2 == 0, weight, []byte{byte(n), 0}})
		waits.Values = append(waits.Values, []any{n})
	}
	return stored, waits
}

// TestAppend appends from many goroutines at once. Rows that cannot be stored affect no others; what was acknowledged is
// stored whole, and what was refused is not.
func TestAppend(t *testing.T) {
	t.Parallel()
	d, _ := opened(t, letters, waiting)
	change(t, d, `INSERT INTO letter_waiting (n) VALUES (70)`)
	var all sync.WaitGroup
	errs := make([]error, 100)
	for i := range errs {
		all.Go(func() {
			stored, waits := letter(10*i, 10*i+1, 10*i+2)
			errs[i] = d.Append(t.Context(), stored, waits)
		})
	}
	all.Wait()
	for i, err := range errs {
		if (err != nil) != (i == 7) {
			t.Errorf("append %d: %v", i, err)
		}
	}
	if n := count(t, d, `SELECT count(*) FROM letter WHERE body = 'letter ' || CAST(n AS TEXT) AND urgent = (n % 2 = 0)
		AND coalesce(weight, -1) = CASE WHEN n % 3 = 0 THEN n / 2.0 ELSE -1 END AND length(seal) = 2`); n != 297 {
		t.Errorf("%d letters, want 297", n)
	}
	if n := count(t, d, `SELECT count(*) FROM letter_waiting`); n != 298 {
		t.Errorf("%d wait, want 298", n)
	}
}

// TestInsert: many rows in a transaction, and their error is that of the transaction.
func TestInsert(t *testing.T) {
	t.Parallel()
	d, _ := opened(t, letters)
	put := func(numbers ...int) error {
		return d.Write(t.Context(), func(tx *db.Tx) error {
			stored, _ := letter(numbers...)
			return tx.Insert(stored)
		})
	}
	if err := errors.Join(put(), put(1, 2, 3), put(4)); err != nil {
		t.Error(err)
	}
	if err := put(5, 1); err == nil || !strings.Contains(err.Error(), "letter") {
		t.Errorf("a number that is there: %v", err)
	}
	if n := count(t, d, `SELECT sum(n) FROM letter`); n != 10 {
		t.Errorf("the numbers are together %d", n)
	}
}

// TestDo: an error of a statement whose answer is not awaited fails the write that it belongs to, and no other that shares
// its commit; inside of Try it fails that part alone.
func TestDo(t *testing.T) {
	t.Parallel()
	d, _ := opened(t, waiting)
	add := func(tx *db.Tx, n int) error { return tx.Do(`INSERT INTO letter_waiting (n) VALUES ($1)`, n) }
	begun, gate := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { // the others come together
		if err := d.Write(t.Context(), func(*db.Tx) error { close(begun); <-gate; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-begun
	errs := make([]error, 30)
	for i := range errs {
		all.Go(func() {
			errs[i] = d.Write(t.Context(), func(tx *db.Tx) error {
				if i%3 == 0 { // ten writes add the same number
					return add(tx, 0)
				}
				return add(tx, i)
			})
		})
	}
	for d.Waiting() < len(errs) {
		runtime.Gosched()
	}
	close(gate)
	all.Wait()
	refused := 0
	for i, err := range errs {
		if err != nil {
			refused++
		}
		if err != nil && i%3 != 0 {
			t.Errorf("write %d: %v", i, err)
		}
	}
	if refused != 9 {
		t.Errorf("%d writes were refused, want 9", refused)
	}
	var failed error
	if err := d.Write(t.Context(), func(tx *db.Tx) (err error) {
		err = add(tx, 100)
		if err != nil {
			return err
		}
		failed, err = tx.Try(func() error { return errors.Join(add(tx, 101), add(tx, 100)) })
		if err != nil {
			return err
		}
		return add(tx, 102)
	}); err != nil || failed == nil {
		t.Errorf("%v, of the part: %v", err, failed)
	}
	if err := d.Write(t.Context(), func(tx *db.Tx) error { return errors.Join(add(tx, 103), add(tx, 102)) }); err == nil {
		t.Error("a number was added twice")
	}
	if n := count(t, d, `SELECT sum(n) FROM letter_waiting WHERE n >= 100`); n != 202 {
		t.Errorf("the numbers are together %d, want 100 and 102", n)
	}
}

// TestWritesOfAccountAreAlone writes accounts from two processes' connections at once, and now and then all of them.
// Each reads a number and writes the next: none may be lost.
func TestWritesOfAccountAreAlone(t *testing.T) {
	t.Parallel()
	a, dsn := opened(t, `CREATE TABLE purse (account_id BIGINT PRIMARY KEY, coins BIGINT NOT NULL)`)
	b := connected(t, dsn)
	const accounts, each = 5, 40
	for n := range accounts {
		change(t, a, `INSERT INTO purse VALUES ($1, 0)`, n)
	}
	earn := func(tx *db.Tx, account int) error {
		coins, _, err := db.One(tx, db.Column[int64], `SELECT coins FROM purse WHERE account_id = $1`, account)
		if err != nil {
			return err
		}
		return tx.Do(`UPDATE purse SET coins = $2 WHERE account_id = $1`, account, coins+1)
	}
	var all sync.WaitGroup
	for i := range accounts * each {
		account := i % accounts
		for _, d := range []*db.DB{a, b} {
			all.Go(func() {
				if err := d.WriteOf(context.Background(), int64(account), func(tx *db.Tx) error { return earn(tx, account) }); err != nil {
					t.Error(err)
				}
			})
		}
		if i%20 == 0 {
			all.Go(func() {
				if err := a.Write(context.Background(), func(tx *db.Tx) error {
					for n := range accounts {
						if err := earn(tx, n); err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	if n, want := count(t, a, `SELECT sum(coins) FROM purse`), int64(accounts*each*2+accounts*each/20*accounts); n != want {
		t.Errorf("%d coins, want %d", n, want)
	}
}

// TestAccountsDoNotWaitForEachOther: while an account is written, another is; a write of all waits. The embedded engine
// has one writer.
func TestAccountsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	if dbtest.Server == "" {
		t.Skip("the embedded engine has one writer")
	}
	d, _ := opened(t)
	var ended atomic.Bool
	all := make(chan error, 1)
	if err := d.WriteOf(t.Context(), 1, func(*db.Tx) error {
		if err := d.WriteOf(t.Context(), 2, func(*db.Tx) error { return nil }); err != nil {
			return err
		}
		defer ended.Store(true)
		go func() {
			all <- d.Write(context.Background(), func(*db.Tx) error {
				if !ended.Load() {
					t.Error("all accounts were written while one was")
				}
				return nil
			})
		}()
		for count(t, d, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 0 {
			time.Sleep(time.Millisecond)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if err := <-all; err != nil {
		t.Error(err)
	}
}

// TestTryLock: a name that a claim of one process has locked is refused to another's, which waits for nothing and can go
// on. The embedded engine has one writer, so the two are never there at once.
func TestTryLock(t *testing.T) {
	t.Parallel()
	d, dsn := opened(t)
	other := connected(t, dsn)
	try := func(d *db.DB, account int64, name string, with func() error) (ok bool) {
		t.Helper()
		if err := d.ClaimOf(t.Context(), account, func(tx *db.Tx) (err error) {
			ok, err = tx.TryLock(name)
			if err == nil && with != nil {
				err = with()
			}
			return err
		}); err != nil {
			t.Error(err)
		}
		return ok
	}
	if !try(d, 1, "mail", func() error {
		if dbtest.Server == "" {
			return nil
		}
		if try(other, 2, "mail", nil) {
			t.Error("two processes have locked a name")
		}
		if !try(other, 2, "chat", nil) {
			t.Error("another name is locked too")
		}
		write := func(*db.Tx) error { return nil }
		return errors.Join(d.WriteOf(t.Context(), 3, write), other.WriteOf(t.Context(), 2, write))
	}) {
		t.Error("a name that no one has is refused")
	}
	if !try(other, 1, "mail", nil) {
		t.Error("a name is locked after its transaction")
	}
}

// TestWriteThatWaitsHoldsNoOtherAccount: writes of two accounts that come together share a transaction. While one of them
// waits for another process, the other account is written, by its own process and by others.
func TestWriteThatWaitsHoldsNoOtherAccount(t *testing.T) {
	t.Parallel()
	if dbtest.Server == "" {
		t.Skip("the embedded engine has one writer")
	}
	d, dsn := opened(t)
	other, third := connected(t, dsn), connected(t, dsn)
	write := func(*db.Tx) error { return nil }
	const low, busy = 2, 4 // of the same lane; the lower is locked first
	ends := make(chan error, 2)
	if err := other.WriteOf(t.Context(), busy, func(*db.Tx) error {
		begun, gate := make(chan struct{}), make(chan struct{})
		go d.WriteOf(t.Context(), 6, func(*db.Tx) error { close(begun); <-gate; return nil }) // both come together behind this write
		<-begun
		for _, account := range []int64{low, busy} {
			go func() { ends <- d.WriteOf(t.Context(), account, write) }()
		}
		time.Sleep(50 * time.Millisecond) // the writes may come one after the other, too: the test is weaker then, but does not fail
		close(gate)
		if err := <-ends; err != nil { // of low: busy waits until this function returns
			t.Error(err)
		}
		return third.WriteOf(t.Context(), low, write)
	}); err != nil {
		t.Error(err)
	}
	if err := <-ends; err != nil {
		t.Error(err)
	}
}

// While another process writes an account, its claim does not keep the lane from the claims of others.
func TestClaimThatWaitsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	if dbtest.Server == "" {
		t.Skip("the embedded engine has one writer")
	}
	d, dsn := opened(t)
	other := connected(t, dsn)
	begun := make(chan bool)
	end := make(chan bool)
	held := make(chan error, 1)
	go func() {
		held <- other.WriteOf(t.Context(), 1, func(*db.Tx) error {
			close(begun)
			<-end
			return nil
		})
	}()
	<-begun
	nothing, first := func(*db.Tx) error { return nil }, make(chan error, 1)
	go func() { first <- d.ClaimOf(t.Context(), 1, nothing) }()
	for d.Waiting() == 0 { // the claim has come, and perhaps was put off once
		runtime.Gosched()
	}
	if err := d.ClaimOf(t.Context(), 2, nothing); err != nil {
		t.Error(err)
	}
	close(end)
	if err := errors.Join(<-held, <-first); err != nil {
		t.Error(err)
	}
}
