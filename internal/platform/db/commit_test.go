package db_test

import (
	"errors"
	"slices"
	"testing"

	"tocsin/internal/platform/db"
)

// Functions passed to OnCommit run after the commit, in order. A rollback of the transaction, or of a Try, drops them.
func TestOnCommitRunsAfterCommitOnly(t *testing.T) {
	t.Parallel()
	d := openNew(t)
	var ran []string
	note := func(tx *db.Tx, what string) { tx.OnCommit(func() { ran = append(ran, what) }) }
	broken := errors.New("broken")
	err := d.Write(ctx, func(tx *db.Tx) error {
		note(tx, "first")
		failed, err := tx.Try(func() error { note(tx, "undone"); return broken })
		if !errors.Is(failed, broken) || err != nil {
			t.Errorf("%v, %v", failed, err)
		}
		if failed, err := tx.Try(func() error { note(tx, "tried"); return nil }); failed != nil || err != nil {
			t.Errorf("%v, %v", failed, err)
		}
		if _, err := tx.Try(func() error { note(tx, "panicked"); panic("at the disco") }); err != nil {
			t.Error(err)
		}
		if len(ran) != 0 {
			t.Errorf("%q before the commit", ran)
		}
		return nil
	})
	if err != nil || !slices.Equal(ran, []string{"first", "tried"}) {
		t.Errorf("%q, %v", ran, err)
	}
	ran = nil
	if err := d.Write(ctx, func(tx *db.Tx) error { note(tx, "rolled back"); return broken }); !errors.Is(err, broken) || len(ran) != 0 {
		t.Errorf("%q, %v", ran, err)
	}
	if err := d.Read(ctx, func(tx *db.Tx) error { note(tx, "read"); return nil }); err != nil || !slices.Equal(ran, []string{"read"}) {
		t.Errorf("%q, %v", ran, err)
	}
}

// Writes that share a commit run the functions of each. Those of a write that fails do not run.
func TestOnCommitOfWritesThatShareCommit(t *testing.T) {
	t.Parallel()
	d := openNew(t)
	const writes = 40
	ran := make([]int, writes)
	results := make(chan error, writes)
	for n := range writes {
		go func() {
			results <- d.Write(ctx, func(tx *db.Tx) error {
				tx.OnCommit(func() { ran[n]++ })
				if n%3 == 0 {
					return errors.New("broken")
				}
				return nil
			})
		}()
	}
	for range writes {
		<-results
	}
	for n := range writes {
		want := 1
		if n%3 == 0 {
			want = 0
		}
		if ran[n] != want {
			t.Errorf("write %d ran %d times, want %d", n, ran[n], want)
		}
	}
}
