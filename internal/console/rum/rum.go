package rum

import (
	"net/url"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/rum"
)

var rumPages = []page.Page{
	{Path: "/rum", Template: "records", Tab: "alerts", Show: showApplications},
	{Path: "/rum/applications/{id}", Template: "record", Tab: "alerts", Show: editApplication},
	{Path: "/rum/issues/{id}", Template: "issue", Tab: "alerts", Show: showIssue},
}

var rumActions = []page.Action{
	{Path: "/rum/applications/{id}", Do: saveApplication, Show: editApplication, Template: "record",
		Needs: page.Rights{auth.ApplicationsManage}},
	{Path: "/rum/applications/{id}/token", Do: rotateToken, Show: editApplication, Template: "record",
		Needs: page.Rights{auth.ApplicationsManage}},
	{Path: "/rum/applications/{id}/delete", Do: page.Does[api.Removal]("/rum/application/delete", "/rum", applicationToDelete),
		Needs: page.Rights{auth.ApplicationsManage}},
	{Path: "/rum/issues/{id}", Do: setIssue, Show: showIssue, Template: "issue"},
}

var applicationTypes = []string{"browser", "ios", "android", "react-native", "flutter", "kotlin-multiplatform", "roku", "unity"}

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
		row := page.RecordRow{Path: "/rum/applications/" + url.PathEscape(a.ApplicationID), Name: a.ApplicationName, Tags: []string{a.Type}}
		if a.Status == "disabled" {
			row.Warnings = []string{v.T("Disabled")}
		}
		d.Rows = append(d.Rows, row)
	}
	return d, err
}

// editApplication shows the form of an application, with its errors.
func editApplication(v *page.Visit) (page.View, error) {
	a := rum.Application{Type: applicationTypes[0]}
	d := page.RecordForm{Titled: page.Titled(v.T("New application")), Back: "/rum",
		Path: "/rum/applications/" + url.PathEscape(v.Request.PathValue("id")), May: v.Who.MayAny(manageApplications)}
	if !v.IsNew() {
		var err error
		a, err = page.Call[rum.Application](v, "/rum/application/info", rum.ApplicationInfoRequest{ApplicationID: v.Request.PathValue("id")})
		if err != nil {
			return nil, err
		}
		d.Titled, d.Delete = page.Titled(a.ApplicationName), d.Path+"/delete"
		if a.ClientToken != "" {
			d.Shown = &page.Displayed{Title: v.T("Token that its program sends"), Text: a.ClientToken}
		}
		issues, err := issues(v, a.ApplicationID)
		if err != nil {
			return nil, err
		}
		d.Lists = append(d.Lists, issues)
		if d.May {
			d.Lists = append(d.Lists, tokenForm(v, d.Path, &a))
		}
	}
	types := []page.Option{}
	for _, kind := range applicationTypes {
		types = append(types, page.Option{Value: kind, Text: kind})
	}
	d.Text("name", v.T("Name"), a.ApplicationName, "")
	d.Choice("type", v.T("Where it runs"), a.Type, types, "")
	if err := d.Teams(v, a.TeamID); err != nil {
		return nil, err
	}
	d.Check("private", v.T("Private: its data is for its team"), a.IsPrivate)
	d.Check("no_ip", v.T("Do not keep addresses of users"), a.NoIP)
	d.Check("no_geo", v.T("Do not derive locations of users from their addresses"), a.NoGeo)
	d.Long("origins", v.T("Origins of the pages that may send, one on each line"), strings.Join(a.AllowedOrigins, "\n"),
		v.T("Such as https://shop.example.com or https://*.example.com. Empty: any."))
	if !v.IsNew() {
		d.Check("enabled", v.T("It takes errors"), a.Status == "enabled")
	}
	return d.Entered(v), nil
}

