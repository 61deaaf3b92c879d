package db

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"tocsin/internal/platform/db/driver"
)

// Versions holds the queries that read an owner's version counter.
type Versions struct {
	One  string // the version of the owner $1
	Many string // owners with their versions, of those in the JSON array $1
}

// Version returns the version of an owner's rows. It reads it at most once per owner in a row, so that one transaction
// does not read the same version again and again. Without the owner it is 0.
func (t *Tx) Version(owner int64, of Versions) (n int64, err error) {
	if t.versioned && t.versionOf == owner {
		return t.version, nil
	}
	if l := t.late; l != nil && l.db.versions != nil && t.conn == nil && !t.versioned {
		n, err = l.db.versions.read(l.ctx, owner, of)
		if err == nil {
			l.query = of.One
		}
	} else {
		n, _, err = One(t, Column[int64], of.One, owner)
	}
	if err == nil {
		t.AtVersion(owner, n)
	}
	return n, err
}

// AtVersion makes Version return a version that the caller knows.
func (t *Tx) AtVersion(owner, n int64) {
	t.versionOf = owner
	t.version = n
	t.versioned = true
}

// versions reads the versions of owners for callers that come at about the same time, with one statement for all of them: it
// takes the server longer to receive a statement than to look up a row. A caller joins those of a statement that is not sent
// yet, so the version is at least as new as the call.
//
// It has connections of its own, so that no one's long reads delay it.
type versions struct {
	db   *DB
	size int // connections
	idle chan driver.Conn
	mu   sync.Mutex
	next map[Versions]*versionRead // statements that are not sent yet
}

// versionRead is one statement.
type versionRead struct {
	versions map[int64]int64 // by owner
	err      error
	done     chan struct{} // closed when versions are read
}

// openVersions returns nil where a statement is no wait for the network.
func (d *DB) openVersions(ctx context.Context) (*versions, error) {
	n := d.traits.VersionReaders
	if n == 0 {
		return nil, nil
	}
	v := &versions{db: d, idle: make(chan driver.Conn, n), next: map[Versions]*versionRead{}}
	for range n {
		c, err := d.engine.Connect(ctx, driver.Reading)
		if err != nil {
			return nil, errors.Join(err, v.close())
		}
		v.idle <- c
		v.size++
	}
	return v, nil
}

// close closes the connections once they are not used any more.
func (v *versions) close() (err error) {
	if v == nil {
		return nil
	}
	for range v.size {
		err = errors.Join(err, (<-v.idle).Close())
	}
	return err
}

// read returns the version of an owner.
func (v *versions) read(ctx context.Context, owner int64, of Versions) (int64, error) {
	v.mu.Lock()
	r := v.next[of]
	first := r == nil
	if first {
		r = &versionRead{versions: map[int64]int64{}, done: make(chan struct{})}
		v.next[of] = r
	}
	r.versions[owner] = 0
	v.mu.Unlock()
	if first {
		v.send(r, of)
	}
	select {
	case <-r.done:
		return r.versions[owner], r.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// send waits for a connection, while others join, and reads what all of them ask for.
func (v *versions) send(r *versionRead, of Versions) {
	c, err := v.borrow()
	v.mu.Lock()
	delete(v.next, of)
	v.mu.Unlock()
	defer close(r.done)
	r.err = err
	if err != nil {
		return
	}
	defer func() { v.idle <- c }()
	r.err = c.Revive()
	if r.err == nil {
		r.err = r.look(&Tx{conn: c}, of)
	}
}

func (v *versions) borrow() (driver.Conn, error) {
	over, stop := v.db.patience()
	defer stop()
	select {
	case c := <-v.idle:
		return c, nil
	case <-over:
		return nil, errBusy
	case <-v.db.closed:
		return nil, ErrClosed
	}
}

func (r *versionRead) look(tx *Tx, of Versions) (err error) {
	owners := slices.Collect(maps.Keys(r.versions))
	if len(owners) == 1 {
		r.versions[owners[0]], _, err = One(tx, Column[int64], of.One, owners[0])
		return err
	}
	_, err = All(tx, func(scan Scan) (one struct{}, err error) {
		var owner, version int64
		err = scan(&owner, &version)
		r.versions[owner] = version
		return one, err
	}, of.Many, JSON(owners))
	return err
}
