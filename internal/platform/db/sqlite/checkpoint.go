package sqlite

import (
	"fmt"
	"sync"

	"tocsin/internal/platform/db/driver"
)

// Sizes of the write-ahead log, in bytes of its pages. The engine copies the log into the database, and waits for the disk,
// within the commit that makes the log large: at 16 MB all writes waited for 20 to 40 ms. So most of it is copied beside the
// commits, and the commit that makes it large copies what is left. A copy writes each page once, however often it has
// changed since the last, so small copies would write more.
const (
	copiedBeside   = 32 << 20
	copiedInCommit = 64 << 20
)

// copier copies the write-ahead log of a database into it, on a connection of its own.
type copier struct {
	conn  *conn
	pages int64         // that are not copied when it copies
	wake  chan struct{} // capacity 1; closed at the end
	ended sync.WaitGroup
}

// startCopier starts the copier of a connection that writes.
func startCopier(writer *conn) (*copier, error) {
	size, _, err := driver.One(driver.Session{Conn: writer}, driver.Column[int64], "PRAGMA page_size")
	if err != nil {
		return nil, err
	}
	_, err = driver.Exec(driver.Session{Conn: writer}, fmt.Sprintf("PRAGMA wal_autocheckpoint = %d", copiedInCommit/size))
	if err != nil {
		return nil, err
	}
	c, err := open(writer.path)
	if err != nil {
		return nil, err
	}
	k := &copier{conn: c, pages: copiedBeside / size, wake: make(chan struct{}, 1)}
	k.ended.Go(func() {
		for range k.wake {
			k.copy()
		}
	})
	return k, nil
}

// copy copies the log, if much of it is not copied yet. An error is left to the commits, which then find a log that grows,
// and copy it themselves.
func (k *copier) copy() {
	left := func(scan driver.Scan) (pages int64, err error) {
		var busy, all, copied int64
		err = scan(&busy, &all, &copied)
		return all - copied, err
	}
	q := driver.Session{Conn: k.conn}
	if pages, _, err := driver.One(q, left, "PRAGMA wal_checkpoint(NOOP)"); err == nil && pages >= k.pages {
		_, _ = driver.Exec(q, "PRAGMA wal_checkpoint(PASSIVE)")
	}
}

// committed wakes the copier after a commit.
func (k *copier) committed() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *copier) close() error {
	close(k.wake)
	k.ended.Wait()
	return k.conn.Close()
}
