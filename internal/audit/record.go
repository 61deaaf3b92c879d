package audit

import (
	"strconv"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// Record appends an entry to the log of its account. It also stores the objects and the channels that the entry is
// about: audit_touched finds writes by object, audit_channel hides those about private channels.
func Record(tx *db.Tx, e api.AuditEntry) error {
	entry := id.ULID(e.At)
	if _, err := tx.Exec(`INSERT INTO audit_log
		(account_id, audit_id, created_at, person_id, person_name, request_id, ip, operation, outcome, body, is_dangerous, is_write)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		e.AccountID, entry, e.At.UnixMilli(), e.PersonID, e.PersonName, e.RequestID, e.IP,
		e.Operation, e.Outcome, e.Body, e.Dangerous, e.Write); err != nil {
		return err
	}
	channels := e.Channels
	for _, o := range e.Touched {
		if _, err := tx.Exec(`INSERT INTO audit_touched (account_id, kind, object_id, created_at, audit_id, object_name)
			VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
			e.AccountID, o.Kind, o.ID, e.At.UnixMilli(), entry, o.Name); err != nil {
			return err
		}
		if o.Kind == configstore.Channel { // a new channel is in no permission check, so it is not in e.Channels
			channel, _ := strconv.ParseInt(o.ID, 10, 64)
			channels = append(channels[:len(channels):len(channels)], channel)
		}
	}
	for _, channel := range channels {
		if err := recordChannel(tx, e.AccountID, entry, channel); err != nil {
			return err
		}
	}
	return nil
}

// recordChannel stores a channel that an entry is about.
func recordChannel(tx *db.Tx, account int64, entry string, channel int64) error {
	_, err := tx.Exec(`INSERT INTO audit_channel (account_id, audit_id, channel_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		account, entry, channel)
	return err
}

// batch is the largest number of entries that one call of Prune deletes, so that other writers do not wait long for
// the transaction.
const batch = 1000

// Prune deletes entries of all accounts that are older than a time; entries are deleted in no other way.
// One call deletes at most a thousand. more reports that others may be left for the next transaction.
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
