package channel

import (
	"net/url"
	"slices"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/template"
)

var templatePages = []page.Page{
	{Path: "/templates", Template: "records", Tab: "messages", Show: showTemplates},
	{Path: "/templates/{id}", Template: "record", Tab: "messages", Show: editTemplate},
}

var templateActions = []page.Action{
	{Path: "/templates/{id}", Do: saveTemplate, Show: editTemplate, Template: "record", Needs: page.Rights{auth.TemplatesManage}},
	{Path: "/templates/{id}/delete", Do: page.Does[api.Removal]("/template/delete", "/templates", templateToDelete),
		Needs: page.Rights{auth.TemplatesManage}},
}

// messageTypes are the kinds of messages that a template has a text for.
var messageTypes = []string{
	"email", "sms", "voice", "slack_app", "slack", "teams_app", "telegram", "feishu_app", "feishu",
	"dingtalk_app", "dingtalk", "wecom_app", "wecom", "zoom",
}

func showTemplates(v *page.Visit) (page.View, error) {
	d := page.RecordList{
		Titled: page.Titled(v.T("Message templates")), Search: v.Query("q"), Searchable: true, Pager: v.Pager(),
		Intro: v.T("A template is the text of notifications. An escalation rule names the one that it uses."),
		None:  v.T("There is no template yet. Without one, the preset is used."),
	}
	if v.Who.May(auth.TemplatesManage) {
		d.New, d.NewText = "/templates/new", v.T("New template")
	}
	request := template.ListRequest{Query: d.Search}
	request.P, request.Limit = int64(d.Page), page.PageSize
	reply, err := page.Call[api.CursorPage[template.Template]](v, "/template/list", request)
	d.More = reply.HasNextPage
	for _, t := range reply.Items {
		row := page.RecordRow{Path: "/templates/" + url.PathEscape(t.TemplateID), Name: t.TemplateName, About: t.Description}
		for _, kind := range messageTypes {
			if t.Of(kind) != "" {
				row.Tags = append(row.Tags, kind)
			}
		}
		d.Rows = append(d.Rows, row)
	}
	return d, err
}

// storedTemplate returns the template of the address; an empty one for a new one.
func storedTemplate(v *page.Visit) (template.Template, error) {
	if v.IsNew() {
		return template.Template{}, nil
	}
	return page.Call[template.Template](v, "/template/info", template.InfoRequest{TemplateID: v.Request.PathValue("id")})
}

// messageType returns the kind of message whose text the form shows.
func messageType(v *page.Visit) string {
	if kind := v.Query("type"); slices.Contains(messageTypes, kind) {
		return kind
	}
	return messageTypes[0]
}

func editTemplate(v *page.Visit) (page.View, error) {
	t, err := storedTemplate(v)
	if err != nil {
		return nil, err
	}
	kind := messageType(v)
	d := page.RecordForm{Titled: page.Titled(t.TemplateName), Back: "/templates", May: v.Who.May(auth.TemplatesManage)}
	if v.IsNew() {
		d.Titled = page.Titled(v.T("New template"))
	} else {
		d.Delete = "/templates/" + url.PathEscape(v.Request.PathValue("id")) + "/delete"
	}
	d.Path = v.Request.URL.Path + "?type=" + kind
	for _, other := range messageTypes {
		d.Tabs = append(d.Tabs, page.TabLink{Link: page.Link{Path: v.Request.URL.Path + "?type=" + other, Text: v.T(other)}, Here: other == kind})
	}
	d.Text("name", v.T("Name"), t.TemplateName, "")
	d.Text("about", v.T("Description"), t.Description, "")
	if err := d.Teams(v, t.TeamID); err != nil {
		return nil, err
	}
	d.Long("content", v.T("Text for %s", v.T(kind)), t.Of(kind),
		v.T("Empty uses the default. Save before switching."))
	d.Buttons = []page.Button{{Do: "preview", Text: v.T("Preview")}}
	d = d.Entered(v)
	content := d.Fields[len(d.Fields)-1].Value
	if content == "" {
		return d, nil
	}
	result, err := page.Call[template.Previewed](v, "/template/preview", template.PreviewRequest{Type: kind, Content: content})
	if err != nil {
		return nil, err
	}
	d.Shown = &page.Displayed{Title: v.T("Preview with a sample incident"), Text: result.Content, Failure: result.Message}
	return d, nil
}

func saveTemplate(v *page.Visit) (string, error) {
	if v.Field("do") != "save" {
		return "", nil
	}
	t, err := storedTemplate(v)
	if err != nil {
		return "", err
	}
	body := template.Body{
		TemplateName: v.Field("name"), Description: v.Field("about"), TeamID: v.Number("team"), Texts: t.Texts,
	}
	body.Set(messageType(v), strings.ReplaceAll(v.Request.PostFormValue("content"), "\r\n", "\n"))
	if v.IsNew() {
		made, err := page.Call[template.Created](v, "/template/create", body)
		return "/templates/" + made.TemplateID + "?type=" + messageType(v), err
	}
	request := template.UpdateRequest{TemplateID: v.Request.PathValue("id"), Body: body}
	return v.Request.URL.RequestURI(), page.Do[api.Warnings](v, "/template/update", request)
}

func templateToDelete(v *page.Visit) template.DeleteRequest {
	return template.DeleteRequest{TemplateID: v.Request.PathValue("id")}
}
