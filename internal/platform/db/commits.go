package db

import (
	"reflect"
	"runtime"
	"slices"
	"time"

	"tocsin/internal/platform/db/driver"
)

// Commit is a transaction of one or more writes that was committed.
type Commit struct {
	Began, Begun time.Time // before and after BEGIN and its locks, which wait for other processes
	Ran, Ended   time.Time // before and after COMMIT, which waits for the disk
	writes       []*write
}

// Functions names the functions that wrote, each once.
func (c *Commit) Functions() (names []string) {
	for _, w := range c.writes {
		if f := runtime.FuncForPC(reflect.ValueOf(w.Job.fn).Pointer()); f != nil && !slices.Contains(names, f.Name()) {
			names = append(names, f.Name())
		}
	}
	return names
}

// Writes is how many writes share the commit.
func (c *Commit) Writes() int { return len(c.writes) }

// WatchCommits calls a function after each commit of writes, on their lane: it must not take long. Appends that have lanes of
// their own are not among them.
func (d *DB) WatchCommits(watch func(*Commit)) { d.observer.Store(&watch) }

// committed reports a commit to who watches, and to the connection.
func (l *lane) committed(c *Commit) {
	if watch := l.db.observer.Load(); watch != nil {
		(*watch)(c)
	}
	if conn, ok := l.conn.(driver.Committer); ok {
		conn.Committed()
	}
}
