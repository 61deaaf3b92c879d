package db_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"tocsin/internal/platform/db"
)

const owners = 20

// versionsOf reads the versions that openVersions makes, all 1.
var versionsOf = db.Versions{
	One:  `SELECT version FROM versioned WHERE owner = $1`,
	Many: `SELECT owner, version FROM json_each($1) AS one CROSS JOIN versioned WHERE owner = CAST(one.value AS BIGINT)`,
}

func openVersions(t testing.TB) *db.DB {
	t.Helper()
	d := openNew(t)
	if err := d.Write(t.Context(), func(tx *db.Tx) error {
		err := tx.Do(`CREATE TABLE versioned (owner BIGINT PRIMARY KEY, version BIGINT NOT NULL)`)
		for owner := range owners {
			err = errors.Join(err, tx.Do(`INSERT INTO versioned (owner, version) VALUES ($1, 1)`, owner))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return d
}

// increment increments the version of an owner and returns it.
func increment(d *db.DB, owner int64) (version int64, err error) {
	err = d.WriteOf(context.Background(), owner, func(tx *db.Tx) (err error) {
		version, _, err = db.One(tx, db.Column[int64], `UPDATE versioned SET version = version + 1 WHERE owner = $1 RETURNING version`, owner)
		return err
	})
	return version, err
}

// TestVersionIsNotOlderThanItsCall: callers share statements, and each is returned the version of its own owner that was
// the newest when it called, or a newer one.
func TestVersionIsNotOlderThanItsCall(t *testing.T) {
	t.Parallel()
	d := openVersions(t)
	var newest [owners]struct { // versions that are stored
		sync.Mutex
		version int64
	}
	var all sync.WaitGroup
	for caller := range 32 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(caller)))
			for range 300 {
				owner := r.Int64N(owners + 1)
				if owner < owners && r.IntN(10) == 0 {
					stored, err := increment(d, owner)
					if err != nil {
						t.Error(err)
					}
					newest[owner].Lock()
					newest[owner].version = max(newest[owner].version, stored)
					newest[owner].Unlock()
					continue
				}
				want := int64(0) // of the owner that does not exist
				if owner < owners {
					newest[owner].Lock()
					want = max(1, newest[owner].version)
					newest[owner].Unlock()
				}
				in := []func(context.Context, func(*db.Tx) error) error{d.Cached, d.Cached, d.Read, d.Snapshot}[r.IntN(4)]
				if err := in(db.For(t.Context(), owner), func(tx *db.Tx) error {
					version, err := tx.Version(owner, versionsOf)
					if version < want || owner == owners && version != 0 {
						t.Errorf("owner %d is at version %d, want %d", owner, version, want)
					}
					return err
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// TestCachedShowsOneState: a function that was shown a version before the first statement, which then reads another
// state, is called again; and what it returns is of one state.
func TestCachedShowsOneState(t *testing.T) {
	t.Parallel()
	d := openVersions(t)
	calls := 0
	if err := d.Cached(t.Context(), func(tx *db.Tx) error {
		calls++
		version, err := tx.Version(7, versionsOf)
		if err != nil {
			return err
		}
		if calls == 1 {
			if _, err := increment(d, 7); err != nil {
				return err
			}
		}
		for range 2 {
			stored, _, err := db.One(tx, db.Column[int64], versionsOf.One, 7)
			if err == nil && stored != version {
				t.Errorf("call %d: version %d beside rows of version %d", calls, version, stored)
			}
			if err != nil && calls > 1 {
				return err // the first error is ignored, as a careless function may
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if want := map[bool]int{true: 2, false: 1}[d.Shared()]; calls != want {
		t.Errorf("%d calls, want %d", calls, want)
	}
}

// TestCacheNeedsNoConnection: while all connections are lent, what the cache has is read.
func TestCacheNeedsNoConnection(t *testing.T) {
	t.Parallel()
	d := openVersions(t)
	if !d.Shared() {
		t.Skip("only for PostgreSQL: the embedded engine reads the version in the snapshot")
	}
	end, lent := make(chan struct{}), sync.WaitGroup{}
	var held sync.WaitGroup
	for range 8 {
		held.Add(1)
		lent.Go(func() {
			if err := d.Snapshot(t.Context(), func(*db.Tx) error {
				held.Done()
				<-end
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	held.Wait()
	soon, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	for range 50 {
		if err := d.Cached(soon, func(tx *db.Tx) error {
			_, err := tx.Version(3, versionsOf)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	close(end)
	lent.Wait()
}

// TestConnectionsComeBack: from functions that end well, fail and panic.
func TestConnectionsComeBack(t *testing.T) {
	t.Parallel()
	d := openVersions(t)
	failed := errors.New("failed")
	for n := range 200 {
		for _, in := range []func(context.Context, func(*db.Tx) error) error{d.Cached, d.Read, d.Snapshot} {
			func() {
				defer func() {
					if v := recover(); (v != nil) != (n%3 == 2) {
						t.Errorf("panic %v", v)
					}
				}()
				err := in(t.Context(), func(tx *db.Tx) error {
					if _, _, err := db.One(tx, db.Column[int64], versionsOf.One, n%owners); err != nil {
						return err
					}
					switch n % 3 {
					case 1:
						return failed
					case 2:
						panic("on purpose")
					}
					return nil
				})
				if want := []error{nil, failed, nil}[n%3]; !errors.Is(err, want) {
					t.Errorf("%v, want %v", err, want)
				}
			}()
		}
	}
}
