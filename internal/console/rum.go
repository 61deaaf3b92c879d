package console

import (
	"net/url"
	"strconv"
	"strings"

	"tocsin/internal/auth"
)

var rumPages = []page{
	{path: "/rum", template: "records", tab: "configuration", show: showApplications},
	{path: "/rum/applications/{id}", template: "record", tab: "configuration", show: editApplication},
	{path: "/rum/issues/{id}", template: "issue", tab: "configuration", show: showIssue},
}

var rumActions = []action{
	{path: "/rum/applications/{id}", do: saveApplication, show: editApplication, page: "record", needs: rights{auth.ApplicationsManage}},
	{path: "/rum/applications/{id}/token", do: rotateToken, show: editApplication, page: "record", needs: rights{auth.ApplicationsManage}},
	{path: "/rum/applications/{id}/delete", do: deletes("/rum/application/delete", "application_id", "/rum"),
		needs: rights{auth.ApplicationsManage}},
	{path: "/rum/issues/{id}", do: setIssue, show: showIssue, page: "issue"},
}

// applicationRow is what pages need of an application.
type applicationRow struct {
	ID      string `json:"application_id"`
	Name    string `json:"application_name"`
	Type    string `json:"type"`
	Token   string `json:"client_token"`
	TeamID  int64  `json:"team_id"`
	Private bool   `json:"is_private"`
	NoIP    bool   `json:"no_ip"`
	NoGeo   bool   `json:"no_geo"`
	Status  string `json:"status"`

	Origins       []string `json:"allowed_origins"`
	OldTokenUntil int64    `json:"old_token_until"`
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
	var reply struct {
		Items []applicationRow `json:"items"`
		More  bool             `json:"has_next_page"`
	}
	err := v.call("/rum/application/list", map[string]any{"p": d.Page, "limit": perPage, "query": d.Search}, &reply)
	d.More = reply.More
	for _, a := range reply.Items {
		row := recordRow{Path: "/rum/applications/" + url.PathEscape(a.ID), Name: a.Name, Tags: []string{a.Type}}
		if a.Status == "disabled" {
			row.Warnings = []string{v.T("Disabled")}
		}
		d.Rows = append(d.Rows, row)
	}
	return d, err
}

// editApplication shows the form of an application, with its errors.
func editApplication(v *visit) (view, error) {
	a := applicationRow{Type: applicationTypes[0]}
	d := recordForm{titled: titled(v.T("New application")), Back: "/rum",
		Path: "/rum/applications/" + url.PathEscape(v.r.PathValue("id")), May: v.who.MayAny(manageApplications)}
	if !v.isNew() {
		if err := v.call("/rum/application/info", map[string]any{"application_id": v.r.PathValue("id")}, &a); err != nil {
			return nil, err
		}
		d.titled, d.Delete = titled(a.Name), d.Path+"/delete"
		if a.Token != "" {
			d.Shown = &displayed{Title: v.T("Token that its program sends"), Text: a.Token}
		}
		issues, err := v.issues(a.ID)
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
	d.text("name", v.T("Name"), a.Name, "")
	d.choice("type", v.T("Where it runs"), a.Type, types, "")
	if err := d.teams(v, a.TeamID); err != nil {
		return nil, err
	}
	d.check("private", v.T("Private: its data is for its team"), a.Private)
	d.check("no_ip", v.T("Do not keep addresses of users"), a.NoIP)
	d.check("no_geo", v.T("Do not derive locations of users from their addresses"), a.NoGeo)
	d.long("origins", v.T("Origins of the pages that may send, one on each line"), strings.Join(a.Origins, "\n"),
		v.T("Such as https://shop.example.com or https://*.example.com. Empty: any."))
	if !v.isNew() {
		d.check("enabled", v.T("It takes errors"), a.Status == "enabled")
	}
	return d.entered(v), nil
}

// tokenForm returns the form that replaces the token of an application.
func (v *visit) tokenForm(path string, a *applicationRow) recordPart {
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
	return "/rum/applications/" + url.PathEscape(id), v.call("/rum/application/token/rotate",
		map[string]any{"application_id": id, "grace_seconds": hours * 3600}, nil)
}

func saveApplication(v *visit) (string, error) {
	request := map[string]any{
		"application_name": v.field("name"), "type": v.field("type"), "team_id": formNumber(v, "team"),
		"is_private": v.field("private") != "", "no_ip": v.field("no_ip") != "", "no_geo": v.field("no_geo") != "",
		"allowed_origins": append([]string{}, strings.Fields(v.field("origins"))...),
	}
	if v.isNew() {
		var made struct {
			ID string `json:"application_id"`
		}
		err := v.call("/rum/application/create", request, &made)
		return "/rum/applications/" + url.PathEscape(made.ID), err
	}
	request["application_id"], request["status"] = v.r.PathValue("id"), "disabled"
	if v.field("enabled") != "" {
		request["status"] = "enabled"
	}
	return v.r.URL.Path, v.call("/rum/application/update", request, nil)
}

// issueRow is what pages need of an error that users see.
type issueRow struct {
	ID            string `json:"issue_id"`
	ApplicationID string `json:"application_id"`
	Application   string `json:"application_name"`
	Service       string `json:"service"`
	Status        string `json:"status"`
	Errors        int64  `json:"error_count"`
	Sessions      int64  `json:"session_count"`
	Crash         bool   `json:"is_crash"`
	Severity      string `json:"severity"`
	NoAlert       string `json:"no_alert"`
	First         seen   `json:"first_seen"`
	Last          seen   `json:"last_seen"`
	Error         struct {
		Message string `json:"message"`
		Type    string `json:"type"`
	} `json:"error"`
	Cause struct {
		Value  string `json:"value"`
		Reason string `json:"reason"`
	} `json:"suspected_cause"`
	Regression *struct {
		At      int64  `json:"regressed_at"`
		Version string `json:"regressed_at_version"`
	} `json:"regression"`
	Versions []string `json:"versions"`
}

// seen is when an error was seen, in which version.
type seen struct {
	Millis  int64  `json:"timestamp"`
	Version string `json:"version"`
}

// At returns the moment in Unix seconds.
func (s seen) At() int64 { return s.Millis / 1000 }

// issues returns the errors of an application in the last 30 days, those with the most sessions first.
func (v *visit) issues(application string) (recordPart, error) {
	part := recordPart{Title: v.T("Errors of the last 30 days"), None: v.T("No errors.")}
	var reply struct {
		Items []issueRow `json:"items"`
	}
	now := v.Now.UnixMilli()
	request := map[string]any{
		"start_time": now - 30*86400_000, "end_time": now + 1, "by_intersection": true, "application_ids": []string{application},
		"orderby": "session_count", "limit": perPage,
	}
	err := v.call("/rum/issue/list", request, &reply)
	for _, i := range reply.Items {
		first, _, _ := strings.Cut(i.Error.Message, "\n")
		row := recordRow{Path: "/rum/issues/" + url.PathEscape(i.ID), Name: cut(first, 200), About: v.T("Errors: %d, sessions: %d",
			i.Errors, i.Sessions), Tags: []string{i.Error.Type, v.IssueStatus(i.Status)}, At: i.Last.At()}
		if i.NoAlert != "" {
			row.Tags = append(row.Tags, v.T("No alert"))
		}
		if i.Crash {
			row.Warnings = []string{v.T("Crash")}
		}
		part.Rows = append(part.Rows, row)
	}
	return part, err
}
