package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file has the nouns of few fields: templates, calendars, fields and datasources.

var configurationPages = []page{
	{path: "/configuration", template: "configuration", tab: "configuration", show: showConfiguration},
	{path: "/templates", template: "records", tab: "configuration", show: showTemplates},
	{path: "/templates/{id}", template: "record", tab: "configuration", show: editTemplate},
	{path: "/calendars", template: "records", tab: "configuration", show: showCalendars},
	{path: "/calendars/{id}", template: "record", tab: "configuration", show: editCalendar},
	{path: "/fields", template: "records", tab: "configuration", show: showFields},
	{path: "/fields/{id}", template: "record", tab: "configuration", show: editField},
	{path: "/datasources", template: "records", tab: "configuration", show: showDatasources},
	{path: "/datasources/{id}", template: "record", tab: "configuration", show: editDatasource},
}

var configurationActions = []action{
	{path: "/templates/{id}", do: saveTemplate, show: editTemplate, page: "record"},
	{path: "/templates/{id}/delete", do: deletes("/template/delete", "template_id", "/templates")},
	{path: "/calendars/{id}", do: saveCalendar, show: editCalendar, page: "record"},
	{path: "/calendars/{id}/delete", do: deletes("/calendar/delete", "cal_id", "/calendars")},
	{path: "/calendars/{id}/days", do: saveCalendarDay, show: editCalendar, page: "record"},
	{path: "/calendars/{id}/days/{event}/delete", do: deleteCalendarDay},
	{path: "/fields/{id}", do: saveField, show: editField, page: "record"},
	{path: "/fields/{id}/delete", do: deletes("/field/delete", "field_id", "/fields")},
	{path: "/datasources/{id}", do: saveDatasource, show: editDatasource, page: "record"},
	{path: "/datasources/{id}/delete", do: deleteDatasource},
}

// configurationView is the way to what is configured seldom.
type configurationView struct {
	titled
	Links []pageLink
}

func showConfiguration(v *visit) (view, error) {
	return configurationView{titled(v.T("Configuration")), []pageLink{
		{"/channels", v.T("Channels")}, {"/integrations", v.T("Integrations")}, {"/templates", v.T("Message templates")}, {"/calendars", v.T("Calendars")},
		{"/fields", v.T("Fields of incidents")}, {"/datasources", v.T("Datasources")}, {"/rum", v.T("Applications and their errors")},
	}}, nil
}

// deletes returns an action that deletes the object of the address.
func deletes(path, member, next string) func(*visit) (string, error) {
	return func(v *visit) (string, error) {
		return next, v.call(path, map[string]any{member: v.r.PathValue("id")}, nil)
	}
}

// isNew reports whether the address is the form of a new object.
func (v *visit) isNew() bool { return v.r.PathValue("id") == "new" }

// messageTypes are the kinds of messages that a template has a text for.
var messageTypes = []string{
	"email", "sms", "voice", "slack_app", "slack", "teams_app", "telegram", "feishu_app", "feishu", "dingtalk_app", "dingtalk", "wecom_app", "wecom", "zoom",
}