// tokenForm returns the form that replaces the token of an application.
func tokenForm(v *page.Visit, path string, a *rum.Application) page.RecordPart {
	form := &page.RecordForm{Path: path + "/token", May: true}
	hint := ""
	if a.OldTokenUntil > v.Now.UnixMilli() {
		hint = v.T("The token before the present one works until %s.", v.When(a.OldTokenUntil/1000))
	}
	form.Number("hours", v.T("Hours for which the old token still works"), 24, hint)
	return page.RecordPart{Title: v.T("Replace the token"), Form: form, None: v.T("Pages that are open go on sending the old token.")}
}

// rotateToken replaces the token of an application.
func rotateToken(v *page.Visit) (string, error) {
	hours, err := strconv.ParseInt(v.Field("hours"), 10, 64)
	if err != nil {
		return "", page.Wrong(v.T("The number of hours must be a whole number, such as 24."))
	}
	id := v.Request.PathValue("id")
	request := rum.TokenRotateRequest{ApplicationID: id, GraceSeconds: hours * 3600}
	return "/rum/applications/" + url.PathEscape(id), page.Do[rum.TokenRotated](v, "/rum/application/token/rotate", request)
}

func saveApplication(v *page.Visit) (string, error) {
	team, origins := v.Number("team"), append([]string{}, strings.Fields(v.Field("origins"))...)
	private, noIP := v.Field("private") != "", v.Field("no_ip") != ""
	noGeo := v.Field("no_geo") != ""
	if v.IsNew() {
		made, err := page.Call[rum.ApplicationCreated](v, "/rum/application/create", rum.ApplicationCreateRequest{
			ApplicationName: v.Field("name"), Type: v.Field("type"), TeamID: team,
			IsPrivate: private, NoIP: noIP, NoGeo: noGeo, AllowedOrigins: origins,
		})
		return "/rum/applications/" + url.PathEscape(made.ApplicationID), err
	}
	request := rum.ApplicationUpdateRequest{
		ApplicationID: v.Request.PathValue("id"), ApplicationName: new(v.Field("name")), Type: v.Field("type"), TeamID: &team,
		IsPrivate: &private, NoIP: &noIP, NoGeo: &noGeo, AllowedOrigins: origins, Status: "disabled",
	}
	if v.Field("enabled") != "" {
		request.Status = "enabled"
	}
	return v.Request.URL.Path, page.Do[api.Warnings](v, "/rum/application/update", request)
}

func applicationToDelete(v *page.Visit) rum.ApplicationDeleteRequest {
	return rum.ApplicationDeleteRequest{ApplicationID: v.Request.PathValue("id")}
}

// issues returns the errors of an application in the last 30 days, those with the most sessions first.
func issues(v *page.Visit, application string) (page.RecordPart, error) {
	part := page.RecordPart{Title: v.T("Errors of the last 30 days"), None: v.T("No errors.")}
	now := v.Now.UnixMilli()
	request := rum.IssueListRequest{OrderBy: "session_count", IssueFilter: rum.IssueFilter{
		StartTime: now - 30*86400_000, EndTime: now + 1, ByIntersection: true, ApplicationIDs: []string{application},
	}}
	request.Limit = page.PageSize
	reply, err := page.Call[api.CursorPage[rum.Issue]](v, "/rum/issue/list", request)
	for _, i := range reply.Items {
		first, _, _ := strings.Cut(i.Error.Message, "\n")
		row := page.RecordRow{Path: "/rum/issues/" + url.PathEscape(i.IssueID), Name: page.Cut(first, 200), About: v.T("Errors: %d, sessions: %d",
			i.ErrorCount, i.SessionCount), Tags: []string{i.Error.Type, issueStatus(v, i.Status)}, At: i.LastSeen.Timestamp / 1000}
		if i.NoAlert != "" {
			row.Tags = append(row.Tags, v.T("No alert"))
		}
		if i.IsCrash {
			row.Warnings = []string{v.T("Crash")}
		}
		part.Rows = append(part.Rows, row)
	}
	return part, err
}
