package console

import (
	"net/url"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/rum"
)

var rumPages = []page{
	{path: "/rum", template: "records", tab: "configuration", show: showApplications},
	{path: "/rum/applications/{id}", template: "record", tab: "configuration", show: editApplication},
	{path: "/rum/issues/{id}", template: "issue", tab: "configuration", show: showIssue},
}

var rumActions = []action{
	{path: "/rum/applications/{id}", do: saveApplication, show: editApplication, page: "record", needs: rights{auth.ApplicationsManage}},
	{path: "/rum/applications/{id}/token", do: rotateToken, show: editApplication, page: "record", needs: rights{auth.ApplicationsManage}},
	{path: "/rum/applications/{id}/delete", do: deletes[api.Removal]("/rum/application/delete", "/rum", applicationToDelete),
		needs: rights{auth.ApplicationsManage}},
	{path: "/rum/issues/{id}", do: setIssue, show: showIssue, page: "issue"},
}

var applicationTypes = []string{"browser", "ios", "android", "react-native", "flutter", "kotlin-multiplatform", "roku", "unity"}

var manageApplications = rights{auth.ApplicationsManage}

func showApplications(v *visit) (view, error) {
	d := recordList{
		titled: titled(v.T("Applications and their errors")), Search: v.query("q"), Searchable: true, pager: v.pager(),
		Intro: v.T("Applications that report the errors of their users."), None: v.T("There is no application yet."),
	}
	if v.who.MayAny(manageApplications) {
		d.New, d.NewText = "/rum/applications/new", v.T("New application")
	}
	request := rum.ApplicationListRequest{Query: d.Search}
	request.P, request.Limit = int64(d.Page), perPage
	reply, err := call[api.CursorPage[rum.Application]](v, "/rum/application/list", request)
	d.More = reply.HasNextPage
	for _, a := range reply.Items {
		row := recordRow{Path: "/rum/applications/" + url.PathEscape(a.ApplicationID), Name: a.ApplicationName, Tags: []string{a.Type}}
		if a.Status == "disabled" {
			row.Warnings = []string{v.T("Disabled")}
		}
		d.Rows = append(d.Rows, row)
	}
	return d, err
}

// editApplication shows the form of an application, with its errors.
func editApplication(v *visit) (view, error) {
	a := rum.Application{Type: applicationTypes[0]}
	d := recordForm{titled: titled(v.T("New application")), Back: "/rum",
		Path: "/rum/applications/" + url.PathEscape(v.r.PathValue("id")), May: v.who.MayAny(manageApplications)}
	if !v.isNew() {
		var err error
		a, err = call[rum.Application](v, "/rum/application/info", rum.ApplicationInfoRequest{ApplicationID: v.r.PathValue("id")})
		if err != nil {
			return nil, err
		}
		d.titled, d.Delete = titled(a.ApplicationName), d.Path+"/delete"
		if a.ClientToken != "" {
			d.Shown = &displayed{Title: v.T("Token that its program sends"), Text: a.ClientToken}
		}
		issues, err := v.issues(a.ApplicationID)
		if err != nil {
			return nil, err
		}
		d.Lists = append(d.Lists, issues)
		if d.May {
			d.Lists = append(d.Lists, v.tokenForm(d.Path, &a))
		}
	}
	types := []option{}
	for _, kind := range applicationTypes {
		types = append(types, option{kind, kind})
	}
	d.text("name", v.T("Name"), a.ApplicationName, "")
	d.choice("type", v.T("Where it runs"), a.Type, types, "")
	if err := d.teams(v, a.TeamID); err != nil {
		return nil, err
	}
	d.check("private", v.T("Private: its data is for its team"), a.IsPrivate)
	d.check("no_ip", v.T("Do not keep addresses of users"), a.NoIP)
	d.check("no_geo", v.T("Do not derive locations of users from their addresses"), a.NoGeo)
	d.long("origins", v.T("Origins of the pages that may send, one on each line"), strings.Join(a.AllowedOrigins, "\n"),
		v.T("Such as https://shop.example.com or https://*.example.com. Empty: any."))
	if !v.isNew() {
		d.check("enabled", v.T("It takes errors"), a.Status == "enabled")
	}
	return d.entered(v), nil
}

