package rum

import (
	"fmt"
	"slices"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// maxWindow is the maxWindow window of /rum/issue/list, in milliseconds: 183 days.
const maxWindow = 183 * 24 * 60 * 60 * 1000

// IssueFilter selects issues.
type IssueFilter struct {
	StartTime       int64    `json:"start_time" minimum:"0" doc:"Start of the window, Unix milliseconds, inclusive."`
	EndTime         int64    `json:"end_time" minimum:"0" doc:"End of the window, Unix milliseconds, exclusive; after start_time, at most 183 days."`
	ByIntersection  bool     `json:"by_intersection,omitzero" doc:"Issues that existed at any time of the window; else those that first occurred in it."`
	ApplicationIDs  []string `json:"application_ids,omitzero" maxItems:"200" maxLength:"255" doc:"Only issues of these applications; none: of all."`
	TeamIDs         []int64  `json:"team_ids,omitzero" maxItems:"200" doc:"Only issues of these teams; none: of all."`
	Statuses        []string `json:"statuses,omitzero" maxItems:"100" enum:"for_review,reviewed,ignored,resolved" doc:"Only issues in one of these; none: in any."`
	SuspectedCauses []string `json:"suspected_causes,omitzero" maxItems:"20" maxLength:"255" doc:"Only issues with one of these suspected causes; none: with any."`
	ErrorRequired   bool     `json:"error_required,omitzero" doc:"Only issues with at least one error."`
	DQL             string   `json:"dql,omitzero" maxLength:"4096" doc:"Must be empty: errors cannot be searched by their own fields."`
	SQL             string   `json:"sql,omitzero" maxLength:"4096" doc:"Must be empty: errors cannot be searched by their own fields."`
}

// IssueListRequest asks for a page of issues.
type IssueListRequest struct {
	IssueFilter
	OrderBy string `json:"orderby,omitzero" enum:"created_at,updated_at,session_count,error_count," doc:"What to sort by; absent or empty: created_at."`
	Asc     bool   `json:"asc,omitzero" doc:"Least first; else greatest first."`
	api.CursorRequest
}

// Check returns a fault if the window is empty or too long, or if a filter is used that is not supported.
func (in IssueFilter) Check() error {
	switch span := in.EndTime - in.StartTime; {
	case span <= 0:
		return fault.Invalid("end_time", "must be greater than start_time %d, got %d", in.StartTime, in.EndTime)
	case span > maxWindow:
		return fault.Invalid("end_time", "must be at most 183 days (%d milliseconds) after start_time, got %d milliseconds", maxWindow, span)
	case in.DQL != "" && in.SQL != "":
		return fault.Invalid("sql", "must not be given together with dql")
	case in.DQL != "":
		return fault.Invalid("dql", "cannot be searched by here; use the other filters")
	case in.SQL != "":
		return fault.Invalid("sql", "cannot be searched by here; use the other filters")
	}
	if i := slices.IndexFunc(in.ApplicationIDs, func(id string) bool { return strings.Contains(id, ",") }); i >= 0 {
		return fault.Invalid("application_ids", "must not hold a comma, got %.60q", in.ApplicationIDs[i])
	}
	return nil
}

// Check is that of the filter and of the page.
func (in IssueListRequest) Check() error {
	if err := in.IssueFilter.Check(); err != nil {
		return err
	}
	return in.Page.Check()
}

// Membership in a list of texts is tested with replace: LIKE ignores case in one engine, and in both treats
// characters of a column as wildcards.
const issuesMatching = ` FROM rum_issue i WHERE account_id = $1 AND created_at < $4 AND created_at >= $5 AND last_seen_at >= $6
	AND ($7 = '' OR replace($7, ',' || application_id || ',', '') <> $7) AND ($8 = '' OR $8 LIKE '%,' || team_id || ',%')
	AND ($9 = '' OR replace($9, ',' || status || ',', '') <> $9) AND ($10 = '' OR replace($10, ',' || cause_value || ',', '') <> $10)
	AND (NOT $11 OR error_count > 0) AND ` + mayReadIssue

const issuePage = `SELECT ` + issueColumns + issuesMatching

const issueWindow = ` LIMIT $15 + 0 OFFSET $16 + 0`

// issuePages holds the statement of a page for each order, behind a position; issue_id breaks ties in all of them.
var issuePages = map[order]string{
	{"created_at", false}: issuePage + ` AND ($12 OR (created_at, issue_id) < ($13, $14))
		ORDER BY created_at DESC, issue_id DESC` + issueWindow,
	{"created_at", true}: issuePage + ` AND ($12 OR (created_at, issue_id) > ($13, $14))
		ORDER BY created_at, issue_id` + issueWindow,
	{"updated_at", false}: issuePage + ` AND ($12 OR (updated_at, issue_id) < ($13, $14))
		ORDER BY updated_at DESC, issue_id DESC` + issueWindow,
	{"updated_at", true}: issuePage + ` AND ($12 OR (updated_at, issue_id) > ($13, $14))
		ORDER BY updated_at, issue_id` + issueWindow,
	{"session_count", false}: issuePage + ` AND ($12 OR (session_count, issue_id) < ($13, $14))
		ORDER BY session_count DESC, issue_id DESC` + issueWindow,
	{"session_count", true}: issuePage + ` AND ($12 OR (session_count, issue_id) > ($13, $14))
		ORDER BY session_count, issue_id` + issueWindow,
	{"error_count", false}: issuePage + ` AND ($12 OR (error_count, issue_id) < ($13, $14))
		ORDER BY error_count DESC, issue_id DESC` + issueWindow,
	{"error_count", true}: issuePage + ` AND ($12 OR (error_count, issue_id) > ($13, $14))
		ORDER BY error_count, issue_id` + issueWindow,
}

// args returns the first arguments of the statements that select issues for a caller.
func (in IssueFilter) args(who auth.Principal) []any {
	created, seen := in.StartTime, int64(0)
	if in.ByIntersection {
		created, seen = 0, in.StartTime
	}
	return []any{who.AccountID, who.Owner, who.PersonID, in.EndTime, created, seen, db.List(in.ApplicationIDs), db.List(in.TeamIDs),
		db.List(in.Statuses), db.List(in.SuspectedCauses), in.ErrorRequired}
}

// position returns where an issue stands in the list.
func (in IssueListRequest) position(i Issue) api.Position {
	at := i.CreatedAt
	switch in.OrderBy {
	case "updated_at":
		at = i.UpdatedAt
	case "session_count":
		at = i.SessionCount
	case "error_count":
		at = i.ErrorCount
	}
	return api.Position{At: at, ID: i.IssueID}
}

// issueList answers /rum/issue/list, with the issues of applications that the caller may read.
func (r *Service) issueList(c *api.Call, in IssueListRequest) (reply api.CursorPage[Issue], err error) {
	if in.OrderBy == "" {
		in.OrderBy = "created_at"
	}
	args := in.args(c.Who)
	binding := fmt.Sprint("issues", args, in.OrderBy, in.Asc)
	from, err := in.From(c, binding)
	if err != nil {
		return reply, err
	}
	total, _, err := db.One(c.Tx, db.Column[int64], `SELECT count(*)`+issuesMatching, args...)
	if err != nil {
		return reply, err
	}
	limit, offset := in.Window(defaultLimit)
	items, onPage, err := db.Page(c.Tx, limit, api.PageBytes, scanIssue, issuePages[order{in.OrderBy, in.Asc}],
		append(args, from.Unset(), from.At, from.ID, limit+1, offset)...)
	c.WarnShort(onPage, limit, "")
	return api.NewCursorPage(c, items, onPage, total, binding, in.position), err
}
