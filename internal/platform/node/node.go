// Package node knows the processes that serve one database. Each stores a heartbeat every few seconds; one whose
// heartbeat is missing is not live any more. A process with a database of its own is alone and stores nothing.
//
// The list must never be what correctness relies on: a process that was frozen believes to be live after the others have given
// it up, and nodes see each other come and go at different moments.
package node

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/ratelimit"
)

// Every is how often a node stores its heartbeat; Gone is how old the last one of a live node is at most.
const (
	Every = 5 * time.Second
	Gone  = 15 * time.Second
)

// Node is a process that serves the database.
type Node struct {
	ID, Name string // the name is its machine's
	Address  string // that it listens on
	Version  string
	SealKeys []string      // ids; it seals with the first
	Offset   time.Duration // what is added to its machine's clock
	Started  time.Time
	Seen     time.Time // its last heartbeat
}

// Registry stores this process's heartbeat and knows the live nodes.
type Registry struct {
	db       *db.DB
	clock    clock.Clock
	self     Node
	sealKeys func() []string
	offset   func() time.Duration
	share    *ratelimit.Share
	live     atomic.Pointer[[]Node]
	stored   atomic.Bool // the first heartbeat was
}

// Config holds what a Registry needs.
type Config struct {
	DB            *db.DB
	Clock         clock.Clock
	Name, Version string
	SealKeys      func() []string      // ids, see Node
	Offset        func() time.Duration // see Node
	Share         *ratelimit.Share     // is set to this node's part
}

// New returns the registry of a process that starts now.
func New(c Config) *Registry {
	now := c.Clock.Now()
	r := &Registry{
		db: c.DB, clock: c.Clock, sealKeys: c.SealKeys, offset: c.Offset, share: c.Share,
		self: Node{ID: id.Token(9), Name: c.Name, Version: c.Version, Started: now, Seen: now},
	}
	r.live.Store(&[]Node{r.self})
	return r
}

// Listening notes the address of this process, before the first heartbeat.
func (r *Registry) Listening(address string) { r.self.Address = address }

// ID returns the id of this process.
func (r *Registry) ID() string { return r.self.ID }

// Live returns the live nodes as the last heartbeat found them, in the order of their ids.
func (r *Registry) Live() []Node {
	if !r.db.Shared() {
		self := r.present(r.clock.Now())
		return []Node{self}
	}
	return *r.live.Load()
}

// present returns this process as it is now.
func (r *Registry) present(now time.Time) Node {
	n := r.self
	n.SealKeys = r.sealKeys()
	n.Offset = r.offset()
	n.Seen = now
	return n
}

// Beat stores the heartbeat, deletes nodes that have none, and reads who is live. The first one also deletes the row of the
// same machine and address, which is of a predecessor that cannot listen there any more.
func (r *Registry) Beat(ctx context.Context) error {
	if !r.db.Shared() {
		return nil
	}
	now := r.clock.Now()
	n := r.present(now)
	var live []Node
	err := r.db.WriteOf(ctx, db.NoAccount, func(tx *db.Tx) (err error) {
		if err := tx.Do(`DELETE FROM node WHERE seen_at < $1 OR $2 AND name = $3 AND address = $4`,
			now.Add(-Gone).UnixMilli(), !r.stored.Load(), n.Name, n.Address); err != nil {
			return err
		}
		if err := tx.Do(`INSERT INTO node (`+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (node_id) DO UPDATE SET seal_keys = excluded.seal_keys, clock_offset = excluded.clock_offset, seen_at = excluded.seen_at`,
			n.ID, n.Name, n.Address, n.Version, strings.Join(n.SealKeys, ","), n.Offset.Milliseconds(),
			n.Started.UnixMilli(), now.UnixMilli()); err != nil {
			return err
		}
		live, err = Live(tx, now)
		return err
	})
	if err != nil {
		return err
	}
	r.live.Store(&live)
	r.stored.Store(true)
	rank := slices.IndexFunc(live, func(n Node) bool { return n.ID == r.self.ID })
	r.share.Set(max(0, rank), len(live))
	return nil
}

// Leave deletes the row of this process, which stops.
func (r *Registry) Leave(ctx context.Context) error {
	if !r.db.Shared() {
		return nil
	}
	return r.db.WriteOf(ctx, db.NoAccount, func(tx *db.Tx) error {
		return tx.Do(`DELETE FROM node WHERE node_id = $1`, r.self.ID)
	})
}

// Job returns the job that stores the heartbeat.
func (r *Registry) Job() jobs.Job {
	return jobs.Job{Name: "heartbeat of the node", Interval: Every, Run: func(ctx context.Context, _ time.Time) (time.Time, error) {
		return time.Time{}, r.Beat(ctx)
	}}
}

const columns = `node_id, name, address, version, seal_keys, clock_offset, started_at, seen_at`

// Live reads the live nodes of a database, in the order of their ids.
func Live(tx *db.Tx, now time.Time) ([]Node, error) {
	return db.All(tx, func(scan db.Scan) (n Node, err error) {
		var keys string
		var offset, started, seen int64
		err = scan(&n.ID, &n.Name, &n.Address, &n.Version, &keys, &offset, &started, &seen)
		n.SealKeys, n.Offset = strings.Split(keys, ","), time.Duration(offset)*time.Millisecond
		n.Started, n.Seen = time.UnixMilli(started), time.UnixMilli(seen)
		return n, err
	}, `SELECT `+columns+` FROM node WHERE seen_at >= $1 ORDER BY node_id`, now.Add(-Gone).UnixMilli())
}
