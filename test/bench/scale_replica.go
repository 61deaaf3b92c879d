package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tocsin/test/pgserver"
)

// readOnCall is what a call that shows a schedule reads, as internal/schedule and internal/configstore have it.
var readOnCall = []string{
	`SELECT revision FROM account WHERE account_id = $1`,
	`SELECT schedule_id, schedule_name FROM schedule WHERE account_id = $1`,
}

// replica measures a standby: how many reads it answers while the primary takes events, and how far it is behind.
func replica(binary, dir string) error {
	s, err := pgserver.Start(pgserver.Options{Durable: true, Settings: map[string]string{"shared_preload_libraries": "pg_stat_statements"}})
	if errors.Is(err, pgserver.ErrMissing) {
		fmt.Printf("A replica was not measured: %v\n", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer s.Close()
	c := &scaleBed{binary: binary, dir: filepath.Join(dir, "replica"), server: s}
	if err := c.create(); err != nil {
		return err
	}
	defer c.phones.Close()
	defer c.meter.close()
	if err := c.grow(100); err != nil {
		return err
	}
	standby, err := s.Standby()
	if err != nil {
		return err
	}
	defer standby.Close()
	if err := c.start(); err != nil {
		return err
	}
	fmt.Printf("| reads from 8 connections | reads/s | events/s meanwhile | behind p50 | p99 | longest |\n|---|---|---|---|---|---|\n")
	for _, from := range []struct {
		title string
		*pgserver.Server
	}{{"of the primary", s}, {"of a standby", standby}} {
		if err := c.beside(from.title, from.DSN("scale"), standby.DSN("scale")); err != nil {
			return errors.Join(err, c.node.stop())
		}
	}
	return c.node.stop()
}

// beside sends events while a database is read, and prints a line.
func (c *scaleBed) beside(title, read, standby string) error {
	var stop atomic.Bool
	var reads atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, 9)
	for i := range 8 {
		all.Go(func() { errs[i] = readUntil(read, c.size, &stop, &reads) })
	}
	var behind []time.Duration
	all.Go(func() { behind, errs[8] = lags(c.dsn, standby, &stop) })
	began, first := time.Now(), c.sent
	end := began.Add(*span)
	var err error
	for time.Now().Before(end) {
		_, err = c.events(4, 100, 10*time.Millisecond, "Info")
		if err != nil {
			break
		}
	}
	took := time.Since(began).Seconds()
	stop.Store(true)
	all.Wait()
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	f := summed(behind, *span)
	fmt.Printf("| %s | %.0f | %.0f | %s | %s | %s |\n", title, float64(reads.Load())/took, float64(c.sent-first)/took,
		f.p50.Round(100*time.Microsecond), f.p99.Round(100*time.Microsecond), f.longest.Round(100*time.Microsecond))
	return nil
}

// readUntil reads schedules of accounts in turn.
func readUntil(dsn string, accounts int, stop *atomic.Bool, reads *atomic.Int64) error {
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for n := 0; !stop.Load(); n++ {
		account := [][]byte{fmt.Append(nil, scaleID(n%accounts, 0))}
		for _, query := range readOnCall {
			if r := conn.ExecParams(ctx, query, account, nil, nil, nil).Read(); r.Err != nil {
				return r.Err
			}
		}
		reads.Add(1)
	}
	return nil
}

// lags measures again and again how long a commit of the primary takes until the standby shows it.
func lags(primary, standby string, stop *atomic.Bool) (all []time.Duration, err error) {
	ctx := context.Background()
	from, err := pgconn.Connect(ctx, primary)
	if err != nil {
		return nil, err
	}
	defer from.Close(ctx)
	to, err := pgconn.Connect(ctx, standby)
	if err != nil {
		return nil, err
	}
	defer to.Close(ctx)
	for n := 1; !stop.Load(); n++ {
		change := fmt.Sprintf(`UPDATE account SET account_name = '%d' WHERE account_id = %d`, n, scaleID(0, 0))
		if r := from.ExecParams(ctx, change, nil, nil, nil, nil).Read(); r.Err != nil {
			return all, r.Err
		}
		began := time.Now()
		for {
			shown := to.ExecParams(ctx, fmt.Sprintf(`SELECT 1 FROM account WHERE account_id = %d AND account_name = '%d'`, scaleID(0, 0), n), nil, nil, nil, nil).Read()
			if shown.Err != nil {
				return all, shown.Err
			}
			if len(shown.Rows) > 0 || stop.Load() {
				break
			}
		}
		all = append(all, time.Since(began))
		time.Sleep(20 * time.Millisecond)
	}
	return all, nil
}
