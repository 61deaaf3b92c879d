package rum

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/rum"
)

// applicationTypes are where an application runs, with names that are the same in every language.
var applicationTypes = [][2]string{
	{browser, "Browser"}, {"ios", "iOS"}, {"android", "Android"}, {"react-native", "React Native"}, {"flutter", "Flutter"},
	{"kotlin-multiplatform", "Kotlin Multiplatform"}, {"roku", "Roku"}, {"unity", "Unity"},
}

// browser is the type of the pages of a web site.
const browser = "browser"

func typeChoices(v *page.Visit) (options []page.Option, err error) {
	for _, one := range applicationTypes {
		options = append(options, page.Option{Value: one[0], Text: typeName(v, one[0])})
	}
	return options, nil
}

// typeName names a type of applications.
func typeName(v *page.Visit, kind string) string {
	at := slices.IndexFunc(applicationTypes, func(one [2]string) bool { return one[0] == kind })
	switch {
	case kind == browser:
		return v.T("Browser")
	case at < 0:
		return kind
	}
	return applicationTypes[at][1]
}

var applicationForm = page.Form{Operations: []string{"/rum/application/create", "/rum/application/update"}, Members: []page.Member{
	{Path: "application_name", Label: "Name"},
	{Path: "type", Label: "Where it runs", Choices: typeChoices},
	{Path: "team_id", Label: "Team", Kind: page.Teams},
	{Path: "alerting.enabled", Label: "Its errors become alerts"},
	{Path: "alerting.channel_ids", Label: "In these channels", Kind: page.Channels},
	{Path: "is_private", Label: "Private: its data is for its team"},
	{Path: "no_ip", Label: "Do not keep addresses of users"},
	{Path: "no_geo", Label: "Do not derive locations of users from their addresses"},
	{Path: "allowed_origins", Label: "Origins of the pages that may send, one on each line",
		Hint: "Such as https://shop.example.com or https://*.example.com. Empty: any."},
	{Path: "tracing.enabled", Label: "Link errors to traces", Seldom: true},
	{Path: "tracing.endpoint", Label: "Address of a trace", Hint: "${trace_id} stands for the trace.", Seldom: true},
	{Path: "tracing.open_type", Label: "How a trace opens", Seldom: true, Options: []page.Option{
		{Value: "", Text: "As the browser does"}, {Value: "tab", Text: "In a new tab"}, {Value: "popup", Text: "In a window of its own"},
	}},
}}

// statusForm is what an application has once it exists.
var statusForm = page.Form{Operations: []string{"/rum/application/update"}, Members: []page.Member{
	{Path: "status", Label: "Errors", Options: []page.Option{
		{Value: "enabled", Text: "It takes errors"}, {Value: "disabled", Text: "It refuses errors"},
	}},
}}

func applicationPath(id string) string { return "/rum/applications/" + url.PathEscape(id) }

// application returns the application that the address names.
func application(v *page.Visit) (rum.Application, error) {
	return page.Call[rum.Application](v, "/rum/application/info", rum.ApplicationInfoRequest{ApplicationID: v.Request.PathValue("id")})
}

func newApplication(v *page.Visit) (page.View, error) {
	d := page.RecordForm{Titled: page.Titled(v.T("New application")), Back: "/rum", Path: v.Request.URL.Path, May: true}
	return &d, applicationForm.Draw(v, &d, rum.Application{Type: browser, Alerting: rum.Alerting{Enabled: true}})
}

// editApplication shows the settings of an application.
func editApplication(v *page.Visit) (page.View, error) {
	a, err := application(v)
	if err != nil {
		return nil, err
	}
	path := applicationPath(a.ApplicationID)
	d := page.RecordForm{Titled: page.Titled(a.ApplicationName), Back: path, Path: path + "/edit", May: v.Who.MayAny(manageApplications),
		Delete: path + "/delete"}
	if d.May {
		d.Lists = append(d.Lists, tokenForm(v, &a))
	}
	if err := applicationForm.Draw(v, &d, a); err != nil {
		return nil, err
	}
	return &d, statusForm.Draw(v, &d, a)
}

func createApplication(v *page.Visit) (string, error) {
	var request rum.ApplicationCreateRequest
	if err := applicationForm.Read(v, &request); err != nil {
		return "", err
	}
	made, err := page.Call[rum.ApplicationCreated](v, "/rum/application/create", request)
	return applicationPath(made.ApplicationID), err
}

func saveApplication(v *page.Visit) (string, error) {
	request := rum.ApplicationUpdateRequest{ApplicationID: v.Request.PathValue("id")}
	if err := applicationForm.Read(v, &request); err != nil {
		return "", err
	}
	if err := statusForm.Read(v, &request); err != nil {
		return "", err
	}
	return applicationPath(request.ApplicationID), page.Do[api.Warnings](v, "/rum/application/update", request)
}

func applicationToDelete(v *page.Visit) rum.ApplicationDeleteRequest {
	return rum.ApplicationDeleteRequest{ApplicationID: v.Request.PathValue("id")}
}

// snippets returns how the program of an application sends its errors; none, if the visitor may not see its token.
func snippets(v *page.Visit, a *rum.Application) []page.Displayed {
	if a.ClientToken == "" {
		return nil
	}
	scheme, host, _ := strings.Cut(v.Origin(), "://")
	dsn, intake := scheme+"://"+a.ClientToken+"@"+host+"/1", v.Origin()+"/api/v2/rum"
	all := []page.Displayed{{Title: v.T("Token that its program sends"), Text: a.ClientToken}}
	if a.Type != browser {
		return append(all, page.Displayed{Title: v.T("DSN for the SDK of Sentry"), Text: dsn},
			page.Displayed{Title: v.T("Address for the SDK of Datadog"), Text: intake})
	}
	sentry := "Sentry.init({\n  dsn: \"" + dsn + "\",\n  release: \"shop-web@1.4.2\",\n  environment: \"production\"\n})"
	datadog := "datadogRum.init({\n  applicationId: \"" + a.ApplicationID + "\",\n  clientToken: \"" + a.ClientToken + "\",\n" +
		"  proxy: \"" + intake + "\",\n  service: \"shop-web\", env: \"production\", version: \"1.4.2\"\n})"
	return append(all, page.Displayed{Title: v.T("With the SDK of Sentry"), Text: sentry},
		page.Displayed{Title: v.T("With the SDK of Datadog"), Text: datadog})
}

// tokenForm returns the form that replaces the token of an application.
func tokenForm(v *page.Visit, a *rum.Application) page.RecordPart {
	form := &page.RecordForm{Path: applicationPath(a.ApplicationID) + "/token", May: true, SaveText: v.T("Replace the token")}
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
	return applicationPath(id) + "/edit", page.Do[rum.TokenRotated](v, "/rum/application/token/rotate", request)
}
