package driver

import "iter"

// Purpose is what a connection is for.
type Purpose int

// The purposes of connections.
const (
	Reading Purpose = iota // it can do nothing else
	Writing
	Appending // it inserts rows, and nothing else
)

// Conn is one connection, used by one goroutine at a time. It prepares a statement once and keeps it, because preparing
// costs more than most queries. The number of distinct SQL texts in the program bounds what it keeps: no package may
// build SQL out of values.
type Conn interface {
	// Run runs a statement and calls row for each row, until there is none or row returns false. changed is how many
	// rows the statement changed.
	Run(query string, args []any, row OnRow) (changed int64, err error)
	// Send runs a statement whose result is not needed yet. It may do so later: with the next statement that is run, or with
	// Flush, which then returns its error. row may be nil.
	Send(query string, args []any, row OnRow) error
	Flush() error
	Rollback()                                        // also of what is not sent yet
	Insert(r Rows) error                              // may do so later, as Send
	Update(keys int, r Rows) error                    // changes rows: the first columns are their key
	Upsert(keys int, r Rows, set string) error        // inserts rows, and changes those that are there
	Load(t Table, rows iter.Seq2[[]any, error]) error // inserts the rows of a copy, and numbers new ones after them
	Revive() error                                    // connects again when the connection is lost
	Unavailable(err error) bool                       // whether an error is the database's and not the statement's
	Close() error
}

// Locker is a connection to an engine where several transactions write.
type Locker interface {
	// TryLock locks a name until the end of the transaction, unless another one has it.
	TryLock(name string) (bool, error)
}

// Appender is a connection that was made for Appending.
type Appender interface {
	// Append inserts rows in a transaction of its own.
	Append(batches []Rows) error
}

// Committer is a connection that has something to do after each commit.
type Committer interface {
	Committed()
}
