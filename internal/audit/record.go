package audit

import (
	"slices"
	"strconv"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// The columns of new rows.
var (
	logged = db.Columns(`account_id, audit_id, created_at, person_id, person_name, request_id, ip, operation, outcome, body,
		is_dangerous, is_write`)
	changed    = db.Columns("account_id, kind, object_id, created_at, audit_id, object_name")
	inChannels = db.Columns("account_id, audit_id, channel_id")
)

// Record appends an entry to the log of its account. It also stores the objects and the channels that the entry is
// about: audit_touched finds writes by object, audit_channel hides those about private channels.
func Record(tx *db.Tx, e api.AuditEntry) error {
	entry, at := id.ULID(e.At), e.At.UnixMilli()
	row := []any{e.AccountID, entry, at, e.PersonID, e.PersonName, e.RequestID, e.IP, e.Operation, e.Outcome, e.Body, e.Dangerous, e.Write}
	all := []db.Rows{{Table: "audit_log", Columns: logged, Values: [][]any{row}}, {Table: "audit_touched", Columns: changed},
		{Table: "audit_channel", Columns: inChannels}}
	channels := slices.Clone(e.Channels)
	touched := map[fault.Ref]bool{}
	for _, o := range e.Touched {
		if o.Kind == configstore.Channel { // a new channel is in no permission check, so it is not in e.Channels
			channel, _ := strconv.ParseInt(o.ID, 10, 64)
			channels = append(channels, channel)
		}
		if key := (fault.Ref{Kind: o.Kind, ID: o.ID}); !touched[key] {
			touched[key] = true
			all[1].Values = append(all[1].Values, []any{e.AccountID, o.Kind, o.ID, at, entry, o.Name})
		}
	}
	slices.Sort(channels)
	for _, channel := range slices.Compact(channels) {
		all[2].Values = append(all[2].Values, []any{e.AccountID, entry, channel})
	}
	for _, rows := range all {
		if err := tx.Insert(rows); err != nil {
			return err
		}
	}
	return nil
}

// batch is the largest number of entries that one call of Prune deletes, so that other writers do not wait long for
// the transaction.
const batch = 1000

// droppable are the tables of the log. An entry's id begins with its time, so no row is kept that is in an old part.
var droppable = []db.Droppable{{Table: "audit_log"}, {Table: "audit_touched"}, {Table: "audit_channel"}}

// Prune deletes entries of all accounts that are older than a time; entries are deleted in no other way.
// One call deletes at most a thousand. more reports that others may be left for the next transaction.
func Prune(tx *db.Tx, before time.Time) (more bool, err error) { return prune(tx, before, batch) }

func prune(tx *db.Tx, before time.Time, left int64) (more bool, err error) {
	accounts, err := configstore.AccountRevisions(tx)
	if err != nil {
		return false, err
	}
	end := id.ULIDFrom(before)
	for _, account := range accounts {
		gone, err := db.All(tx, db.Column[string], prunable, account.ID, before.UnixMilli(), left, end)
		if err != nil {
			return false, err
		}
		if len(gone) == 0 {
			continue
		}
		for _, query := range []string{pruneTouched, pruneChannels} { // no constraint does it on PostgreSQL
			if err := tx.Do(query, account.ID, db.JSON(gone), end); err != nil {
				return false, err
			}
		}
		if left -= int64(len(gone)); left == 0 {
			return true, nil
		}
	}
	return false, nil
}

// Each names the end of the ids, so that PostgreSQL looks into no younger part; see where.
const (
	prunable = `DELETE FROM audit_log WHERE account_id = $1 AND audit_id < $4 AND audit_id IN (
		SELECT audit_id FROM audit_log WHERE account_id = $1 AND created_at < $2 AND CAST(audit_id AS TEXT) < $4
		ORDER BY created_at, audit_id LIMIT $3 + 0)
		RETURNING audit_id`
	pruneTouched  = `DELETE FROM audit_touched WHERE account_id = $1 AND audit_id < $3 AND audit_id IN (SELECT value FROM json_each($2))`
	pruneChannels = `DELETE FROM audit_channel WHERE account_id = $1 AND audit_id < $3 AND audit_id IN (SELECT value FROM json_each($2))`
)
