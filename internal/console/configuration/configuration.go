package configuration

import (
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	fields "tocsin/internal/field"
)

var configurationPages = []page.Page{
	{Path: "/setup", Template: "setup", Tab: "setup", Show: showSetUp},
	{Path: "/calendars", Template: "records", Tab: "account", Show: showCalendars},
	{Path: "/calendars/{id}", Template: "record", Tab: "account", Show: editCalendar},
	{Path: "/fields", Template: "records", Tab: "account", Show: showFields},
	{Path: "/fields/{id}", Template: "record", Tab: "account", Show: editField},
}

var configurationActions = []page.Action{
	{Path: "/calendars/{id}", Do: saveCalendar, Show: editCalendar, Template: "record", Needs: page.Rights{auth.CalendarsManage}},
	{Path: "/calendars/{id}/delete", Do: page.Does[api.Removal]("/calendar/delete", "/calendars", calendarToDelete),
		Needs: page.Rights{auth.CalendarsManage}},
	{Path: "/calendars/{id}/days", Do: saveCalendarDay, Show: editCalendar, Template: "record", Needs: page.Rights{auth.CalendarsManage}},
	{Path: "/calendars/{id}/days/{event}/delete", Do: deleteCalendarDay, Needs: page.Rights{auth.CalendarsManage}},
	{Path: "/fields/{id}", Do: saveField, Show: editField, Template: "record", Needs: page.Rights{auth.CustomFieldsManage}},
	{Path: "/fields/{id}/delete", Do: page.Does[api.Removal]("/field/delete", "/fields", fieldToDelete),
		Needs: page.Rights{auth.CustomFieldsManage}},
}

func showSetUp(v *page.Visit) (page.View, error) { return page.Titled(v.T("Set up")), nil }

func showFields(v *page.Visit) (page.View, error) {
	d := page.RecordList{Titled: page.Titled(v.T("Custom fields")),
		Intro: v.T("Custom fields of incidents."), None: v.T("There is no field yet.")}
	if v.Who.May(auth.CustomFieldsManage) {
		d.New, d.NewText = "/fields/new", v.T("New field")
	}
	reply, err := page.Call[api.Items[fields.Field]](v, "/field/list", api.Empty{})
	for _, f := range reply.Items {
		d.Rows = append(d.Rows, page.RecordRow{Path: "/fields/" + url.PathEscape(f.FieldID), Name: f.DisplayName, About: f.Description,
			Tags: append([]string{f.FieldName, textOf(v, f.FieldType)}, optionsOf(f)...)})
	}
	return d, err
}

// fieldTypes returns how a field may be filled in.
func fieldTypes(v *page.Visit) []page.Option {
	return []page.Option{
		{Value: "text", Text: v.T("Text")}, {Value: "single_select", Text: v.T("One of several")},
		{Value: "multi_select", Text: v.T("Any of several")}, {Value: "checkbox", Text: v.T("Yes or no")},
	}
}

// textOf names a type of fields.
func textOf(v *page.Visit, kind string) string {
	for _, o := range fieldTypes(v) {
		if o.Value == kind {
			return o.Text
		}
	}
	return kind
}

func editField(v *page.Visit) (page.View, error) {
	var f fields.Field
	d := page.RecordForm{Titled: page.Titled(v.T("New field")), Back: "/fields", Path: v.Request.URL.Path,
		May: v.Who.May(auth.CustomFieldsManage)}
	if !v.IsNew() {
		var err error
		f, err = page.Call[fields.Field](v, "/field/info", fields.OneRequest{FieldID: v.Request.PathValue("id")})
		if err != nil {
			return nil, err
		}
		d.Titled, d.Delete = page.Titled(f.DisplayName), d.Path+"/delete"
	}
	d.Text("display", v.T("Field label"), f.DisplayName, "")
	if v.IsNew() {
		d.Text("name", v.T("Field key"), "", v.T("A letter, then letters, digits or _. It never changes."))
		d.Choice("type", v.T("How it is filled in"), "text",
			fieldTypes(v), v.T("It never changes."))
	}
	d.Text("about", v.T("Description"), f.Description, "")
	if v.IsNew() || len(f.Options) > 0 {
		d.Long("options", v.T("What can be selected"), strings.Join(optionsOf(f), "\n"), v.T("One on each line."))
	}
	d.Text("default", v.T("What a new incident has"), page.Shown(f.DefaultValue),
		v.T("One of the options; of several, with commas; yes or no. Empty: nothing, or what it has now."))
	return d.Entered(v), nil
}

// defaultOf returns the value of a new incident that was entered, as the type of the field wants it; absent without one.
func defaultOf(v *page.Visit, kind, entered string) (jsontext.Value, error) {
	if entered == "" {
		return nil, nil
	}
	var value any = entered
	switch kind {
	case "multi_select":
		value = page.Commas(entered)
	case "checkbox":
		words := []string{"no", "yes", "false", "true", v.T("no"), v.T("yes")}
		if at := slices.Index(words, strings.ToLower(entered)); at >= 0 {
			value = at%2 == 1
		}
	}
	return json.Marshal(value)
}

func saveField(v *page.Visit) (string, error) {
	var options []jsontext.Value // absent: as they are
	for _, one := range page.Values(v.Request.PostFormValue("options")) {
		text, err := jsontext.AppendQuote(nil, one)
		if err != nil {
			return "", err
		}
		options = append(options, text)
	}
	if v.IsNew() {
		initial, err := defaultOf(v, v.Field("type"), v.Field("default"))
		if err != nil {
			return "", err
		}
		request := fields.CreateRequest{
			DefaultValue: initial,
			DisplayName:  v.Field("display"), Description: v.Field("about"), Options: options,
			FieldName: v.Field("name"), FieldType: v.Field("type"), ValueType: "string",
		}
		if request.FieldType == "checkbox" {
			request.ValueType = "bool"
		}
		return "/fields", page.Do[fields.Created](v, "/field/create", request)
	}
	present, err := page.Call[fields.Field](v, "/field/info", fields.OneRequest{FieldID: v.Request.PathValue("id")})
	if err != nil {
		return "", err
	}
	initial, err := defaultOf(v, present.FieldType, v.Field("default"))
	if err != nil {
		return "", err
	}
	request := fields.UpdateRequest{
		FieldID: v.Request.PathValue("id"), DisplayName: new(v.Field("display")), Description: new(v.Field("about")), Options: options,
		DefaultValue: initial,
	}
	return "/fields", page.Do[api.Empty](v, "/field/update", request)
}

// optionsOf returns the options of a field, which are texts.
func optionsOf(f fields.Field) []string {
	all := make([]string, len(f.Options))
	for i, o := range f.Options {
		all[i] = page.Shown(o)
	}
	return all
}

func fieldToDelete(v *page.Visit) fields.DeleteRequest {
	return fields.DeleteRequest{FieldID: v.Request.PathValue("id")}
}
