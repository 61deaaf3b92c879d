package console

import (
	"net/url"
	"slices"
	"strings"

	"tocsin/internal/auth"
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
	var reply struct {
		Items []map[string]any `json:"items"`
		More  bool             `json:"has_next_page"`
	}
	err := v.call("/template/list", map[string]any{"p": d.Page, "limit": perPage, "query": d.Search}, &reply)
	d.More = reply.More
	for _, t := range reply.Items {
		row := recordRow{Path: "/templates/" + url.PathEscape(textOf(t, "template_id")), Name: textOf(t, "template_name"), About: textOf(t,
			"description")}
		for _, kind := range messageTypes {
			if textOf(t, kind) != "" {
				row.Tags = append(row.Tags, kind)
			}
		}
		d.Rows = append(d.Rows, row)
	}
	return d, err
}

// textOf returns a text of an object.
func textOf(of map[string]any, name string) string {
	text, _ := of[name].(string)
	return text
}

// storedTemplate returns the template of the address; an empty one for a new one.
func (v *visit) storedTemplate() (t map[string]any, err error) {
	if v.isNew() {
		return map[string]any{}, nil
	}
	err = v.call("/template/info", map[string]any{"template_id": v.r.PathValue("id")}, &t)
	return t, err
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
	d := recordForm{titled: titled(textOf(t, "template_name")), Back: "/templates", May: v.who.May(auth.TemplatesManage)}
	if v.isNew() {
		d.titled = titled(v.T("New template"))
	} else {
		d.Delete = "/templates/" + url.PathEscape(v.r.PathValue("id")) + "/delete"
	}
	d.Path = v.r.URL.Path + "?type=" + kind
	for _, other := range messageTypes {
		d.Tabs = append(d.Tabs, tabLink{pageLink{v.r.URL.Path + "?type=" + other, v.T(other)}, other == kind})
	}
	d.text("name", v.T("Name"), textOf(t, "template_name"), "")
	d.text("about", v.T("Description"), textOf(t, "description"), "")
	team, _ := t["team_id"].(float64)
	if err := d.teams(v, int64(team)); err != nil {
		return nil, err
	}
	d.long("content", v.T("Text for %s", v.T(kind)), textOf(t, kind),
		v.T("Empty: the preset. Other kinds of messages have their own text; save this one before you go to another."))
	d.Buttons = []button{{"preview", v.T("Preview")}}
	d = d.entered(v)
	content := d.Fields[len(d.Fields)-1].Value
	if content == "" {
		return d, nil
	}
	var result struct {
		Content string `json:"content"`
		Success bool   `json:"success"`
		Message string `json:"message"`
	}
	if err := v.call("/template/preview", map[string]any{"type": kind, "content": content}, &result); err != nil {
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
	request := map[string]any{"template_name": v.field("name"), "description": v.field("about"), "team_id": formNumber(v, "team")}
	for _, kind := range messageTypes {
		request[kind] = textOf(t, kind)
	}
	request[v.messageType()] = strings.ReplaceAll(v.r.PostFormValue("content"), "\r\n", "\n")
	if v.isNew() {
		var made struct {
			ID string `json:"template_id"`
		}
		err := v.call("/template/create", request, &made)
		return "/templates/" + made.ID + "?type=" + v.messageType(), err
	}
	request["template_id"] = v.r.PathValue("id")
	return v.r.URL.RequestURI(), v.call("/template/update", request, nil)
}
