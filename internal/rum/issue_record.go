package rum

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/rumerror"
	"tocsin/internal/platform/db"
)

// ByToken returns the application of any account that a client token belongs to at a moment: its token, or the one before, until
// that expires. Tokens are long and random and are looked
// up by their hashes, so that the time of the lookup reveals nothing about them. The token of a deleted application
// belongs to none.
func ByToken(tx *db.Tx, token string, now time.Time) (Application, bool, error) {
	if token == "" {
		return Application{}, false, nil
	}
	hash := tokenHash(token)
	a, found, err := db.One(tx, scanApplication,
		`SELECT `+applicationColumns+` FROM rum_application WHERE token_hash = $1 AND status <> 'deleted'`, hash)
	if err != nil || found {
		return a, found, err
	}
	return db.One(tx, scanApplication, `SELECT `+applicationColumns+` FROM rum_application
		WHERE old_token_hash = $1 AND old_token_hash <> '' AND old_token_until > $2 AND status <> 'deleted'`, hash, now.UnixMilli())
}

// FindApplication returns an application with its client token sealed; found is false if it is deleted.
func FindApplication(tx *db.Tx, account int64, id string) (a Application, found bool, err error) {
	return db.One(tx, scanApplication,
		`SELECT `+applicationColumns+` FROM rum_application WHERE account_id = $1 AND application_id = $2 AND status <> 'deleted'`, account, id)
}

// FindIssue returns an issue.
func FindIssue(tx *db.Tx, account int64, id string) (Issue, bool, error) {
	return db.One(tx, scanIssue, `SELECT `+issueColumns+` FROM rum_issue WHERE account_id = $1 AND issue_id = $2`, account, id)
}

// IssueOf returns the issue of a fingerprint. An error with a new fingerprint belongs to an issue without fingerprints, such
// as one of an account file, if service, type and message agree. The cost does not depend on how many issues there are.
func IssueOf(tx *db.Tx, account int64, application string, f rumerror.Fingerprint) (Issue, bool, error) {
	known, found, err := db.One(tx, db.Column[string],
		`SELECT issue_id FROM rum_fingerprint WHERE account_id = $1 AND application_id = $2 AND fingerprint = $3`, account, application, f.Key)
	if err != nil {
		return Issue{}, false, err
	}
	if found {
		if i, found, err := FindIssue(tx, account, known); found || err != nil {
			return i, found, err
		}
	}
	i, found, err := db.One(tx, scanIssue, `SELECT `+issueColumns+` FROM rum_issue
		WHERE account_id = $1 AND application_id = $2 AND text_key = $3 AND text_key <> ''
		ORDER BY issue_id LIMIT 1`, account, application, f.Text)
	if err != nil || !found {
		return Issue{}, false, err
	}
	if err := tx.Do(`UPDATE rum_issue SET text_key = '' WHERE account_id = $1 AND issue_id = $2`, account, i.IssueID); err != nil {
		return Issue{}, false, err
	}
	return i, true, i.AddFingerprint(tx, account, f)
}

// AddFingerprint makes errors with a fingerprint belong to the issue.
func (i *Issue) AddFingerprint(tx *db.Tx, account int64, f rumerror.Fingerprint) error {
	return tx.Do(`INSERT INTO rum_fingerprint (account_id, application_id, fingerprint, algorithm, issue_id) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (account_id, application_id, fingerprint) DO UPDATE SET algorithm = excluded.algorithm, issue_id = excluded.issue_id`,
		account, i.ApplicationID, f.Key, f.Algorithm, i.IssueID)
}

// Insert stores a new issue, whose fingerprint the caller adds.
func (i *Issue) Insert(tx *db.Tx, account int64) error {
	_, err := i.insert(tx, account, "")
	return err
}

// Update stores what errors and time change of an issue.
func (i *Issue) Update(tx *db.Tx, account int64) error {
	versions, err := json.Marshal(i.Versions)
	if err != nil {
		return err
	}
	var regression *string
	if i.Regression != nil {
		b, err := json.Marshal(i.Regression)
		if err != nil {
			return err
		}
		text := string(b)
		regression = &text
	}
	return tx.Do(
		`UPDATE rum_issue SET team_id = $1, application_name = $2, status = $3, error_count = $4, session_count = $5, is_crash = $6, age = $7,
		resolved_at = $8, resolved_by = $9, updated_at = $10, first_seen_at = $11, first_seen_version = $12, last_seen_at = $13,
		last_seen_version = $14, regression = $15, versions = $16, severity = $17, no_alert = $18
		WHERE account_id = $19 AND issue_id = $20`,
		i.TeamID, i.ApplicationName, i.Status, i.ErrorCount, i.SessionCount, i.IsCrash, i.Age, i.ResolvedAt, i.ResolvedBy, i.UpdatedAt,
		i.FirstSeen.Timestamp, i.FirstSeen.Version, i.LastSeen.Timestamp, i.LastSeen.Version, regression, string(versions), i.Severity,
		i.NoAlert, account, i.IssueID)
}

// Open reports whether people may still have to look at the issue.
func (i *Issue) Open() bool { return i.Status == "for_review" || i.Status == "reviewed" }

// CountNew returns how many issues of an application were stored since a moment.
func CountNew(tx *db.Tx, account int64, application string, since time.Time) (int64, error) {
	n, _, err := db.One(tx, db.Column[int64],
		`SELECT count(*) FROM rum_issue WHERE account_id = $1 AND application_id = $2 AND created_at > $3`,
		account, application, since.UnixMilli())
	return n, err
}

// OpenIssues returns a page of the ids of an account's open issues, those after one.
func OpenIssues(tx *db.Tx, account int64, after string, limit int) ([]string, error) {
	return db.All(tx, db.Column[string], `SELECT issue_id FROM rum_issue
		WHERE account_id = $1 AND issue_id > $2 AND status IN ('for_review', 'reviewed') ORDER BY issue_id LIMIT $3 + 0`, account, after, limit)
}

// AccountsWithOpenIssues returns the accounts that have open issues.
func AccountsWithOpenIssues(tx *db.Tx) ([]int64, error) {
	return db.All(tx, db.Column[int64],
		db.Ahead(`FROM rum_issue WHERE status IN ('for_review', 'reviewed')`)+` SELECT account_id FROM ahead WHERE account_id IS NOT NULL`)
}

// AddSessions counts sessions of an issue and returns how many of them were not counted before.
func AddSessions(tx *db.Tx, account int64, issue string, sessions []string, now time.Time) (added int64, err error) {
	for _, s := range sessions {
		sum := sha256.Sum256([]byte(s))
		n, err := tx.Exec(`INSERT INTO rum_session (account_id, issue_id, session_hash, seen_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
			account, issue, hex.EncodeToString(sum[:8]), now.UnixMilli())
		if err != nil {
			return added, err
		}
		added += n
	}
	return added, nil
}