// tokenForm returns the form that replaces the token of an application.
func (v *visit) tokenForm(path string, a *rum.Application) recordPart {
	form := &recordForm{Path: path + "/token", May: true}
	hint := ""
	if a.OldTokenUntil > v.Now.UnixMilli() {
		hint = v.T("The token before the present one works until %s.", v.When(a.OldTokenUntil/1000))
	}
	form.number("hours", v.T("Hours for which the old token still works"), 24, hint)
	return recordPart{Title: v.T("Replace the token"), Form: form, None: v.T("Pages that are open go on sending the old token.")}
}

// rotateToken replaces the token of an application.
func rotateToken(v *visit) (string, error) {
	hours, err := strconv.ParseInt(v.field("hours"), 10, 64)
	if err != nil {
		return "", refused(v.T("The number of hours must be a whole number, such as 24."))
	}
	id := v.r.PathValue("id")
	request := rum.TokenRotateRequest{ApplicationID: id, GraceSeconds: hours * 3600}
	return "/rum/applications/" + url.PathEscape(id), do[rum.TokenRotated](v, "/rum/application/token/rotate", request)
}

func saveApplication(v *visit) (string, error) {
	team, origins := formNumber(v, "team"), append([]string{}, strings.Fields(v.field("origins"))...)
	private, noIP := v.field("private") != "", v.field("no_ip") != ""
	noGeo := v.field("no_geo") != ""
	if v.isNew() {
		made, err := call[rum.ApplicationCreated](v, "/rum/application/create", rum.ApplicationCreateRequest{
			ApplicationName: v.field("name"), Type: v.field("type"), TeamID: team,
			IsPrivate: private, NoIP: noIP, NoGeo: noGeo, AllowedOrigins: origins,
		})
		return "/rum/applications/" + url.PathEscape(made.ApplicationID), err
	}
	request := rum.ApplicationUpdateRequest{
		ApplicationID: v.r.PathValue("id"), ApplicationName: new(v.field("name")), Type: v.field("type"), TeamID: &team,
		IsPrivate: &private, NoIP: &noIP, NoGeo: &noGeo, AllowedOrigins: origins, Status: "disabled",
	}
	if v.field("enabled") != "" {
		request.Status = "enabled"
	}
	return v.r.URL.Path, do[api.Warnings](v, "/rum/application/update", request)
}

func applicationToDelete(id string) rum.ApplicationDeleteRequest {
	return rum.ApplicationDeleteRequest{ApplicationID: id}
}

// issues returns the errors of an application in the last 30 days, those with the most sessions first.
func (v *visit) issues(application string) (recordPart, error) {
	part := recordPart{Title: v.T("Errors of the last 30 days"), None: v.T("No errors.")}
	now := v.Now.UnixMilli()
	request := rum.IssueListRequest{OrderBy: "session_count", IssueFilter: rum.IssueFilter{
		StartTime: now - 30*86400_000, EndTime: now + 1, ByIntersection: true, ApplicationIDs: []string{application},
	}}
	request.Limit = perPage
	reply, err := call[api.CursorPage[rum.Issue]](v, "/rum/issue/list", request)
	for _, i := range reply.Items {
		first, _, _ := strings.Cut(i.Error.Message, "\n")
		row := recordRow{Path: "/rum/issues/" + url.PathEscape(i.IssueID), Name: cut(first, 200), About: v.T("Errors: %d, sessions: %d",
			i.ErrorCount, i.SessionCount), Tags: []string{i.Error.Type, v.IssueStatus(i.Status)}, At: i.LastSeen.Timestamp / 1000}
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
