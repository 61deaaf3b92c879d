package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"tocsin/internal/platform/db"
)

// disk measures the limits of the database engine: durable transactions of one row by one writer, by 32 that share
// commits, and by 8 with a hundred rows each; and how busy the machine is.
func disk(dir, when string) error {
	d, err := db.Open(context.Background(), "sqlite:"+filepath.Join(dir, "disk-"+when+".db"))
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Write(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Exec(`CREATE TABLE bench (id TEXT PRIMARY KEY, body TEXT NOT NULL)`)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Printf("| the bare engine %s, load average %s: durable transactions | rows/s | p50 | p99 |\n|---|---|---|---|\n", when, loadAverage())
	for _, shape := range []struct {
		title         string
		writers, rows int
	}{{"of one row, 1 writer", 1, 1}, {"of one row, 32 writers", 32, 1}, {"of 100 rows, 8 writers", 8, 100}} {
		runs := []figures{}
		for round := range *rounds {
			f, err := commits(d, fmt.Sprint(shape.title, round), shape.writers, shape.rows)
			if err != nil {
				return err
			}
			runs = append(runs, f)
		}
		m := middle(runs)
		fmt.Printf("| %s | %.0f | %s | %s |\n", shape.title, m.perSecond*float64(shape.rows), m.p50.Round(10*time.Microsecond), m.p99.Round(10*time.Microsecond))
	}
	fmt.Println()
	return nil
}

// commits lets writers insert rows for a while.
func commits(d *db.DB, prefix string, writers, rows int) (f figures, err error) {
	took, errs := make([][]time.Duration, writers), make([]error, writers)
	end := time.Now().Add(*span)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := 0; time.Now().Before(end) && errs[w] == nil; n++ {
				began := time.Now()
				errs[w] = d.Write(context.Background(), func(tx *db.Tx) error {
					for row := range rows {
						if _, err := tx.Exec(`INSERT INTO bench (id, body) VALUES ($1, $2)`, fmt.Sprintf("%s/%d/%d/%d", prefix, w, n, row), eventText); err != nil {
							return err
						}
					}
					return nil
				})
				took[w] = append(took[w], time.Since(began))
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return f, err
		}
	}
	return summed(slices.Concat(took...), *span), nil
}
