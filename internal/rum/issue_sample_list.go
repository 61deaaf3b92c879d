package rum

import (
	"cmp"

	"tocsin/internal/api"
	"tocsin/internal/platform/db"
)

// IssueSampleListRequest asks for the newest errors of an issue.
type IssueSampleListRequest struct {
	IssueID string `json:"issue_id" maxLength:"255" minLength:"1" doc:"The issue."`
	Limit   int64  `json:"limit,omitzero" minimum:"1" maximum:"20" doc:"How many errors, at most 20; absent: 20."`
}

// issueSampleList answers /rum/issue/sample/list, for any valid key as issueInfo.
func (r *Service) issueSampleList(c *api.Call, in IssueSampleListRequest) (api.Items[Sample], error) {
	if _, err := ReadableIssue(c.Tx, c.Who, in.IssueID); err != nil {
		return api.Items[Sample]{}, err
	}
	items, err := db.All(c.Tx, scanSample, `SELECT number, received_at, body FROM rum_sample
		WHERE account_id = $1 AND issue_id = $2 ORDER BY number DESC LIMIT $3 + 0`, c.Who.AccountID, in.IssueID, cmp.Or(in.Limit, MaxSamples))
	return api.Items[Sample]{Items: items}, err
}
