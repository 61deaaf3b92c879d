package configuration

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/calendar"
	"tocsin/internal/console/page"
)

func showCalendars(v *page.Visit) (page.View, error) {
	d := page.RecordList{Titled: page.Titled(v.T("Calendars")),
		Intro: v.T("A calendar says which days are worked on. Silences and schedules can follow it."), None: v.T("There is no calendar yet.")}
	if v.Who.May(auth.CalendarsManage) {
		d.New, d.NewText = "/calendars/new", v.T("New calendar")
	}
	all, err := v.Calendars()
	for _, c := range all {
		row := page.RecordRow{Path: "/calendars/" + url.PathEscape(c.CalID), Name: c.CalName, About: c.Description, Tags: []string{c.TimeZone}}
		for _, day := range c.Workdays {
			if day >= 0 && day < 7 {
				row.Tags = append(row.Tags, v.WeekdayNames()[day])
			}
		}
		d.Rows = append(d.Rows, row)
	}
	return d, err
}

func editCalendar(v *page.Visit) (page.View, error) {
	c := calendar.Calendar{TimeZone: v.Who.Zone.String(), Workdays: []int64{1, 2, 3, 4, 5}}
	d := page.RecordForm{Titled: page.Titled(v.T("New calendar")), Back: "/calendars",
		Path: "/calendars/" + url.PathEscape(v.Request.PathValue("id")),
		May:  v.Who.May(auth.CalendarsManage)}
	if !v.IsNew() {
		var err error
		c, err = page.Call[calendar.Calendar](v, "/calendar/info", calendar.InfoRequest{CalID: v.Request.PathValue("id")})
		if err != nil {
			return nil, err
		}
		d.Titled, d.Delete = page.Titled(c.CalName), d.Path+"/delete"
		if err := days(&d, v); err != nil {
			return nil, err
		}
	}
	d.Text("name", v.T("Name"), c.CalName, "")
	d.Text("about", v.T("Description"), c.Description, "")
	d.Text("zone", v.T("Time zone"), c.TimeZone, v.T("Such as Europe/Berlin. Its days begin and end there."))
	if err := d.Teams(v, c.TeamID); err != nil {
		return nil, err
	}
	for day, name := range v.WeekdayNames() {
		d.Check("day."+strconv.Itoa(day), v.T("%s is worked on", name), slices.Contains(c.Workdays, int64(day)))
	}
	if err := otherCalendars(v, &d, c); err != nil {
		return nil, err
	}
	if v.Request.Method == http.MethodPost && !v.Request.PostForm.Has("zone") { // the form of a day was sent
		return d, nil
	}
	return d.Entered(v), nil
}

// otherCalendars adds the choice of the calendars whose days count in this one too.
func otherCalendars(v *page.Visit, d *page.RecordForm, c calendar.Calendar) error {
	all, err := v.Calendars()
	for _, other := range all {
		if other.CalID != c.CalID {
			d.More = append(d.More, page.FormField{Name: "extra." + other.CalID, Label: v.T("The days of %s count here too", other.CalName),
				Value: map[bool]string{true: "1"}[slices.Contains(c.ExtraCalIDs, other.CalID)], Kind: "check"})
		}
	}
	return err
}

// chosenCalendars returns the calendars that were chosen, and those of before that the visitor cannot choose.
func chosenCalendars(v *page.Visit) ([]string, error) {
	chosen := []string{}
	all, err := v.Calendars()
	for _, other := range all {
		if v.Field("extra."+other.CalID) != "" {
			chosen = append(chosen, other.CalID)
		}
	}
	return chosen, err
}

