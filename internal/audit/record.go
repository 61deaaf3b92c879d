// Package audit keeps the account's audit log: every write, with who, when, from where and with what.
// Entries come from the frame, in the transaction of the write itself; this package must never change one
// that is written, nor hold a secret.
package audit

import (
	"tocsin/internal/api"
	"tocsin/internal/db"
	"tocsin/internal/id"
)

// Record appends an entry to the log of its account.
func Record(tx *db.Tx, e api.AuditEntry) error {
	_, err := tx.Exec(`INSERT INTO audit_log (account_id, audit_id, created_at, person_id, person_name, request_id, ip, operation, outcome, body, is_dangerous, is_write)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		e.AccountID, id.ULID(e.At), e.At.UnixMilli(), e.PersonID, e.PersonName, e.RequestID, e.IP, e.Operation, e.Outcome, e.Body, e.Dangerous, e.Write)
	return err
}
