package rum

import (
	"time"

	"tocsin/internal/platform/db"
)

// pruned is how many rows of an account one transaction deletes of each table.
const pruned = 1000

// sessionsKept is how long a session is remembered: SDKs end sessions within hours.
const sessionsKept = 24 * time.Hour

// daysKept is how long the days of an issue are kept: those of maxDays in any time zone.
const daysKept = (maxDays + 2) * 24 * time.Hour

// pruneIssues deletes issues of an account that were not seen since a moment, with their fingerprints and days, and versions.
func pruneIssues(tx *db.Tx, account int64, before time.Time) (more bool, err error) {
	at := before.UnixMilli()
	if err := tx.Do(`DELETE FROM rum_version WHERE account_id = $1 AND last_seen_at < $2`, account, at); err != nil {
		return false, err
	}
	if err := tx.Do(`DELETE FROM rum_fingerprint WHERE account_id = $1 AND issue_id IN
		(SELECT issue_id FROM rum_issue WHERE account_id = $1 AND last_seen_at < $2 ORDER BY last_seen_at, issue_id LIMIT $3 + 0)`,
		account, at, pruned); err != nil {
		return false, err
	}
	if err := tx.Do(`DELETE FROM rum_day WHERE account_id = $1 AND issue_id IN
		(SELECT issue_id FROM rum_issue WHERE account_id = $1 AND last_seen_at < $2 ORDER BY last_seen_at, issue_id LIMIT $3 + 0)`,
		account, at, pruned); err != nil {
		return false, err
	}
	n, err := tx.Exec(`DELETE FROM rum_issue WHERE account_id = $1 AND issue_id IN
		(SELECT issue_id FROM rum_issue WHERE account_id = $1 AND last_seen_at < $2 ORDER BY last_seen_at, issue_id LIMIT $3 + 0)`,
		account, at, pruned)
	return n == pruned, err
}

// pruneSamples deletes errors that arrived before a moment.
func pruneSamples(tx *db.Tx, account int64, before time.Time) (more bool, err error) {
	n, err := tx.Exec(`DELETE FROM rum_sample WHERE account_id = $1 AND (issue_id, number) IN
		(SELECT issue_id, number FROM rum_sample WHERE account_id = $1 AND received_at < $2 ORDER BY received_at LIMIT $3 + 0)`,
		account, before.UnixMilli(), pruned)
	return n == pruned, err
}

// pruneSessions deletes sessions that cannot come again.
func pruneSessions(tx *db.Tx, account int64, now time.Time) (more bool, err error) {
	n, err := tx.Exec(`DELETE FROM rum_session WHERE account_id = $1 AND (issue_id, session_hash) IN
		(SELECT issue_id, session_hash FROM rum_session WHERE account_id = $1 AND seen_at < $2 ORDER BY seen_at LIMIT $3 + 0)`,
		account, now.Add(-sessionsKept).UnixMilli(), pruned)
	return n == pruned, err
}

// pruneDays deletes the days that no call returns any more.
func pruneDays(tx *db.Tx, account int64, now time.Time) (more bool, err error) {
	n, err := tx.Exec(`DELETE FROM rum_day WHERE account_id = $1 AND (issue_id, day) IN
		(SELECT issue_id, day FROM rum_day WHERE account_id = $1 AND day < $2 ORDER BY day LIMIT $3 + 0)`,
		account, now.Add(-daysKept).UTC().Format(time.DateOnly), pruned)
	return n == pruned, err
}
