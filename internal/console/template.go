package console

import (
	"net/url"
	"slices"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/template"
)

// messageTypes are the kinds of messages that a template has a text for.
var messageTypes = []string{
	"email", "sms", "voice", "slack_app", "slack", "teams_app", "telegram", "feishu_app", "feishu",
	"dingtalk_app", "dingtalk", "wecom_app", "wecom", "zoom",
}

func showTemplates(v *visit) (view, error) {
	d := recordList{
		titled: titled(v.T("Message templates")), Search: v.query("q"), Searchable: true, pager: v.pager(),
		Intro: v.T("A template is the text of notifications. An escalation rule names the one that it uses."),
		None:  v.T("There is no template yet. Without one, the preset is used."),
	}
	if v.who.May(auth.TemplatesManage) {
		d.New, d.NewText = "/templates/new", v.T("New template")
	}
	request := template.ListRequest{Query: d.Search}
	request.P, request.Limit = int64(d.Page), perPage
	reply, err := call[api.CursorPage[template.Template]](v, "/template/list", request)
	d.More = reply.HasNextPage
	for _, t := range reply.Items {
		row := recordRow{Path: "/templates/" + url.PathEscape(t.TemplateID), Name: t.TemplateName, About: t.Description}
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
func (v *visit) storedTemplate() (template.Template, error) {
	if v.isNew() {
		return template.Template{}, nil
	}
	return call[template.Template](v, "/template/info", template.InfoRequest{TemplateID: v.r.PathValue("id")})
}

// messageType returns the kind of message whose text the form shows.
func (v *visit) messageType() string {
	if kind := v.query("type"); slices.Contains(messageTypes, kind) {
		return kind
	}
	return messageTypes[0]
}

func editTemplate(v *visit) (view, error) {
	t, err := v.storedTemplate()
	if err != nil {
		return nil, err
	}
	kind := v.messageType()
	d := recordForm{titled: titled(t.TemplateName), Back: "/templates", May: v.who.May(auth.TemplatesManage)}
	if v.isNew() {
		d.titled = titled(v.T("New template"))
	} else {
		d.Delete = "/templates/" + url.PathEscape(v.r.PathValue("id")) + "/delete"
	}
	d.Path = v.r.URL.Path + "?type=" + kind
	for _, other := range messageTypes {
		d.Tabs = append(d.Tabs, tabLink{pageLink{v.r.URL.Path + "?type=" + other, v.T(other)}, other == kind})
	}
	d.text("name", v.T("Name"), t.TemplateName, "")
	d.text("about", v.T("Description"), t.Description, "")
	if err := d.teams(v, t.TeamID); err != nil {
		return nil, err
	}
	d.long("content", v.T("Text for %s", v.T(kind)), t.Of(kind),
		v.T("Empty: the preset. Other kinds of messages have their own text; save this one before you go to another."))
	d.Buttons = []button{{"preview", v.T("Preview")}}
	d = d.entered(v)
	content := d.Fields[len(d.Fields)-1].Value
	if content == "" {
		return d, nil
	}
	result, err := call[template.Previewed](v, "/template/preview", template.PreviewRequest{Type: kind, Content: content})
	if err != nil {
		return nil, err
	}
	d.Shown = &displayed{v.T("Preview with a sample incident"), result.Content, result.Message}
	return d, nil
}

func saveTemplate(v *visit) (string, error) {
	if v.field("do") != "save" {
		return "", nil
	}
	t, err := v.storedTemplate()
	if err != nil {
		return "", err
	}
	body := template.Body{
		TemplateName: v.field("name"), Description: v.field("about"), TeamID: formNumber(v, "team"), Texts: t.Texts,
	}
	body.Set(v.messageType(), strings.ReplaceAll(v.r.PostFormValue("content"), "\r\n", "\n"))
	if v.isNew() {
		made, err := call[template.Created](v, "/template/create", body)
		return "/templates/" + made.TemplateID + "?type=" + v.messageType(), err
	}
	request := template.UpdateRequest{TemplateID: v.r.PathValue("id"), Body: body}
	return v.r.URL.RequestURI(), do[api.Warnings](v, "/template/update", request)
}

func templateToDelete(id string) template.DeleteRequest {
	return template.DeleteRequest{TemplateID: id}
}
