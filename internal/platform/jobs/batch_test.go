package jobs

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/fault"
)

// errCorrupt is why a row fails by itself.
var errCorrupt = errors.New("corrupt")

// numbers is work on numbered rows, each in a table.
type numbers struct {
	d         *db.DB
	corrupt   map[int64]bool
	postponed []int64
}

func newNumbers(t *testing.T, n int64) *numbers {
	t.Helper()
	d, err := db.Open(t.Context(), dbtest.Migrated(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	err = d.Write(t.Context(), func(tx *db.Tx) error {
		if err := tx.Do(`CREATE TABLE number (n BIGINT PRIMARY KEY, done BIGINT NOT NULL, later BIGINT NOT NULL)`); err != nil {
			return err
		}
		for i := range n {
			if err := tx.Do(`INSERT INTO number (n, done, later) VALUES ($1, 0, 0)`, i); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return &numbers{d: d, corrupt: map[int64]bool{}}
}

func open(tx *db.Tx) ([]int64, error) {
	return db.All(tx, db.Column[int64], `SELECT n FROM number WHERE done = 0 AND later = 0 ORDER BY n`)
}

func (w *numbers) batch(size int) *Batch[int64] {
	return &Batch[int64]{
		DB: w.d,
		Due: func(tx *db.Tx, t *Round) ([]int64, error) {
			rows, err := open(tx)
			t.More = len(rows) > size
			return rows[:min(size, len(rows))], err
		},
		Still: func(tx *db.Tx, _ *Round, rows []int64) ([]int64, error) {
			now, err := open(tx)
			return slices.DeleteFunc(slices.Clone(rows), func(n int64) bool { return !slices.Contains(now, n) }), err
		},
		Do: func(tx *db.Tx, _ *Round, rows []int64) error {
			for _, n := range rows {
				if err := tx.Do(`UPDATE number SET done = done + 1 WHERE n = $1`, n); err != nil {
					return err
				}
				if w.corrupt[n] && n%2 == 0 {
					panic("corrupt")
				}
				if w.corrupt[n] {
					return errCorrupt
				}
			}
			return nil
		},
		Postpone: func(tx *db.Tx, _ *Round, n int64, cause error) error {
			w.postponed = append(w.postponed, n)
			return tx.Do(`UPDATE number SET later = 1 WHERE n = $1`, n)
		},
	}
}

// Whatever rows fail and whatever another process does meanwhile, each good row is done once, and each corrupt row is postponed
// once.
func TestBatchDoesEachRowOnce(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		total := 1 + random.Int64N(40)
		w := newNumbers(t, total)
		for n := range total {
			w.corrupt[n] = random.IntN(5) == 0
		}
		b := w.batch(1 + random.IntN(12))
		other := w.batch(1 + random.IntN(12))
		b.Prepare = func(t *Round, rows []int64) ([]int64, error) {
			if random.IntN(2) == 0 {
				return rows, nil
			}
			return rows, other.Round(&Round{Ctx: t.Ctx, Now: now, turns: NewRoundRobin(NewSignal(), nil, nil)})
		}
		for more := true; more; {
			r := &Round{Ctx: t.Context(), Now: now, turns: NewRoundRobin(NewSignal(), nil, nil)}
			if err := b.Round(r); err != nil {
				t.Fatal(err)
			}
			more = r.More
		}
		var wrong []string
		err := w.d.Read(t.Context(), func(tx *db.Tx) error {
			_, err := db.All(tx, func(scan db.Scan) (struct{}, error) {
				var n, done, later int64
				err := scan(&n, &done, &later)
				if w.corrupt[n] != (later == 1) || w.corrupt[n] != (done == 0) || done > 1 {
					wrong = append(wrong, fmt.Sprint(n, " done ", done, " later ", later, " corrupt ", w.corrupt[n]))
				}
				return struct{}{}, err
			}, `SELECT n, done, later FROM number`)
			return err
		})
		if err != nil || wrong != nil {
			t.Fatal(wrong, err)
		}
		slices.Sort(w.postponed)
		if len(slices.Compact(slices.Clone(w.postponed))) != len(w.postponed) {
			t.Errorf("postponed twice: %v", w.postponed)
		}
	}
}

// A database that is away is the fault of no row: none is postponed.
func TestBatchPostponesNoRowWhileDatabaseIsAway(t *testing.T) {
	t.Parallel()
	w := newNumbers(t, 10)
	b := w.batch(10)
	away := fault.New(fault.Unavailable, "the database is away")
	b.Do = func(*db.Tx, *Round, []int64) error { return away }
	err := b.Round(&Round{Ctx: t.Context(), Now: now, turns: NewRoundRobin(NewSignal(), nil, nil)})
	if fault.KindOf(err) != fault.Unavailable || len(w.postponed) > 0 {
		t.Errorf("%v, postponed %v", err, w.postponed)
	}
}

// Rows that cannot be postponed are done together or not at all, whichever of them fails and however.
func TestBatchWithoutPostponeDoesAllRowsOrNone(t *testing.T) {
	t.Parallel()
	for corrupt := range int64(3) {
		w := newNumbers(t, 3)
		b := w.batch(3)
		b.Postpone = nil
		w.corrupt[corrupt] = true
		if err := b.Process(&Round{Ctx: t.Context(), Now: now}, []int64{0, 1, 2}); err == nil {
			t.Error("no error of the row")
		}
		err := w.d.Read(t.Context(), func(tx *db.Tx) error {
			left, err := open(tx)
			if len(left) != 3 {
				t.Errorf("row %d is corrupt: only %v are left", corrupt, left)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A round whose rows another process has done does not go on, if they were many.
func TestRoundEndsWhenAnotherProcessIsFaster(t *testing.T) {
	t.Parallel()
	for total, goesOn := range map[int64]bool{few: true, few + 1: false} {
		w := newNumbers(t, total)
		b := w.batch(int(total))
		b.Prepare = func(t *Round, rows []int64) ([]int64, error) { return rows, w.batch(int(total)).Process(t, rows) }
		r := &Round{Ctx: t.Context(), Now: now, turns: NewRoundRobin(NewSignal(), nil, nil)}
		if err := b.Round(r); err != nil {
			t.Fatal(err)
		}
		if r.GoesOn() != goesOn {
			t.Errorf("after %d rows the round goes on: %v", total, r.GoesOn())
		}
	}
}
