// Package hold decides whether the server on a database may send. A database that was restored or copied is held: its
// server takes events, decides and records, but sends nothing until a person releases it, so that no copy notifies
// people of what the original notifies them of.
//
// The decision is a row in the database (docs/decisions/0026-held.md). The package must never hold a database whose
// file is the one that was released, nor release one by itself.
package hold

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// State is what is stored of a database.
type State struct {
	File   db.FileID // the file that may send
	Place  string    // its path and host
	Reason string    // why the server sends nothing; empty: it sends
	Since  int64     // Unix seconds
}

// Find returns the state; found is false for a database that no server was started on.
func Find(tx *db.Tx) (s State, found bool, err error) {
	return db.One(tx, func(scan db.Scan) (s State, err error) {
		return s, scan(&s.File.Inode, &s.File.Born, &s.Place, &s.Reason, &s.Since)
	}, `SELECT inode, born_at, place, reason, since FROM hold WHERE hold_id = 1`)
}

// Save stores the state.
func Save(tx *db.Tx, s State) error {
	return tx.Do(`INSERT INTO hold (hold_id, inode, born_at, place, reason, since) VALUES (1, $1, $2, $3, $4, $5)
		ON CONFLICT (hold_id) DO UPDATE SET inode = excluded.inode, born_at = excluded.born_at, place = excluded.place,
			reason = excluded.reason, since = excluded.since`, s.File.Inode, s.File.Born, s.Place, s.Reason, s.Since)
}

// Forget stores that no server was started on a database yet: the first one sends.
func Forget(tx *db.Tx) error {
	return tx.Do(`DELETE FROM hold WHERE hold_id = 1`)
}

// next returns the state of a database at the start of a server on file. ask holds it although it is no copy.
func next(s State, found bool, file db.FileID, place string, ask bool, now time.Time) State {
	reason := s.Reason
	if found && reason == "" && !s.File.Is(file) {
		reason = "this database is a copy: the original is served as " + s.Place
	}
	if reason == "" && ask {
		reason = "the server was started with --hold"
	}
	switch {
	case reason == s.Reason && reason != "":
		return s
	case reason != "":
		s.Reason, s.Since = reason, now.Unix()
		return s
	}
	return State{File: file, Place: place}
}

// Gate reports whether the server may send. A nil Gate always permits it.
type Gate struct {
	db       *db.DB
	reason   atomic.Pointer[string]
	was, now State // at the start of the server, and as it is to be stored
	stored   bool  // of the job alone
}

// Open decides whether the server that starts on a database may send. It stores nothing: the job does, once the server
// runs, so that a server that fails to start holds no other.
func Open(ctx context.Context, d *db.DB, host string, ask bool, now time.Time) (*Gate, error) {
	file, err := d.File(ctx)
	if err != nil {
		return nil, err
	}
	g := &Gate{db: d}
	err = d.Read(ctx, func(tx *db.Tx) error {
		was, found, err := Find(tx)
		g.was, g.now = was, next(was, found, file, place(d, host), ask, now)
		return err
	})
	g.reason.Store(&g.now.Reason)
	return g, err
}

// store stores the state that Open decided on, unless another process has changed it since.
func (g *Gate) store(ctx context.Context) error {
	if g.stored || g.now == g.was {
		return nil
	}
	err := g.db.WriteOf(ctx, db.NoAccount, func(tx *db.Tx) error {
		is, _, err := Find(tx)
		if err != nil || is != g.was {
			return err
		}
		return Save(tx, g.now)
	})
	g.stored = err == nil
	return err
}

// Hold stores that nothing is sent from a database until it is released.
func Hold(ctx context.Context, d *db.DB, reason string, now time.Time) error {
	return d.WriteOf(ctx, db.NoAccount, func(tx *db.Tx) error {
		s, _, err := Find(tx)
		if err != nil {
			return err
		}
		s.Reason, s.Since = reason, now.Unix()
		return Save(tx, s)
	})
}

// place describes where a database is served. Several hosts serve a shared one.
func place(d *db.DB, host string) string {
	if d.Shared() {
		return d.DSN()
	}
	return fmt.Sprintf("%s on %s", d.DSN(), host)
}

// Reason returns why nothing is sent; empty: the server sends.
func (g *Gate) Reason() string {
	if g == nil {
		return ""
	}
	return *g.reason.Load()
}

// Release stores that the server on this file may send, and reports whether it was held.
func Release(ctx context.Context, tx *db.Tx, d *db.DB, host string) (was State, err error) {
	file, err := d.File(ctx)
	if err != nil {
		return was, err
	}
	was, _, err = Find(tx)
	if err != nil {
		return was, err
	}
	if held := was.Reason != "" || !was.File.Is(file); !held {
		return State{}, nil
	}
	if was.Reason == "" {
		was.Reason = "this database is a copy: the original is served as " + was.Place
	}
	return was, Save(tx, State{File: file, Place: place(d, host)})
}

// Job returns the job that stores the state, and notices a release by another process within a second. It calls released
// once.
func (g *Gate) Job(released func()) jobs.Job {
	return jobs.Job{Name: "hold", Interval: time.Second, Run: func(ctx context.Context, _ time.Time) (time.Time, error) {
		if err := g.store(ctx); err != nil || g.Reason() == "" {
			return time.Time{}, err
		}
		return time.Time{}, g.read(ctx, released)
	}}
}

// read reads the state of a held database again.
func (g *Gate) read(ctx context.Context, released func()) error {
	var s State
	err := g.db.Read(ctx, func(tx *db.Tx) (err error) {
		s, _, err = Find(tx)
		return err
	})
	if err != nil {
		return err
	}
	if s.Reason == "" {
		g.reason.Store(&s.Reason)
		released()
	}
	return nil
}
