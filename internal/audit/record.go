package audit

import (
	"strconv"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// Record appends an entry to the log of its account.
func Record(tx *db.Tx, e api.AuditEntry) error {
	entry := id.ULID(e.At)
	_, err := tx.Exec(`INSERT INTO audit_log (account_id, audit_id, created_at, person_id, person_name, request_id, ip, operation, outcome, body, is_dangerous, is_write)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		e.AccountID, entry, e.At.UnixMilli(), e.PersonID, e.PersonName, e.RequestID, e.IP, e.Operation, e.Outcome, e.Body, e.Dangerous, e.Write)
	for i := 0; i < len(e.Touched) && err == nil; i++ {
		_, err = tx.Exec(`INSERT INTO audit_touched (account_id, kind, object_id, created_at, audit_id, object_name) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
			e.AccountID, e.Touched[i].Kind, e.Touched[i].ID, e.At.UnixMilli(), entry, e.Touched[i].Name)
	}
	for i := 0; i < len(e.Touched) && err == nil; i++ {
		if e.Touched[i].Kind == configstore.Channel { // a new one, for which nobody asks permission
			id, _ := strconv.ParseInt(e.Touched[i].ID, 10, 64)
			err = about(tx, e.AccountID, entry, id)
		}
	}
	for i := 0; i < len(e.Channels) && err == nil; i++ {
		err = about(tx, e.AccountID, entry, e.Channels[i])
	}
	return err
}

// about notes a channel that an entry is about.
func about(tx *db.Tx, account int64, entry string, channel int64) error {
	_, err := tx.Exec(`INSERT INTO audit_channel (account_id, audit_id, channel_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, account, entry, channel)
	return err
}

// batch is how many entries one call of Prune deletes at most, so that calls do not wait long for the
// writer meanwhile.
const batch = 1000

// Prune deletes entries of all accounts that are older than a time, the only way in which entries ever go.
// It deletes a thousand of them at most; more tells that there may be others, for the next transaction.
func Prune(tx *db.Tx, before time.Time) (more bool, err error) { return prune(tx, before, batch) }

func prune(tx *db.Tx, before time.Time, left int64) (more bool, err error) {
	accounts, err := configstore.AccountRevisions(tx)
	if err != nil {
		return false, err
	}
	for _, account := range accounts {
		n, err := tx.Exec(prunable, account.ID, before.UnixMilli(), left)
		if err != nil {
			return false, err
		}
		if left -= n; left == 0 {
			return true, nil
		}
	}
	return false, nil
}

const prunable = `DELETE FROM audit_log WHERE account_id = $1 AND audit_id IN (
	SELECT audit_id FROM audit_log WHERE account_id = $1 AND created_at < $2 ORDER BY created_at, audit_id LIMIT $3 + 0)`
