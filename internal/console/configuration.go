package console

import (
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	fields "tocsin/internal/field"
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
	{path: "/templates/{id}/delete", do: deletes[api.Removal]("/template/delete", "/templates", templateToDelete),
		needs: rights{auth.TemplatesManage}},
	{path: "/calendars/{id}", do: saveCalendar, show: editCalendar, page: "record", needs: rights{auth.CalendarsManage}},
	{path: "/calendars/{id}/delete", do: deletes[api.Removal]("/calendar/delete", "/calendars", calendarToDelete),
		needs: rights{auth.CalendarsManage}},
	{path: "/calendars/{id}/days", do: saveCalendarDay, show: editCalendar, page: "record", needs: rights{auth.CalendarsManage}},
	{path: "/calendars/{id}/days/{event}/delete", do: deleteCalendarDay, needs: rights{auth.CalendarsManage}},
	{path: "/fields/{id}", do: saveField, show: editField, page: "record", needs: rights{auth.CustomFieldsManage}},
	{path: "/fields/{id}/delete", do: deletes[api.Removal]("/field/delete", "/fields", fieldToDelete), needs: rights{auth.CustomFieldsManage}},
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
func deletes[Out, In any](path, next string, object func(id string) In) func(*visit) (string, error) {
	return func(v *visit) (string, error) { return next, do[Out](v, path, object(v.r.PathValue("id"))) }
}

// isNew reports whether the address is the form of a new object.
func (v *visit) isNew() bool { return v.r.PathValue("id") == "new" }

func showFields(v *visit) (view, error) {
	d := recordList{titled: titled(v.T("Fields of incidents")),
		Intro: v.T("What people record about incidents besides title and severity."), None: v.T("There is no field yet.")}
	if v.who.May(auth.CustomFieldsManage) {
		d.New, d.NewText = "/fields/new", v.T("New field")
	}
	reply, err := call[api.Items[fields.Field]](v, "/field/list", api.Empty{})
	for _, f := range reply.Items {
		d.Rows = append(d.Rows, recordRow{Path: "/fields/" + url.PathEscape(f.FieldID), Name: f.DisplayName, About: f.Description,
			Tags: append([]string{f.FieldName, f.FieldType}, optionsOf(f)...)})
	}
	return d, err
}

func editField(v *visit) (view, error) {
	var f fields.Field
	d := recordForm{titled: titled(v.T("New field")), Back: "/fields", Path: v.r.URL.Path, May: v.who.May(auth.CustomFieldsManage)}
	if !v.isNew() {
		var err error
		f, err = call[fields.Field](v, "/field/info", fields.OneRequest{FieldID: v.r.PathValue("id")})
		if err != nil {
			return nil, err
		}
		d.titled, d.Delete = titled(f.DisplayName), d.Path+"/delete"
	}
	d.text("display", v.T("Name for people"), f.DisplayName, "")
	if v.isNew() {
		d.text("name", v.T("Name for programs"), "", v.T("A letter, then letters, digits or _. It never changes."))
		d.choice("type", v.T("How it is filled in"), "text", []option{{"text", v.T("Text")}, {"single_select", v.T("One of several")},
			{"multi_select", v.T("Any of several")}, {"checkbox", v.T("Yes or no")}}, v.T("It never changes."))
	}
	d.text("about", v.T("Description"), f.Description, "")
	if v.isNew() || len(f.Options) > 0 {
		d.long("options", v.T("What can be selected"), strings.Join(optionsOf(f), "\n"), v.T("One on each line."))
	}
	return d.entered(v), nil
}

func saveField(v *visit) (string, error) {
	var options []jsontext.Value // absent: as they are
	for _, one := range values(v.r.PostFormValue("options")) {
		text, err := jsontext.AppendQuote(nil, one)
		if err != nil {
			return "", err
		}
		options = append(options, text)
	}
	if v.isNew() {
		request := fields.CreateRequest{
			DisplayName: v.field("display"), Description: v.field("about"), Options: options,
			FieldName: v.field("name"), FieldType: v.field("type"), ValueType: "string",
		}
		if request.FieldType == "checkbox" {
			request.ValueType = "bool"
		}
		return "/fields", do[fields.Created](v, "/field/create", request)
	}
	request := fields.UpdateRequest{
		FieldID: v.r.PathValue("id"), DisplayName: new(v.field("display")), Description: new(v.field("about")), Options: options,
	}
	return "/fields", do[api.Empty](v, "/field/update", request)
}

// optionsOf returns the options of a field, which are texts.
func optionsOf(f fields.Field) []string {
	all := make([]string, len(f.Options))
	for i, o := range f.Options {
		all[i] = shown(o)
	}
	return all
}

func fieldToDelete(id string) fields.DeleteRequest { return fields.DeleteRequest{FieldID: id} }
