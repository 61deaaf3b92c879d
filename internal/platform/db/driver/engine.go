// Package driver is what package db asks of an engine, and what it passes to one: connections, rows, tables. The engines
// are in packages of their own, which know this one and not package db. It must never open a database, nor know what any
// table means.
package driver

import (
	"context"
	"errors"
	"time"

	"github.com/pressly/goose/v3"
)

// Engine is a database of one kind: what every kind does. What only some can is in the interfaces Shared, Local,
// Partitioner and Statistics.
type Engine interface {
	Traits() Traits
	Connect(ctx context.Context, to Purpose) (Conn, error)
	Exists() error // an error when there is no such database yet
	// Migrations returns the tool that applies the migrations; end closes it.
	Migrations(ctx context.Context) (p *goose.Provider, end func(), err error)
	// Size returns the sizes of the database and of the log beside it, in bytes; 0 where the engine has no such log.
	Size(ctx context.Context, read Read) (file, log int64, err error)
	// Identity returns the identity of the database; none: not known.
	Identity(ctx context.Context, read Read) (FileID, error)
	// Tables reads the catalogue: all tables but those that the engine and the migrations keep for themselves.
	Tables(q Queries) ([]Table, error)
	// InUse returns an error when a server has the database open, or, if copies is set, a copy has.
	InUse(ctx context.Context, copies bool) error
	// ToFill returns the engine for the connections that fill a database. It returns an error when another process has
	// the database open.
	ToFill(ctx context.Context) (Engine, error)
}

// Read runs fn with a connection that reads.
type Read func(ctx context.Context, fn func(Queries) error) error

// Traits is what an engine is like.
type Traits struct {
	Readers        int           // how many connections read
	VersionReaders int           // how many read versions beside them; 0: a statement is no wait for the network
	Writers        int           // how many transactions of a process may write at the same time
	Claimers       int           // how many may claim deliveries beside them
	Appends        bool          // whether others append; see Appender
	MaxWait        time.Duration // how long a caller waits for a connection; 0: as long as it likes
	Begin          string        // the statement that begins a transaction that writes
	Snapshot       string        // the statement that begins a transaction that reads one state
	HasTable       string        // the query that finds a table by its name
	// LockRow is the end of the statement that locks an account's row of a table, so that no new row can refer to it;
	// empty: a transaction that writes has locked it.
	LockRow   string
	Unhurried []string // the statements that end the time limits of a transaction
	Filling   []string // the statements that make the connection that fills a database faster
	Filled    []string // the statements that a database needs that was filled
}

// Shared is an engine whose database several processes on several machines use.
type Shared interface {
	Engine
	// Lock returns the statement that locks the accounts of some shards, below Shards. With free it locks, and returns, those
	// that no other transaction has; without, it waits. No shards: all.
	Lock(shards []int64, free bool) Statement
	// LockSoon returns the query that locks a shard without waiting for long, and returns whether it did.
	LockSoon(shard int64) Statement
	Unknown(err error) bool  // whether a statement names what the schema lacks, or leaves out what it needs
	InTheWay(err error) bool // whether a migration failed because it waited for another session
	// Blocking describes the session that a migration waits for; empty: there is none. It returns an error when the database
	// does not answer, and ErrFormer when it answers on another server than the migration's.
	Blocking(ctx context.Context, read Read) (session string, err error)
	// Time returns what the clock of the database shows.
	Time(ctx context.Context, read Read) (time.Time, error)
	// OnChange calls a function when the database is lost, found again, or on another host.
	OnChange(report func(Found))
	Lost() bool // whether the last attempt to connect has failed
	Close()     // ends what watches the database, after the last connection
}

// Local is an engine whose database is a file of this machine, which one process serves.
type Local interface {
	Engine
	// Free returns how many bytes the disk of the database still takes; -1: not known.
	Free() int64
	// DataVersion returns a number that differs when another process has changed the database. It is asked on the connection
	// that writes.
	DataVersion(q Queries) (int64, error)
	// Backup writes a copy to a new file while others read and write, checks it, and returns its length.
	Backup(ctx context.Context, file string) (size int64, err error)
}

// Partitioner is an engine that keeps some tables in parts by time.
type Partitioner interface {
	// Ahead makes the parts that rows will come to, and returns their names. Tables that are kept for ever get few large ones.
	Ahead(ctx context.Context, read Read, now time.Time, forever []string) (made []string, err error)
	// Drop drops the parts whose rows are all older than a time, and returns the time before which rows are left to delete.
	Drop(ctx context.Context, before time.Time, tables []Droppable) (until time.Time, dropped []string, err error)
}

// Statistics is an engine that plans by statistics of its tables.
type Statistics interface {
	// Analyse takes new statistics of tables that have grown much.
	Analyse(ctx context.Context, read Read) error
}

// ErrFormer is in the errors of what a former primary has answered.
var ErrFormer = errors.New("the server is a former primary")

// Shards is how many parts accounts are divided into: transactions of accounts in different parts do not wait for each
// other. More would make a write of all accounts slower, which locks all.
const Shards = 64

// Statement is a statement with its arguments.
type Statement struct {
	Query string
	Args  []any
}

// Found is what a process has found out about its database. Host is empty while the database is lost, which Err explains.
type Found struct {
	Host     string
	Timeline int64 // of the host's log; 0: not known
	Err      error
	Away     time.Duration // how long it was lost before
}

// Droppable is a table of which whole parts may be dropped.
type Droppable struct {
	Table string
	// Kept is the condition of rows of the table (p) that must stay although their key is older than a time, which is %d in
	// it, in Unix nanoseconds. Empty: the key states all.
	Kept string
	// Counts are statements that delete what counts the rows from one time to before another: $1 and $2, in Unix seconds.
	Counts []string
}

// FileID identifies a file for as long as it exists, wherever it is moved. A copy has another one. The number of the
// device is not part of it, because that changes when a volume is attached again. On PostgreSQL it identifies a database
// of a server: by the server's system identifier and the database's number there.
type FileID struct {
	Inode int64 // 0: not known
	Born  int64 // when the file was created, Unix nanoseconds; 0: not known
}

// Is reports whether two identities may be of one file. What is not known is not compared.
func (f FileID) Is(other FileID) bool {
	switch {
	case f.Inode == 0 || other.Inode == 0:
		return true
	case f.Inode != other.Inode:
		return false
	}
	return f.Born == 0 || other.Born == 0 || f.Born == other.Born
}
