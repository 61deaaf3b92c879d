package rum

import (
	"tocsin/internal/api"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

type issueInfoRequest struct {
	IssueID string `json:"issue_id" maxLength:"255" minLength:"1" doc:"The issue to read."`
}

// issueInfo answers /rum/issue/info. An issue of a private application is returned too: the specification lets any
// valid key of the account read issues (section 5).
func (r *Service) issueInfo(c *api.Call, in issueInfoRequest) (Issue, error) {
	return findIssue(c.Tx, c.Who.AccountID, in.IssueID)
}

// findIssue returns an issue, or a fault if it does not exist.
func findIssue(tx *db.Tx, account int64, id string) (Issue, error) {
	issue, found, err := db.One(tx, scanIssue, `SELECT `+issueColumns+` FROM rum_issue WHERE account_id = $1 AND issue_id = $2`, account, id)
	if err == nil && !found {
		err = fault.Missing("issue", id)
	}
	return issue, err
}