// days adds the exceptions of the calendar's year, with the form of a new one.
func days(d *page.RecordForm, v *page.Visit) error {
	request := calendar.EventListRequest{CalID: v.Request.PathValue("id"), Year: v.Now.In(v.Zone).Year()}
	reply, err := page.Call[calendar.Listed[calendar.Event]](v, "/calendar/event/list", request)
	if err != nil {
		return err
	}
	part := page.RecordPart{Title: v.T("Exceptions this year"),
		None: v.T("None. Add holidays, or days that are worked on although they are not in the week above.")}
	for _, e := range reply.Items {
		row := page.RecordRow{Name: e.Summary, About: v.T("From %s, until before %s", e.StartAt, e.EndAt) + about(e.Description),
			Tags: []string{map[bool]string{true: v.T("day off"), false: v.T("working day")}[e.IsOff]}}
		if d.May {
			row.Path = d.Path + "?day=" + url.QueryEscape(e.EventID)
			row.Delete = d.Path + "/days/" + url.PathEscape(e.EventID) + "/delete"
		}
		part.Rows = append(part.Rows, row)
	}
	if d.May {
		form := dayForm(v, reply.Items)
		form.Path = d.Path + "/days"
		part.Form = &form
	}
	d.Lists = append(d.Lists, part)
	return nil
}

// about returns a description after a point; empty without one.
func about(description string) string {
	if description == "" {
		return ""
	}
	return " · " + description
}

// dayForm returns the form of an exception: of the one that the address names, or of a new one.
func dayForm(v *page.Visit, all []calendar.Event) page.RecordForm {
	today := v.Now.In(v.Zone)
	e := calendar.Event{StartAt: today.Format(time.DateOnly), EndAt: today.AddDate(0, 0, 1).Format(time.DateOnly), IsOff: true}
	if at := slices.IndexFunc(all, func(one calendar.Event) bool { return one.EventID == v.Query("day") }); at >= 0 {
		e = all[at]
	}
	form := page.RecordForm{May: true}
	form.Text("summary", v.T("What it is called"), e.Summary, "")
	form.Fields = append(form.Fields, page.FormField{Name: "event", Value: e.EventID, Kind: "hidden"},
		page.FormField{Name: "start", Label: v.T("First day"), Value: e.StartAt, Kind: "date"},
		page.FormField{Name: "end", Label: v.T("The day after the last"), Value: e.EndAt, Kind: "date"})
	form.Check("off", v.T("Days off"), e.IsOff)
	form.Text("description", v.T("Description"), e.Description, "")
	if v.Request.PostForm.Has("summary") {
		return form.Entered(v)
	}
	return form
}

func saveCalendar(v *page.Visit) (string, error) {
	days := []int64{}
	for day := range int64(7) {
		if v.Field("day."+strconv.FormatInt(day, 10)) != "" {
			days = append(days, day)
		}
	}
	extra, err := chosenCalendars(v)
	if err != nil {
		return "", err
	}
	body := calendar.Body{
		ExtraCalIDs: extra, Description: new(v.Field("about")), TimeZone: new(v.Field("zone")), TeamID: new(v.Number("team")), Workdays: days,
	}
	if v.IsNew() {
		made, err := page.Call[calendar.Created](v, "/calendar/create", calendar.CreateRequest{CalName: v.Field("name"), Body: body})
		return "/calendars/" + url.PathEscape(made.CalID), err
	}
	request := calendar.UpdateRequest{CalID: v.Request.PathValue("id"), CalName: new(v.Field("name")), Body: body}
	return v.Request.URL.Path, page.Do[api.Empty](v, "/calendar/update", request)
}

func saveCalendarDay(v *page.Visit) (string, error) {
	request := calendar.EventUpsertRequest{
		CalID: v.Request.PathValue("id"), EventID: v.Field("event"), Summary: v.Field("summary"), Description: v.Field("description"),
		StartAt: v.Field("start"), EndAt: v.Field("end"),
		IsOff: v.Field("off") != "",
	}
	return "/calendars/" + url.PathEscape(v.Request.PathValue("id")), page.Do[calendar.Upserted](v, "/calendar/event/upsert", request)
}

func deleteCalendarDay(v *page.Visit) (string, error) {
	request := calendar.EventDeleteRequest{CalID: v.Request.PathValue("id"), EventID: v.Request.PathValue("event")}
	return "/calendars/" + url.PathEscape(v.Request.PathValue("id")), page.Do[api.Removal](v, "/calendar/event/delete", request)
}

func calendarToDelete(v *page.Visit) calendar.DeleteRequest {
	return calendar.DeleteRequest{CalID: v.Request.PathValue("id")}
}
