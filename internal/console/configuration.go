package console

import (
	"net/url"
	"strconv"
	"strings"

	"tocsin/internal/auth"
	"tocsin/internal/engine/monitor"
)

// This file has the pages of all nouns of few fields, and those of fields and datasources.

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
	d := recordList{titled: titled(v.T("Datasources")), Intro: v.T("Systems that rules of your monitoring are evaluated against."),
		None: v.T("There is no datasource yet.")}
	if v.who.May(auth.DatasourcesManage) {
		d.New, d.NewText = "/datasources/new", v.T("New datasource")
	}
	var all []datasourceRow
	if err := v.call("/monit/datasource/list", struct{}{}, &all); err != nil {
		return nil, err
	}
	states, err := v.datasourceStates()
	for _, s := range all {
		state := states[uint64(s.ID)]
		row := recordRow{
			Path: "/datasources/" + strconv.FormatInt(s.ID, 10), Name: s.Name, Tags: []string{s.Type, s.Cluster},
			About: strings.TrimSpace(s.Note + " " + v.datasourceWords(state)),
		}
		if s.Address != "" {
			row.Tags = append(row.Tags, s.Address)
		}
		switch {
		case !s.Enabled:
			row.Warnings = []string{v.T("Disabled")}
		case state.State == monitor.SourceLost:
			row.Warnings = []string{v.T("Does not answer")}
		}
		d.Rows = append(d.Rows, row)
	}
	return d, err
}

func editDatasource(v *visit) (view, error) {
	s := datasourceRow{Type: overHTTP[0], Cluster: "default", Enabled: true}
	d := recordForm{titled: titled(v.T("New datasource")), Back: "/datasources", Path: v.r.URL.Path, May: v.who.May(auth.DatasourcesManage)}
	if !v.isNew() {
		if err := v.call("/monit/datasource/info", map[string]any{"id": v.number()}, &s); err != nil {
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
	d = d.entered(v)
	if v.isNew() {
		return d, nil
	}
	d.Buttons = []button{{"test", v.T("Test connection")}}
	if v.field("do") == "test" {
		shown, err := testDatasource(v)
		d.Shown = shown
		return d, err
	}
	states, err := v.datasourceStates()
	d.Shown = &displayed{Title: v.T("How it answers"), Text: v.datasourceWords(states[uint64(s.ID)])}
	return d, err
}

func saveDatasource(v *visit) (string, error) {
	if v.field("do") == "test" {
		return "", nil
	}
	request := map[string]any{"name": v.field("name"), "note": v.field("note"), "address": v.field("address"),
		"edge_cluster_name": v.field("cluster")}
	if v.isNew() {
		kind := v.field("type")
		request["type_ident"], request["payload"] = kind, map[string]any{kind: struct{}{}}
		return "/datasources", v.call("/monit/datasource/create", request, nil)
	}
	request["id"], request["enabled"] = v.number(), v.field("enabled") != ""
	return "/datasources", v.call("/monit/datasource/update", request, nil)
}

func deleteDatasource(v *visit) (string, error) {
	return "/datasources", v.call("/monit/datasource/delete", map[string]any{"id": v.number()}, nil)
}
