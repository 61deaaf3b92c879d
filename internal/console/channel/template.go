package channel

import (
	"net/url"
	"slices"

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

var templateForm = page.Form{Operations: []string{"/template/create", "/template/update"}, Members: []page.Member{
	{Path: "template_name", Label: "Name"},
	{Path: "description", Label: "Description"},
	{Path: "team_id", Label: "Team", Kind: page.Teams},
}}

// textForm has a text for each kind of message. A page shows one of them.
var textForm = page.Form{Operations: []string{"/template/create", "/template/update"}, Members: []page.Member{
	{Path: "email", Label: "E-mail", Kind: page.Long},
	{Path: "sms", Label: "Text message", Kind: page.Long},
	{Path: "voice", Label: "Call", Kind: page.Long},
	{Path: "slack_app", Label: "Slack app", Kind: page.Long},
	{Path: "slack", Label: "Slack webhook", Kind: page.Long},
	{Path: "teams_app", Label: "Microsoft Teams", Kind: page.Long},
	{Path: "telegram", Label: "Telegram", Kind: page.Long},
	{Path: "feishu_app", Label: "Feishu app", Kind: page.Long},
	{Path: "feishu", Label: "Feishu robot", Kind: page.Long},
	{Path: "dingtalk_app", Label: "DingTalk app", Kind: page.Long},
	{Path: "dingtalk", Label: "DingTalk robot", Kind: page.Long},
	{Path: "wecom_app", Label: "WeCom app", Kind: page.Long},
	{Path: "wecom", Label: "WeCom robot", Kind: page.Long},
	{Path: "zoom", Label: "Zoom", Kind: page.Long},
}}

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
		for _, m := range textForm.Members {
			if t.Of(m.Path) != "" {
				row.Tags = append(row.Tags, v.T(m.Label))
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
func messageType(v *page.Visit) page.Member {
	at := slices.IndexFunc(textForm.Members, func(m page.Member) bool { return m.Path == v.Query("type") })
	shown := textForm.Members[max(at, 0)]
	shown.Hint = "Empty uses the default. Save before switching."
	return shown
}

// formsOfTemplate returns the forms of the page: what every template has, and one of its texts.
func formsOfTemplate(v *page.Visit) []page.Form {
	text := textForm
	text.Members = []page.Member{messageType(v)}
	return []page.Form{templateForm, text}
}

func editTemplate(v *page.Visit) (page.View, error) {
	t, err := storedTemplate(v)
	if err != nil {
		return nil, err
	}
	kind := messageType(v).Path
	d := page.RecordForm{Titled: page.Titled(t.TemplateName), Back: "/templates", May: v.Who.May(auth.TemplatesManage)}
	if v.IsNew() {
		d.Titled = page.Titled(v.T("New template"))
	} else {
		d.Delete = "/templates/" + url.PathEscape(v.Request.PathValue("id")) + "/delete"
	}
	d.Path = v.Request.URL.Path + "?type=" + kind
	for _, other := range textForm.Members {
		link := page.Link{Path: v.Request.URL.Path + "?type=" + other.Path, Text: v.T(other.Label)}
		d.Tabs = append(d.Tabs, page.TabLink{Link: link, Here: other.Path == kind})
	}
	for _, form := range formsOfTemplate(v) {
		if err := form.Draw(v, &d, t); err != nil {
			return nil, err
		}
	}
	d.Buttons = []page.Button{{Do: "preview", Text: v.T("Preview")}}
	content := d.Fields[len(d.Fields)-1].Value
	if content == "" {
		return &d, nil
	}
	result, err := page.Call[template.Previewed](v, "/template/preview", template.PreviewRequest{Type: kind, Content: content})
	if err != nil {
		return nil, err
	}
	d.Shown = &page.Displayed{Title: v.T("Preview with a sample incident"), Text: result.Content, Failure: result.Message}
	return &d, nil
}

func saveTemplate(v *page.Visit) (string, error) {
	if v.Field("do") != "save" {
		return "", nil
	}
	t, err := storedTemplate(v)
	if err != nil {
		return "", err
	}
	request := template.UpdateRequest{TemplateID: v.Request.PathValue("id"), Body: template.Body{Texts: t.Texts}}
	for _, form := range formsOfTemplate(v) {
		if err := form.Read(v, &request); err != nil {
			return "", err
		}
	}
	if v.IsNew() {
		made, err := page.Call[template.Created](v, "/template/create", request.Body)
		return "/templates/" + made.TemplateID + "?type=" + messageType(v).Path, err
	}
	return v.Request.URL.RequestURI(), page.Do[api.Warnings](v, "/template/update", request)
}

func templateToDelete(v *page.Visit) template.DeleteRequest {
	return template.DeleteRequest{TemplateID: v.Request.PathValue("id")}
}