func showTemplates(v *visit) (view, error) {
	d := recordList{
		titled: titled(v.T("Message templates")), Search: v.query("q"), Searchable: true, pager: v.pager(),
		Intro: v.T("A template is the text of notifications. An escalation rule names the one that it uses."), None: v.T("There is no template yet. Without one, the preset is used."),
	}
	if v.May("Templates Manage (on-call)") {
		d.New, d.NewText = "/templates/new", v.T("New template")
	}
	var reply struct {
		Items []map[string]any `json:"items"`
		More  bool             `json:"has_next_page"`
	}
	err := v.call("/template/list", map[string]any{"p": d.Page, "limit": perPage, "query": d.Search}, &reply)
	d.More = reply.More
	for _, t := range reply.Items {
		row := recordRow{Path: "/templates/" + url.PathEscape(textOf(t, "template_id")), Name: textOf(t, "template_name"), About: textOf(t, "description")}
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
	d := recordForm{titled: titled(textOf(t, "template_name")), Back: "/templates", May: v.May("Templates Manage (on-call)")}
	if v.isNew() {
		d.titled = titled(v.T("New template"))
	} else {
		d.Delete = "/templates/" + url.PathEscape(v.r.PathValue("id")) + "/delete"
	}
	d.Path = v.r.URL.Path + "?type=" + kind
	for _, other := range messageTypes {
		d.Tabs = append(d.Tabs, tabLink{pageLink{v.r.URL.Path + "?type=" + other, other}, other == kind})
	}
	d.text("name", v.T("Name"), textOf(t, "template_name"), "")
	d.text("about", v.T("Description"), textOf(t, "description"), "")
	team, _ := t["team_id"].(float64)
	if err := d.teams(v, int64(team)); err != nil {
		return nil, err
	}
	d.long("content", v.T("Text for %s", kind), textOf(t, kind), v.T("Empty: the preset. Other kinds of messages have their own text; save this one before you go to another."))
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
		return "", errAgain
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

func showCalendars(v *visit) (view, error) {
	d := recordList{titled: titled(v.T("Calendars")), Intro: v.T("A calendar says which days are worked on. Silences and schedules can follow it."), None: v.T("There is no calendar yet.")}
	if v.May("Calendars Manage (on-call)") {
		d.New, d.NewText = "/calendars/new", v.T("New calendar")
	}
	all, err := v.calendars()
	for _, c := range all {
		row := recordRow{Path: "/calendars/" + url.PathEscape(c.ID), Name: c.Name, About: c.About, Tags: []string{c.Zone}}
		for _, day := range c.Workdays {
			if day >= 0 && day < 7 {
				row.Tags = append(row.Tags, v.WeekdayNames()[day])
			}
		}
		d.Rows = append(d.Rows, row)
	}
	return d, err
}

func editCalendar(v *visit) (view, error) {
	c := calendarRow{Zone: v.who.Zone.String(), Workdays: []int64{1, 2, 3, 4, 5}}
	d := recordForm{titled: titled(v.T("New calendar")), Back: "/calendars", Path: "/calendars/" + url.PathEscape(v.r.PathValue("id")), May: v.May("Calendars Manage (on-call)")}
	if !v.isNew() {
		c = calendarRow{}
		if err := v.call("/calendar/info", map[string]any{"cal_id": v.r.PathValue("id")}, &c); err != nil {
			return nil, err
		}
		d.titled, d.Delete = titled(c.Name), d.Path+"/delete"
		if err := d.days(v); err != nil {
			return nil, err
		}
	}
	d.text("name", v.T("Name"), c.Name, "")
	d.text("about", v.T("Description"), c.About, "")
	d.text("zone", v.T("Time zone"), c.Zone, v.T("Such as Europe/Berlin. Its days begin and end there."))
	if err := d.teams(v, c.TeamID); err != nil {
		return nil, err
	}
	for day, name := range v.WeekdayNames() {
		d.check("day."+strconv.Itoa(day), v.T("%s is worked on", name), slices.Contains(c.Workdays, int64(day)))
	}
	if v.r.Method == http.MethodPost && !v.r.PostForm.Has("zone") { // the form of a day was sent
		return d, nil
	}
	return d.entered(v), nil
}

// days adds the exceptions of the calendar's year, with the form of a new one.
func (d *recordForm) days(v *visit) error {
	var reply struct {
		Items []struct {
			ID      string `json:"event_id"`
			Summary string `json:"summary"`
			Start   string `json:"start_at"`
			End     string `json:"end_at"`
			Off     bool   `json:"is_off"`
		} `json:"items"`
	}
	if err := v.call("/calendar/event/list", map[string]any{"cal_id": v.r.PathValue("id"), "year": v.Now.In(v.Zone).Year()}, &reply); err != nil {
		return err
	}
	part := recordPart{Title: v.T("Exceptions this year"), None: v.T("None. Add holidays, or days that are worked on although they are not in the week above.")}
	for _, e := range reply.Items {
		row := recordRow{Name: e.Summary, About: v.T("From %s, until before %s", e.Start, e.End), Tags: []string{map[bool]string{true: v.T("day off"), false: v.T("working day")}[e.Off]}}
		if d.May {
			row.Delete = d.Path + "/days/" + url.PathEscape(e.ID) + "/delete"
		}
		part.Rows = append(part.Rows, row)
	}
	if d.May {
		form := recordForm{Path: d.Path + "/days", May: true}
		today := v.Now.In(v.Zone)
		form.text("summary", v.T("What it is called"), v.r.PostFormValue("summary"), "")
		form.Fields = append(form.Fields, formField{Name: "start", Label: v.T("First day"), Value: today.Format(time.DateOnly), Kind: "date"},
			formField{Name: "end", Label: v.T("The day after the last"), Value: today.AddDate(0, 0, 1).Format(time.DateOnly), Kind: "date"})
		form.check("off", v.T("Days off"), true)
		part.Form = &form
	}
	d.Lists = append(d.Lists, part)
	return nil
}

func saveCalendar(v *visit) (string, error) {
	days := []int64{}
	for day := range int64(7) {
		if v.field("day."+strconv.FormatInt(day, 10)) != "" {
			days = append(days, day)
		}
	}
	request := map[string]any{"cal_name": v.field("name"), "description": v.field("about"), "timezone": v.field("zone"), "team_id": formNumber(v, "team"), "workdays": days}
	if v.isNew() {
		var made struct {
			ID string `json:"cal_id"`
		}
		err := v.call("/calendar/create", request, &made)
		return "/calendars/" + url.PathEscape(made.ID), err
	}
	request["cal_id"] = v.r.PathValue("id")
	return v.r.URL.Path, v.call("/calendar/update", request, nil)
}

func saveCalendarDay(v *visit) (string, error) {
	request := map[string]any{"cal_id": v.r.PathValue("id"), "summary": v.field("summary"), "start_at": v.field("start"), "end_at": v.field("end"), "is_off": v.field("off") != ""}
	return "/calendars/" + url.PathEscape(v.r.PathValue("id")), v.call("/calendar/event/upsert", request, nil)
}

func deleteCalendarDay(v *visit) (string, error) {
	request := map[string]any{"cal_id": v.r.PathValue("id"), "event_id": v.r.PathValue("event")}
	return "/calendars/" + url.PathEscape(v.r.PathValue("id")), v.call("/calendar/event/delete", request, nil)
}

// fieldRow is what pages need of a field of incidents.
type fieldRow struct {
	ID      string   `json:"field_id"`
	Name    string   `json:"field_name"`
	Display string   `json:"display_name"`
	About   string   `json:"description"`
	Type    string   `json:"field_type"`
	Options []string `json:"options"`
}

func showFields(v *visit) (view, error) {
	d := recordList{titled: titled(v.T("Fields of incidents")), Intro: v.T("What people record about incidents besides title and severity."), None: v.T("There is no field yet.")}
	if v.May("Custom Fields Manage (on-call)") {
		d.New, d.NewText = "/fields/new", v.T("New field")
	}
	var reply struct {
		Items []fieldRow `json:"items"`
	}
	err := v.call("/field/list", struct{}{}, &reply)
	for _, f := range reply.Items {
		d.Rows = append(d.Rows, recordRow{Path: "/fields/" + url.PathEscape(f.ID), Name: f.Display, About: f.About, Tags: append([]string{f.Name, f.Type}, f.Options...)})
	}
	return d, err
}

func editField(v *visit) (view, error) {
	var f fieldRow
	d := recordForm{titled: titled(v.T("New field")), Back: "/fields", Path: v.r.URL.Path, May: v.May("Custom Fields Manage (on-call)")}
	if !v.isNew() {
		if err := v.call("/field/info", map[string]any{"field_id": v.r.PathValue("id")}, &f); err != nil {
			return nil, err
		}
		d.titled, d.Delete = titled(f.Display), d.Path+"/delete"
	}
	d.text("display", v.T("Name for people"), f.Display, "")
	if v.isNew() {
		d.text("name", v.T("Name for programs"), "", v.T("A letter, then letters, digits or _. It never changes."))
		d.choice("type", v.T("How it is filled in"), "text", []option{{"text", v.T("Text")}, {"single_select", v.T("One of several")}, {"multi_select", v.T("Any of several")}, {"checkbox", v.T("Yes or no")}}, v.T("It never changes."))
	}
	d.text("about", v.T("Description"), f.About, "")
	if v.isNew() || len(f.Options) > 0 {
		d.long("options", v.T("What can be selected"), strings.Join(f.Options, "\n"), v.T("One on each line."))
	}
	return d.entered(v), nil
}

func saveField(v *visit) (string, error) {
	request := map[string]any{"display_name": v.field("display"), "description": v.field("about")}
	if options := values(v.r.PostFormValue("options")); len(options) > 0 {
		request["options"] = options
	}
	if v.isNew() {
		request["field_name"], request["field_type"], request["value_type"] = v.field("name"), v.field("type"), "string"
		if v.field("type") == "checkbox" {
			request["value_type"] = "bool"
		}
		return "/fields", v.call("/field/create", request, nil)
	}
	request["field_id"] = v.r.PathValue("id")
	return "/fields", v.call("/field/update", request, nil)
}

// datasourceRow is what pages need of a datasource.
type datasourceRow struct {
	ID      int64  `json:"id"`
	Type    string `json:"type_ident"`
	Name    string `json:"name"`
	Note    string `json:"note"`
	Address string `json:"address"`
	Cluster string `json:"edge_cluster_name"`
	Enabled bool   `json:"enabled"`
}

// overHTTP are the types of datasources that the form can make: the others have settings of their own.
var overHTTP = []string{"prometheus", "loki", "victorialogs"}

func showDatasources(v *visit) (view, error) {
	d := recordList{titled: titled(v.T("Datasources")), Intro: v.T("Systems that rules of your monitoring are evaluated against."), None: v.T("There is no datasource yet.")}
	if v.May("Datasources Manage (monit)") {
		d.New, d.NewText = "/datasources/new", v.T("New datasource")
	}
	var all []datasourceRow
	err := v.call("/monit/datasource/list", struct{}{}, &all)
	for _, s := range all {
		row := recordRow{Path: "/datasources/" + strconv.FormatInt(s.ID, 10), Name: s.Name, About: s.Note, Tags: []string{s.Type, s.Address}}
		if !s.Enabled {
			row.Warnings = []string{v.T("Disabled")}
		}
		d.Rows = append(d.Rows, row)
	}
	return d, err
}

func editDatasource(v *visit) (view, error) {
	s := datasourceRow{Type: overHTTP[0], Cluster: "default", Enabled: true}
	d := recordForm{titled: titled(v.T("New datasource")), Back: "/datasources", Path: v.r.URL.Path, May: v.May("Datasources Manage (monit)")}
	if !v.isNew() {
		if err := v.call("/monit/datasource/info", map[string]any{"id": v.number("id")}, &s); err != nil {
			return nil, err
		}
		d.titled, d.Delete = titled(s.Name), d.Path+"/delete"
	}
	d.text("name", v.T("Name"), s.Name, "")
	if v.isNew() {
		types := []option{}
		for _, kind := range overHTTP {
			types = append(types, option{kind, kind})
		}
		d.choice("type", v.T("Kind"), s.Type, types, v.T("Databases have settings of their own; make those with the API."))
	}
	d.text("note", v.T("Description"), s.Note, "")
	d.text("address", v.T("Address"), s.Address, "")
	d.text("cluster", v.T("Edge cluster"), s.Cluster, "")
	d.check("enabled", v.T("Enabled"), s.Enabled)
	return d.entered(v), nil
}

func saveDatasource(v *visit) (string, error) {
	request := map[string]any{"name": v.field("name"), "note": v.field("note"), "address": v.field("address"), "edge_cluster_name": v.field("cluster")}
	if v.isNew() {
		kind := v.field("type")
		request["type_ident"], request["payload"] = kind, map[string]any{kind: struct{}{}}
		return "/datasources", v.call("/monit/datasource/create", request, nil)
	}
	request["id"], request["enabled"] = v.number("id"), v.field("enabled") != ""
	return "/datasources", v.call("/monit/datasource/update", request, nil)
}

func deleteDatasource(v *visit) (string, error) {
	return "/datasources", v.call("/monit/datasource/delete", map[string]any{"id": v.number("id")}, nil)
}
