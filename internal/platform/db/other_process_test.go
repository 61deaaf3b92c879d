package db_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tocsin/internal/platform/db"
)

// TestCommandWritesBesideBusyServer: a server that writes one transaction after the other leaves the lock to another
// process, such as tocsin key create, before its time is over.
func TestCommandWritesBesideBusyServer(t *testing.T) {
	t.Parallel()
	server, dsn := opened(t, `CREATE TABLE number (n BIGINT PRIMARY KEY)`)
	command := connected(t, dsn)
	var all sync.WaitGroup
	var next, ended atomic.Int64
	for range 4 {
		all.Go(func() {
			for ended.Load() == 0 {
				if err := server.Write(t.Context(), func(tx *db.Tx) error {
					for range 500 {
						if err := addNumber(tx, int(next.Add(1))); err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n := range 5 {
		time.Sleep(50 * time.Millisecond) // so that the server is busy again
		if err := command.Write(t.Context(), func(tx *db.Tx) error { return addNumber(tx, -1-n) }); err != nil {
			t.Error(err)
		}
	}
	ended.Store(1)
	all.Wait()
}
