package rum

import (
	"cmp"

	"github.com/go-json-experiment/json"

	"tocsin/internal/configstore"
	"tocsin/internal/core/rumerror"
	"tocsin/internal/platform/db"
)

// LoadIssues checks the records of an account file's rum_issues and inserts them. A record without a
// status is for_review, and one without an age gets the seconds between first and last seen. An application that
// does not exist is accepted, because issues outlive it. Errors are fault.Invalid with the record's path.
func LoadIssues(tx *db.Tx, account int64, records []Issue) error {
	for i, r := range records {
		at := configstore.PathOf("rum_issues", i)
		r.Status = cmp.Or(r.Status, "for_review")
		if err := r.check(at); err != nil {
			return err
		}
		r.Age = cmp.Or(r.Age, (r.LastSeen.Timestamp-r.FirstSeen.Timestamp)/1000)
		n, err := r.insert(tx, account, rumerror.TextKey(r.ApplicationID, r.Service, r.Error.Type, r.Error.Message))
		if err != nil {
			return err
		}
		if n == 0 {
			return at.Twice("issue_id", r.IssueID)
		}
	}
	return nil
}

func (i *Issue) check(at configstore.RecordPath) error {
	return configstore.FirstError(
		at.Length("issue_id", i.IssueID, 1, 128),
		at.Length("application_id", i.ApplicationID, 1, 128),
		at.AtLeast("team_id", i.TeamID, 0),
		at.OneOf("status", i.Status, "for_review", "reviewed", "ignored", "resolved"),
		at.AtLeast("error_count", i.ErrorCount, 0),
		at.AtLeast("session_count", i.SessionCount, 0),
		at.AtLeast("age", i.Age, 0),
		at.AtLeast("resolved_at", i.ResolvedAt, 0),
		at.AtLeast("resolved_by", i.ResolvedBy, 0),
		at.AtLeast("created_at", i.CreatedAt, 0),
		at.AtLeast("updated_at", i.UpdatedAt, 0),
		at.AtLeast("first_seen.timestamp", i.FirstSeen.Timestamp, 0),
		at.AtLeast("last_seen.timestamp", i.LastSeen.Timestamp, i.FirstSeen.Timestamp),
		at.OneOf("suspected_cause.source", i.SuspectedCause.Source, "", "auto", "user"),
		at.OneOf("suspected_cause.value", i.SuspectedCause.Value, "", "api.failed_request", "network.error", "code.exception",
			"code.invalid_object_access", "code.invalid_argument", "unknown"),
		at.AtLeast("suspected_cause.person_id", i.SuspectedCause.PersonID, 0),
		at.OneOf("no_alert", i.NoAlert, "", rumerror.NoiseLoop, rumerror.NoiseScript, rumerror.NoiseExtension),
	)
}

// insert stores a new issue with the key by which an error continues it; empty: the issue has a fingerprint.
func (i *Issue) insert(tx *db.Tx, account int64, textKey string) (int64, error) {
	versions, err := json.Marshal(i.Versions)
	if err != nil {
		return 0, err
	}
	var regression *string
	if i.Regression != nil {
		b, err := json.Marshal(i.Regression)
		if err != nil {
			return 0, err
		}
		text := string(b)
		regression = &text
	}
	return tx.Exec(
		`INSERT INTO rum_issue (account_id, `+issueColumns+`, text_key)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25,
		$26, $27, $28, $29, $30) ON CONFLICT DO NOTHING`,
		account, i.TeamID, i.IssueID, i.ApplicationID, i.ApplicationName, i.Service, i.Status, i.ErrorCount, i.SessionCount, i.IsCrash, i.Age,
		i.ResolvedAt, i.ResolvedBy, i.CreatedAt, i.UpdatedAt, i.FirstSeen.Timestamp, i.FirstSeen.Version, i.LastSeen.Timestamp,
		i.LastSeen.Version, i.Error.Message, i.Error.Type, i.SuspectedCause.Source, i.SuspectedCause.Value, i.SuspectedCause.Reason,
		i.SuspectedCause.PersonID, regression, string(versions), i.Severity, i.NoAlert, textKey)
}

// DumpIssues returns all issues of an account, sorted by ID.
func DumpIssues(tx *db.Tx, account int64) ([]Issue, error) {
	return db.All(tx, scanIssue, `SELECT `+issueColumns+` FROM rum_issue WHERE account_id = $1 ORDER BY issue_id`, account)
}
