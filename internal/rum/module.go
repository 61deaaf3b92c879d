// Package rum stores the data of real-user monitoring: the applications that report errors, and the issues into which
// their errors are grouped. Its times are Unix milliseconds.
//
// It must never store a client token in clear, nor put one into a log or an error.
package rum

import (
	"time"

	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
)

// Module returns the package's operations, resealing of secrets, completion of older databases, retention and sections of
// an account file.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:     "rum",
		Ops:      r.Ops(),
		Reseal:   []func(*db.Tx, secret.Renew) (int, error){Reseal},
		Complete: Complete,
		Prune: []module.Retention{
			{Period: module.Incidents, Of: pruneIssues},
			{Period: module.Events, Of: pruneSamples},
			{Period: module.Ended, Of: pruneSessions},
			{Period: module.Ended, Of: pruneDays},
		},
		Sections: []string{"rum_applications", "rum_issues"},
	}
}

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

// Reseal replaces the client tokens of all accounts' applications by the results of renew and returns their number. It
// stops at the first error.
func Reseal(tx *db.Tx, renew secret.Renew) (secrets int, err error) {
	all, err := db.All(tx, scanApplication, `SELECT `+applicationColumns+` FROM rum_application WHERE client_token <> ''`)
	if err != nil {
		return 0, err
	}
	for _, a := range all {
		sealed, err := renew(a.ClientToken, tokenContext(a.AccountID, a.ApplicationID))
		if err != nil {
			return 0, fault.Wrap(err, "reseal the client token of application %s", a.ApplicationID)
		}
		if err := tx.Do(`UPDATE rum_application SET client_token = $1 WHERE account_id = $2 AND application_id = $3`,
			sealed, a.AccountID, a.ApplicationID); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}
