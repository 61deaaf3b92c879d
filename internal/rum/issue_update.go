package rum

import (
	"tocsin/internal/api"
)

// IssueUpdateRequest asks for a change of an issue.
type IssueUpdateRequest struct {
	IssueID        string `json:"issue_id" maxLength:"255" minLength:"1" doc:"The issue."`
	Status         string `json:"status,omitzero" enum:"for_review,reviewed,ignored,resolved," doc:"The state that people have set; absent or empty: unchanged."`
	SuspectedCause string `json:"suspected_cause,omitzero" enum:"api.failed_request,network.error,code.exception,code.invalid_object_access,code.invalid_argument,unknown," doc:"The suspected cause; absent or empty: unchanged."`
}

// issueUpdate answers /rum/issue/update. Any status may follow any other. A cause that a person sets replaces the
// detected one; it has that person and no reason.
func (r *Service) issueUpdate(c *api.Call, in IssueUpdateRequest) (api.Empty, error) {
	issue, err := ReadableIssue(c.Tx, c.Who, in.IssueID)
	if err != nil {
		return api.Empty{}, err
	}
	moved := in.Status != "" && in.Status != issue.Status
	if moved {
		issue.Status = in.Status
		issue.ResolvedAt = 0
		issue.ResolvedBy = 0
		if in.Status == "resolved" {
			issue.ResolvedAt, issue.ResolvedBy = c.Now.UnixMilli(), c.Who.PersonID
		}
	}
	if cause := &issue.SuspectedCause; in.SuspectedCause != "" && (cause.Value != in.SuspectedCause || cause.Source != "user") {
		*cause = Cause{Source: "user", Value: in.SuspectedCause, PersonID: c.Who.PersonID}
	}
	err = c.Tx.Do(
		`UPDATE rum_issue SET status = $1, resolved_at = $2, resolved_by = $3, cause_source = $4, cause_value = $5,
		cause_reason = $6, cause_person_id = $7, updated_at = $8
		WHERE account_id = $9 AND issue_id = $10`,
		issue.Status, issue.ResolvedAt, issue.ResolvedBy, issue.SuspectedCause.Source, issue.SuspectedCause.Value, issue.SuspectedCause.Reason,
		issue.SuspectedCause.PersonID, c.Now.UnixMilli(), c.Who.AccountID, issue.IssueID)
	c.Touched(issueKind, issue.IssueID, issue.Error.Message)
	if err == nil && moved && r.changed != nil {
		err = r.changed(c.Tx, c.Who.AccountID, &issue, c.Now)
	}
	return api.Empty{}, err
}
