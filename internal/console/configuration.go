package console

import (
	"net/url"
	"strings"

	"tocsin/internal/auth"
)

// This file has the pages of all nouns of few fields, and those of fields.

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
	{path: "/templates/{id}", do: saveTemplate, show: editTemplate, page: "record", needs: rights{auth.TemplatesManage}},
	{path: "/templates/{id}/delete", do: deletes("/template/delete", "template_id", "/templates"), needs: rights{auth.TemplatesManage}},
	{path: "/calendars/{id}", do: saveCalendar, show: editCalendar, page: "record", needs: rights{auth.CalendarsManage}},
	{path: "/calendars/{id}/delete", do: deletes("/calendar/delete", "cal_id", "/calendars"), needs: rights{auth.CalendarsManage}},
	{path: "/calendars/{id}/days", do: saveCalendarDay, show: editCalendar, page: "record", needs: rights{auth.CalendarsManage}},
	{path: "/calendars/{id}/days/{event}/delete", do: deleteCalendarDay, needs: rights{auth.CalendarsManage}},
	{path: "/fields/{id}", do: saveField, show: editField, page: "record", needs: rights{auth.CustomFieldsManage}},
	{path: "/fields/{id}/delete", do: deletes("/field/delete", "field_id", "/fields"), needs: rights{auth.CustomFieldsManage}},
	{path: "/datasources/{id}", do: saveDatasource, show: editDatasource, page: "record", needs: rights{auth.DatasourcesManage}},
	{path: "/datasources/{id}/delete", do: deleteDatasource, needs: rights{auth.DatasourcesManage}},
}

// configurationView is the way to what is configured seldom.
type configurationView struct {
	titled
	Links []pageLink
}

func showConfiguration(v *visit) (view, error) {
	d := configurationView{titled: titled(v.T("Configuration"))}
	for _, l := range []struct {
		path, text string
		needs      rights
	}{
		{"/channels", "Channels", nil}, {"/integrations", "Integrations", rights{auth.IntegrationsRead}},
		{"/templates", "Message templates", rights{auth.TemplatesRead}}, {"/calendars", "Calendars", nil},
		{"/fields", "Fields of incidents", nil},
		{"/datasources", "Datasources", rights{auth.DatasourcesRead}}, {"/edges", "Edges", rights{auth.AlertingEnginesRead}},
		{"/rum", "Applications and their errors", nil},
	} {
		if v.who.MayAny(l.needs) {
			d.Links = append(d.Links, pageLink{l.path, v.T(l.text)})
		}
	}
	if v.ReadsLint() {
		d.Links = append(d.Links, pageLink{"/lint", v.T("What is wrong with the configuration")})
	}
	if v.who.MayAny(readHealth) {
		d.Links = append(d.Links, pageLink{"/health/server", v.T("How the server is")})
	}
	if v.ReadsUntold() {
		d.Links = append(d.Links, pageLink{"/untold", v.T("What reached no one")})
	}
	return d, nil
}

// deletes returns an action that deletes the object of the address.
func deletes(path, member, next string) func(*visit) (string, error) {
	return func(v *visit) (string, error) {
		return next, v.call(path, map[string]any{member: v.r.PathValue("id")}, nil)
	}
}

// isNew reports whether the address is the form of a new object.
func (v *visit) isNew() bool { return v.r.PathValue("id") == "new" }

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
	d := recordList{titled: titled(v.T("Fields of incidents")),
		Intro: v.T("What people record about incidents besides title and severity."), None: v.T("There is no field yet.")}
	if v.who.May(auth.CustomFieldsManage) {
		d.New, d.NewText = "/fields/new", v.T("New field")
	}
	var reply struct {
		Items []fieldRow `json:"items"`
	}
	err := v.call("/field/list", struct{}{}, &reply)
	for _, f := range reply.Items {
		d.Rows = append(d.Rows, recordRow{Path: "/fields/" + url.PathEscape(f.ID), Name: f.Display, About: f.About,
			Tags: append([]string{f.Name, f.Type}, f.Options...)})
	}
	return d, err
}

func editField(v *visit) (view, error) {
	var f fieldRow
	d := recordForm{titled: titled(v.T("New field")), Back: "/fields", Path: v.r.URL.Path, May: v.who.May(auth.CustomFieldsManage)}
	if !v.isNew() {
		if err := v.call("/field/info", map[string]any{"field_id": v.r.PathValue("id")}, &f); err != nil {
			return nil, err
		}
		d.titled, d.Delete = titled(f.Display), d.Path+"/delete"
	}
	d.text("display", v.T("Name for people"), f.Display, "")
	if v.isNew() {
		d.text("name", v.T("Name for programs"), "", v.T("A letter, then letters, digits or _. It never changes."))
		d.choice("type", v.T("How it is filled in"), "text", []option{{"text", v.T("Text")}, {"single_select", v.T("One of several")},
			{"multi_select", v.T("Any of several")}, {"checkbox", v.T("Yes or no")}}, v.T("It never changes."))
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
		request["field_name"] = v.field("name")
		request["field_type"] = v.field("type")
		request["value_type"] = "string"
		if v.field("type") == "checkbox" {
			request["value_type"] = "bool"
		}
		return "/fields", v.call("/field/create", request, nil)
	}
	request["field_id"] = v.r.PathValue("id")
	return "/fields", v.call("/field/update", request, nil)
}
