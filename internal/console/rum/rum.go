package rum

import (
	"cmp"
	"net/url"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/rum"
)

var rumPages = []page.Page{
	{Path: "/rum", Template: "records", Tab: "alerts", Show: showApplications},
	{Path: "/rum/applications/new", Template: "record", Tab: "alerts", Show: newApplication, Needs: manageApplications},
	{Path: "/rum/applications/{id}", Template: "application", Tab: "alerts", Show: showApplication},
	{Path: "/rum/applications/{id}/edit", Template: "record", Tab: "alerts", Show: editApplication},
	{Path: "/rum/issues/{id}", Template: "issue", Tab: "alerts", Show: showIssue},
}

var rumActions = []page.Action{
	{Path: "/rum/applications/new", Do: createApplication, Show: newApplication, Template: "record", Needs: manageApplications},
	{Path: "/rum/applications/{id}/edit", Do: saveApplication, Show: editApplication, Template: "record", Needs: manageApplications},
	{Path: "/rum/applications/{id}/token", Do: rotateToken, Show: editApplication, Template: "record", Needs: manageApplications},
	{Path: "/rum/applications/{id}/delete", Do: page.Does[api.Removal]("/rum/application/delete", "/rum", applicationToDelete),
		Needs: manageApplications},
	{Path: "/rum/issues/{id}", Do: setIssue, Show: showIssue, Template: "issue"},
}

var manageApplications = page.Rights{auth.ApplicationsManage}

func showApplications(v *page.Visit) (page.View, error) {
	d := page.RecordList{
		Titled: page.Titled(v.T("Browser and app errors (RUM)")), Search: v.Query("q"), Searchable: true, Pager: v.Pager(),
		Intro: v.T("Applications that report the errors of their users."), None: v.T("There is no application yet."),
	}
	if v.Who.MayAny(manageApplications) {
		d.New, d.NewText = "/rum/applications/new", v.T("New application")
	}
	request := rum.ApplicationListRequest{Query: d.Search}
	request.P, request.Limit = int64(d.Page), page.PageSize
	reply, err := page.Call[api.CursorPage[rum.Application]](v, "/rum/application/list", request)
	d.More = reply.HasNextPage
	for _, a := range reply.Items {
		row := page.RecordRow{Path: applicationPath(a.ApplicationID), Name: a.ApplicationName, Tags: []string{typeName(v, a.Type)}}
		if a.Status == "disabled" {
			row.Warnings = []string{v.T("Disabled")}
		}
		d.Rows = append(d.Rows, row)
	}
	return d, err
}

// applicationView is the page of an application: its errors, and how it sends them.
type applicationView struct {
	page.Titled
	page.Pager
	Application rum.Application
	Rows        []page.RecordRow
	Texts       []page.Displayed
	Statuses    []string
	Causes      []string
	Status      string
	Cause       string
	Days        string
	DaysOffered []string
	May         bool
}

// Export returns the address that answers with the errors that the page lists as a file.
func (d applicationView) Export(v *page.Visit) string {
	return applicationPath(d.Application.ApplicationID) + "/errors?" + v.Request.URL.RawQuery
}

// issueFilter returns which errors of an application the address asks for: of the last 30 days, unless it names another number.
func issueFilter(v *page.Visit) rum.IssueFilter {
	now := v.Now.UnixMilli()
	days := min(max(page.Number(cmp.Or(v.Query("days"), issueDaysShown)), 1), 180)
	f := rum.IssueFilter{StartTime: now - days*86400_000, EndTime: now + 1, ByIntersection: true,
		ApplicationIDs: []string{v.Request.PathValue("id")}}
	if status := v.Query("status"); status != "" {
		f.Statuses = []string{status}
	}
	if cause := v.Query("cause"); cause != "" {
		f.SuspectedCauses = []string{cause}
	}
	return f
}

// issueDaysShown is the number of days whose errors an application shows, unless the address names another.
const issueDaysShown = "30"

func showApplication(v *page.Visit) (page.View, error) {
	a, err := application(v)
	if err != nil {
		return nil, err
	}
	d := applicationView{Titled: page.Titled(a.ApplicationName), Pager: v.Pager(), Application: a, Texts: snippets(v, &a),
		Statuses: issueStatuses, Causes: issueCauses, Status: v.Query("status"), Cause: v.Query("cause"),
		Days:        cmp.Or(v.Query("days"), issueDaysShown),
		DaysOffered: []string{"1", "7", issueDaysShown, "180"}, May: v.Who.MayAny(manageApplications)}
	request := rum.IssueListRequest{OrderBy: "session_count", IssueFilter: issueFilter(v)}
	request.P, request.Limit = d.Page, page.PageSize
	reply, err := page.Call[api.CursorPage[rum.Issue]](v, "/rum/issue/list", request)
	d.More = reply.HasNextPage
	for _, i := range reply.Items {
		d.Rows = append(d.Rows, issueRow(v, i))
	}
	return d, err
}

// exportIssues answers with the errors that the page of an application lists, as a file.
func exportIssues(v *page.Visit) error {
	return v.Frame.AskFile(v.Context, v.Writer, v.Inside(), "/rum/issue/export", issueFilter(v))
}

// issueRow returns an error as lists show it.
func issueRow(v *page.Visit, i rum.Issue) page.RecordRow {
	first, _, _ := strings.Cut(i.Error.Message, "\n")
	row := page.RecordRow{Path: "/rum/issues/" + url.PathEscape(i.IssueID), Name: page.Cut(first, 200), About: v.T("Errors: %d, sessions: %d",
		i.ErrorCount, i.SessionCount), Tags: []string{i.Error.Type, issueStatus(v, i.Status)}, At: i.LastSeen.Timestamp / 1000}
	if i.NoAlert != "" {
		row.Tags = append(row.Tags, v.T("No alert"))
	}
	if i.IsCrash {
		row.Warnings = []string{v.T("Crash")}
	}
	return row
}
