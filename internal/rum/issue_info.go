package rum

import (
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// IssueInfoRequest names an issue.
type IssueInfoRequest struct {
	IssueID string `json:"issue_id" maxLength:"255" minLength:"1" doc:"The issue to read."`
}

// issueInfo answers /rum/issue/info, for any valid key; an issue of a private application is for those who may read that.
func (r *Service) issueInfo(c *api.Call, in IssueInfoRequest) (Issue, error) {
	return ReadableIssue(c.Tx, c.Who, in.IssueID)
}

// ReadableIssue returns an issue, or a fault if it does not exist or the caller may not read its application.
func ReadableIssue(tx *db.Tx, who auth.Principal, id string) (Issue, error) {
	issue, found, err := FindIssue(tx, who.AccountID, id)
	if err == nil && !found {
		err = fault.Missing("issue", id)
	}
	if err == nil {
		err = permit(tx, who, issue.ApplicationID)
	}
	if err != nil {
		return Issue{}, err
	}
	return issue, nil
}
