package db_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

const hog, other = 1002, 1066 // in the same part of the accounts, and in the first lane

// TestReaderIsLeftForOthers: reads of one account that never end leave connections for the reads of the others, and for
// the program's own.
func TestReaderIsLeftForOthers(t *testing.T) {
	t.Parallel()
	d := openNumbers(t)
	end, all := make(chan struct{}), sync.WaitGroup{}
	ctx, cancel := context.WithCancel(db.For(t.Context(), hog))
	reads := make(chan struct{}, 100)
	for i := range 100 {
		read := d.Read
		if i%2 == 0 {
			read = d.Snapshot
		}
		all.Go(func() {
			_ = read(ctx, func(tx *db.Tx) error { // those that wait are cancelled in the end
				_, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM number`)
				reads <- struct{}{}
				<-end
				return err
			})
		})
	}
	<-reads
	soon, stop := context.WithTimeout(t.Context(), time.Minute) // so that the test fails and does not hang
	defer stop()
	for _, of := range []context.Context{db.For(soon, other), soon} {
		for range 200 {
			if err := d.Read(of, func(tx *db.Tx) error {
				_, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM number`)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	cancel()
	close(end)
	all.Wait()
	if err := d.Read(db.For(t.Context(), hog), func(*db.Tx) error { return nil }); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestAccountsTakeTurnsToWrite: a write does not wait for more than one of each other account that came before, and those
// of one account stay in their order.
func TestAccountsTakeTurnsToWrite(t *testing.T) {
	t.Parallel()
	d := openNumbers(t)
	held := make(chan struct{})
	release := make(chan struct{})
	all := sync.WaitGroup{}
	all.Go(func() { // holds the lane until the others wait
		if err := d.WriteOf(t.Context(), hog, func(*db.Tx) error {
			close(held)
			<-release
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
	<-held
	var order []int64 // of one lane, so of one goroutine
	write := func(account int64) {
		before := d.Waiting()
		all.Go(func() {
			if err := d.WriteOf(t.Context(), account, func(tx *db.Tx) error {
				order = append(order, account)
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
		for d.Waiting() == before {
			runtime.Gosched()
		}
	}
	for range 300 {
		write(hog)
	}
	write(other)
	close(release)
	all.Wait()
	if at := slices.Index(order, int64(other)); at < 0 || at > 1 {
		t.Errorf("the write of the other account was number %d", at)
	}
}

// TestAccountKeepsNoLaneFromOthers: while an account is written for long, and more of it waits, to be claimed too, every
// other account is written and claimed. The embedded engine has one writer: there the others have the next turn.
func TestAccountKeepsNoLaneFromOthers(t *testing.T) {
	t.Parallel()
	d := openNumbers(t)
	var all sync.WaitGroup
	var had atomic.Int64 // works of the account that have begun
	begun, release := make(chan struct{}, 100), make(chan struct{})
	work := func(*db.Tx) error {
		had.Add(1)
		begun <- struct{}{}
		<-release
		return nil
	}
	hogs := func(do func(context.Context, int64, func(*db.Tx) error) error) {
		all.Go(func() {
			if err := do(context.Background(), hog, work); err != nil {
				t.Error(err)
			}
		})
	}
	hogs(d.WriteOf)
	<-begun
	for range 20 {
		hogs(d.WriteOf)
		hogs(d.ClaimOf)
	}
	for d.Waiting() < 40 {
		runtime.Gosched()
	}
	var others sync.WaitGroup
	for account := range int64(64) {
		if account == hog%64 {
			continue // TestAccountsTakeTurnsToWrite
		}
		for _, do := range []func(context.Context, int64, func(*db.Tx) error) error{d.WriteOf, d.ClaimOf} {
			others.Go(func() {
				soon, stop := context.WithTimeout(t.Context(), time.Minute) // so that the test fails and does not hang
				defer stop()
				if err := do(soon, account, func(*db.Tx) error {
					if n := had.Load(); dbtest.Server != "" && n > 1 {
						t.Errorf("account %d waited for %d works of another", account, n)
					}
					return nil
				}); err != nil {
					t.Errorf("account %d: %v", account, err)
				}
			})
		}
	}
	if dbtest.Server == "" {
		close(release)
	}
	others.Wait()
	if dbtest.Server != "" {
		close(release)
	}
	all.Wait()
}
