package rum

import (
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// pruned is how many rows of an account one transaction deletes of each table.
const pruned = 1000

// sessionsKept is how long a session is remembered: SDKs end sessions within hours.
const sessionsKept = 24 * time.Hour

// pruneEach runs a statement for each account, with the account, a time in Unix milliseconds and a number of rows.
func pruneEach(tx *db.Tx, before time.Time, run func(account, before int64) (int64, error)) (more bool, err error) {
	accounts, err := configstore.AccountRevisions(tx)
	for i := 0; i < len(accounts) && err == nil; i++ {
		var n int64
		n, err = run(accounts[i].ID, before.UnixMilli())
		more = more || n == pruned
	}
	return more, err
}

// daysKept is how long the days of an issue are kept: those of maxDays in any time zone.
const daysKept = (maxDays + 2) * 24 * time.Hour

// pruneIssues deletes issues that were not seen since a moment, with their fingerprints and days, and versions.
func pruneIssues(tx *db.Tx, before time.Time) (more bool, err error) {
	return pruneEach(tx, before, func(account, before int64) (int64, error) {
		if _, err := tx.Exec(`DELETE FROM rum_version WHERE account_id = $1 AND last_seen_at < $2`, account, before); err != nil {
			return 0, err
		}
		if _, err := tx.Exec(`DELETE FROM rum_fingerprint WHERE account_id = $1 AND issue_id IN
			(SELECT issue_id FROM rum_issue WHERE account_id = $1 AND last_seen_at < $2 ORDER BY last_seen_at, issue_id LIMIT $3 + 0)`,
			account, before, pruned); err != nil {
			return 0, err
		}
		if _, err := tx.Exec(`DELETE FROM rum_day WHERE account_id = $1 AND issue_id IN
			(SELECT issue_id FROM rum_issue WHERE account_id = $1 AND last_seen_at < $2 ORDER BY last_seen_at, issue_id LIMIT $3 + 0)`,
			account, before, pruned); err != nil {
			return 0, err
		}
		return tx.Exec(`DELETE FROM rum_issue WHERE account_id = $1 AND issue_id IN
			(SELECT issue_id FROM rum_issue WHERE account_id = $1 AND last_seen_at < $2 ORDER BY last_seen_at, issue_id LIMIT $3 + 0)`,
			account, before, pruned)
	})
}

// pruneSamples deletes errors that arrived before a moment.
func pruneSamples(tx *db.Tx, before time.Time) (more bool, err error) {
	return pruneEach(tx, before, func(account, before int64) (int64, error) {
		return tx.Exec(`DELETE FROM rum_sample WHERE account_id = $1 AND (issue_id, number) IN
			(SELECT issue_id, number FROM rum_sample WHERE account_id = $1 AND received_at < $2 ORDER BY received_at LIMIT $3 + 0)`,
			account, before, pruned)
	})
}

// pruneSessions deletes sessions that cannot come again.
func pruneSessions(tx *db.Tx, now time.Time) (more bool, err error) {
	return pruneEach(tx, now.Add(-sessionsKept), func(account, before int64) (int64, error) {
		return tx.Exec(`DELETE FROM rum_session WHERE account_id = $1 AND (issue_id, session_hash) IN
			(SELECT issue_id, session_hash FROM rum_session WHERE account_id = $1 AND seen_at < $2 ORDER BY seen_at LIMIT $3 + 0)`,
			account, before, pruned)
	})
}

// pruneDays deletes the days that no call returns any more.
func pruneDays(tx *db.Tx, now time.Time) (more bool, err error) {
	return pruneEach(tx, now.Add(-daysKept), func(account, before int64) (int64, error) {
		return tx.Exec(`DELETE FROM rum_day WHERE account_id = $1 AND (issue_id, day) IN
			(SELECT issue_id, day FROM rum_day WHERE account_id = $1 AND day < $2 ORDER BY day LIMIT $3 + 0)`,
			account, time.UnixMilli(before).UTC().Format(time.DateOnly), pruned)
	})
}
