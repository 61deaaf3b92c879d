package db

import "sync"

// Row names a stored row.
type Row struct {
	Account  int64
	Kind, ID string
}

// maxUnreadable bounds the rows that are remembered; all are reported.
const maxUnreadable = 1000

// Unreadable remembers the rows that a reader had to skip because their contents could not be decoded, so that the
// server can show them. It is in memory: each process knows what it has read itself.
type Unreadable struct {
	Report func(Row, error) // called when a row is first skipped, or skipped with other contents; nil: no one

	mu   sync.Mutex
	rows map[Row]string // with the contents
}

// Add remembers a row that was skipped.
func (u *Unreadable) Add(row Row, contents string, why error) {
	u.mu.Lock()
	have, known := u.rows[row]
	if u.rows == nil {
		u.rows = map[Row]string{}
	}
	if known || len(u.rows) < maxUnreadable {
		u.rows[row] = contents
	}
	u.mu.Unlock()
	if u.Report != nil && (!known || have != contents) {
		u.Report(row, why)
	}
}

// Drop forgets the rows that no longer have the contents that could not be decoded, and returns the others.
func (u *Unreadable) Drop(read func(Row) (contents string, found bool, err error)) (left []Row, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for row, contents := range u.rows {
		now, found, err := read(row)
		if err != nil {
			return nil, err
		}
		if !found || now != contents {
			delete(u.rows, row)
			continue
		}
		left = append(left, row)
	}
	return left, nil
}

// Unreadable returns what readers of the database had to skip.
func (d *DB) Unreadable() *Unreadable { return d.unreadable }

// Unreadable is DB.Unreadable.
func (t *Tx) Unreadable() *Unreadable { return t.unreadable }
