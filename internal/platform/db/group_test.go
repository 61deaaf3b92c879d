package db_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"tocsin/internal/platform/db"
)

func openNumbers(t testing.TB) *db.DB {
	t.Helper()
	d := openNew(t)
	if err := d.Write(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Exec(`CREATE TABLE number (n BIGINT PRIMARY KEY)`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return d
}

func addNumber(tx *db.Tx, n int) error {
	_, err := tx.Exec(`INSERT INTO number (n) VALUES ($1)`, n)
	return err
}

// TestWritesThatShareCommit starts many writes at once. Some fail, some panic, some stop waiting and some violate a
// constraint: each must return its own result, and only those that succeed may leave a row.
func TestWritesThatShareCommit(t *testing.T) {
	t.Parallel()
	d := openNumbers(t)
	const n = 600
	refused := errors.New("refused")
	gate, all := make(chan struct{}), sync.WaitGroup{}
	outcome, panics := make([]error, n), make([]any, n)
	all.Go(func() { // holds the writer until the others wait
		d.Write(context.Background(), func(*db.Tx) error { <-gate; return nil })
	})
	for i := range n {
		all.Go(func() {
			defer func() { panics[i] = recover() }()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if i%6 == 5 {
				cancel()
			}
			outcome[i] = d.Write(ctx, func(tx *db.Tx) error {
				if err := addNumber(tx, i); err != nil {
					return err
				}
				switch i % 6 {
				case 1:
					return refused
				case 2:
					panic("number " + fmt.Sprint(i))
				case 3:
					return addNumber(tx, i) // twice
				}
				return nil
			})
		})
	}
	close(gate)
	all.Wait()
	want := map[int64]bool{}
	for i := range n {
		var done bool
		switch i % 6 {
		case 1:
			if !errors.Is(outcome[i], refused) {
				t.Errorf("%d: %v", i, outcome[i])
			}
		case 2:
			if panics[i] == nil {
				t.Errorf("%d did not panic: %v", i, outcome[i])
			}
		case 3:
			if outcome[i] == nil {
				t.Errorf("%d violated a constraint and succeeded", i)
			}
		case 5:
			done = outcome[i] == nil
			if !done && !errors.Is(outcome[i], context.Canceled) {
				t.Errorf("%d: %v", i, outcome[i])
			}
		default:
			done = true
			if outcome[i] != nil {
				t.Errorf("%d: %v", i, outcome[i])
			}
		}
		if done {
			want[int64(i)] = true
		}
	}
	err := d.Read(context.Background(), func(tx *db.Tx) error {
		got, err := db.All(tx, db.Column[int64], `SELECT n FROM number`)
		for _, i := range got {
			if !want[i] {
				t.Errorf("%d was stored", i)
			}
			delete(want, i)
		}
		return err
	})
	if err != nil || len(want) > 0 {
		t.Error(err, "missing:", want)
	}
}

// TestGroupThatCannotCommit: when the engine rolls the whole transaction back, every write of the group returns an
// error.
func TestGroupThatCannotCommit(t *testing.T) {
	t.Parallel()
	d := openNumbers(t)
	gate := make(chan struct{})
	outcome, all := make([]error, 8), sync.WaitGroup{}
	running := make(chan struct{})
	all.Go(func() { // holds the writer until the others wait
		d.Write(context.Background(), func(*db.Tx) error { close(running); <-gate; return nil })
	})
	<-running
	for i := range outcome {
		all.Go(func() {
			outcome[i] = d.Write(context.Background(), func(tx *db.Tx) error {
				if err := addNumber(tx, i); err != nil {
					return err
				}
				if i == 3 {
					tx.Exec("ROLLBACK") // as a full disk does
					return errors.New("the disk is full")
				}
				return nil
			})
		})
	}
	for { // until all wait
		if d.Waiting() == len(outcome) {
			break
		}
	}
	close(gate)
	all.Wait()
	for i, err := range outcome {
		if err == nil {
			t.Errorf("write %d returned no error", i)
		}
	}
	if err := d.Write(context.Background(), func(tx *db.Tx) error { return addNumber(tx, 1) }); err != nil {
		t.Error("afterwards:", err)
	}
}

// TestWritesJoinGroupThatRuns: a write that arrives while another runs shares its commit, so both fail together.
func TestWritesJoinGroupThatRuns(t *testing.T) {
	t.Parallel()
	d := openNumbers(t)
	var second sync.WaitGroup
	var outcome error
	err := d.Write(t.Context(), func(tx *db.Tx) error {
		second.Go(func() {
			outcome = d.Write(context.Background(), func(tx *db.Tx) error {
				tx.Exec("ROLLBACK") // as a full disk does
				return errors.New("the disk is full")
			})
		})
		for !tx.Awaited() {
			runtime.Gosched()
		}
		return addNumber(tx, 1)
	})
	second.Wait()
	if err == nil || outcome == nil {
		t.Error("the first:", err, "the second:", outcome)
	}
}

func BenchmarkWrite(b *testing.B) {
	d := openNumbers(b)
	var next sync.Mutex
	n := 0
	b.SetParallelism(32)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			next.Lock()
			n++
			i := n
			next.Unlock()
			if err := d.Write(context.Background(), func(tx *db.Tx) error { return addNumber(tx, i) }); err != nil {
				b.Error(err)
			}
		}
	})
}

// TestAwaited: Awaited is true for a writer when another write waits, and never for a reader.
func TestAwaited(t *testing.T) {
	t.Parallel()
	d := openNumbers(t)
	var second sync.WaitGroup
	err := d.Write(t.Context(), func(tx *db.Tx) error {
		if tx.Awaited() {
			t.Error("awaited although no other write waits")
		}
		second.Go(func() { d.Write(context.Background(), func(tx *db.Tx) error { return addNumber(tx, 1) }) })
		for !tx.Awaited() {
			runtime.Gosched()
		}
		return d.Read(t.Context(), func(tx *db.Tx) error {
			if tx.Awaited() {
				t.Error("a reader is awaited")
			}
			return nil
		})
	})
	second.Wait()
	if err != nil {
		t.Error(err)
	}
}
