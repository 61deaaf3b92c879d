package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/calendar"
)

func showCalendars(v *visit) (view, error) {
	d := recordList{titled: titled(v.T("Calendars")),
		Intro: v.T("A calendar says which days are worked on. Silences and schedules can follow it."), None: v.T("There is no calendar yet.")}
	if v.who.May(auth.CalendarsManage) {
		d.New, d.NewText = "/calendars/new", v.T("New calendar")
	}
	all, err := v.calendars()
	for _, c := range all {
		row := recordRow{Path: "/calendars/" + url.PathEscape(c.CalID), Name: c.CalName, About: c.Description, Tags: []string{c.TimeZone}}
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
	c := calendar.Calendar{TimeZone: v.who.Zone.String(), Workdays: []int64{1, 2, 3, 4, 5}}
	d := recordForm{titled: titled(v.T("New calendar")), Back: "/calendars", Path: "/calendars/" + url.PathEscape(v.r.PathValue("id")),
		May: v.who.May(auth.CalendarsManage)}
	if !v.isNew() {
		var err error
		c, err = call[calendar.Calendar](v, "/calendar/info", calendar.InfoRequest{CalID: v.r.PathValue("id")})
		if err != nil {
			return nil, err
		}
		d.titled, d.Delete = titled(c.CalName), d.Path+"/delete"
		if err := d.days(v); err != nil {
			return nil, err
		}
	}
	d.text("name", v.T("Name"), c.CalName, "")
	d.text("about", v.T("Description"), c.Description, "")
	d.text("zone", v.T("Time zone"), c.TimeZone, v.T("Such as Europe/Berlin. Its days begin and end there."))
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
	request := calendar.EventListRequest{CalID: v.r.PathValue("id"), Year: v.Now.In(v.Zone).Year()}
	reply, err := call[calendar.Listed[calendar.Event]](v, "/calendar/event/list", request)
	if err != nil {
		return err
	}
	part := recordPart{Title: v.T("Exceptions this year"),
		None: v.T("None. Add holidays, or days that are worked on although they are not in the week above.")}
	for _, e := range reply.Items {
		row := recordRow{Name: e.Summary, About: v.T("From %s, until before %s", e.StartAt, e.EndAt),
			Tags: []string{map[bool]string{true: v.T("day off"), false: v.T("working day")}[e.IsOff]}}
		if d.May {
			row.Delete = d.Path + "/days/" + url.PathEscape(e.EventID) + "/delete"
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
	body := calendar.Body{
		Description: new(v.field("about")), TimeZone: new(v.field("zone")), TeamID: new(formNumber(v, "team")), Workdays: days,
	}
	if v.isNew() {
		made, err := call[calendar.Created](v, "/calendar/create", calendar.CreateRequest{CalName: v.field("name"), Body: body})
		return "/calendars/" + url.PathEscape(made.CalID), err
	}
	request := calendar.UpdateRequest{CalID: v.r.PathValue("id"), CalName: new(v.field("name")), Body: body}
	return v.r.URL.Path, do[api.Empty](v, "/calendar/update", request)
}

func saveCalendarDay(v *visit) (string, error) {
	request := calendar.EventUpsertRequest{
		CalID: v.r.PathValue("id"), Summary: v.field("summary"), StartAt: v.field("start"), EndAt: v.field("end"), IsOff: v.field("off") != "",
	}
	return "/calendars/" + url.PathEscape(v.r.PathValue("id")), do[calendar.Upserted](v, "/calendar/event/upsert", request)
}

func deleteCalendarDay(v *visit) (string, error) {
	request := calendar.EventDeleteRequest{CalID: v.r.PathValue("id"), EventID: v.r.PathValue("event")}
	return "/calendars/" + url.PathEscape(v.r.PathValue("id")), do[api.Removal](v, "/calendar/event/delete", request)
}

func calendarToDelete(id string) calendar.DeleteRequest { return calendar.DeleteRequest{CalID: id} }
