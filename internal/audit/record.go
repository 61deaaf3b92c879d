// Package audit keeps the account's audit log: every write, with who, when, from where and with what.
// Entries are written by the frame in the transaction of the write itself; this package must never
// change one that is written, nor hold a secret.
package audit

import (
	"time"

	"tocsin/internal/db"
	"tocsin/internal/id"
)

// Entry is one call that wrote, or tried to.
type Entry struct {
	At         time.Time
	AccountID  int64
	PersonID   int64
	PersonName string // as it was at that moment
	RequestID  string
	IP         string
	Operation  string // such as schedule:write:create
	Outcome    string // empty when it was done, else the error code it was refused with
	Body       string // redacted JSON
	Dangerous  bool
	Write      bool
}

// Record appends an entry.
func Record(tx *db.Tx, e Entry) error {
	_, err := tx.Exec(`INSERT INTO audit_log (account_id, audit_id, created_at, person_id, person_name, request_id, ip, operation, outcome, body, is_dangerous, is_write)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		e.AccountID, id.ULID(e.At), e.At.UnixMilli(), e.PersonID, e.PersonName, e.RequestID, e.IP, e.Operation, e.Outcome, e.Body, e.Dangerous, e.Write)
	return err
}
