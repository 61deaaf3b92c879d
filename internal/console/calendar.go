package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/auth"
)

func showCalendars(v *visit) (view, error) {
	d := recordList{titled: titled(v.T("Calendars")),
		Intro: v.T("A calendar says which days are worked on. Silences and schedules can follow it."), None: v.T("There is no calendar yet.")}
	if v.who.May(auth.CalendarsManage) {
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
	d := recordForm{titled: titled(v.T("New calendar")), Back: "/calendars", Path: "/calendars/" + url.PathEscape(v.r.PathValue("id")),
		May: v.who.May(auth.CalendarsManage)}
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
	if err := v.call("/calendar/event/list", map[string]any{"cal_id": v.r.PathValue("id"), "year": v.Now.In(v.Zone).Year()},
		&reply); err != nil {
		return err
	}
	part := recordPart{Title: v.T("Exceptions this year"),
		None: v.T("None. Add holidays, or days that are worked on although they are not in the week above.")}
	for _, e := range reply.Items {
		row := recordRow{Name: e.Summary, About: v.T("From %s, until before %s", e.Start, e.End),
			Tags: []string{map[bool]string{true: v.T("day off"), false: v.T("working day")}[e.Off]}}
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
	request := map[string]any{"cal_name": v.field("name"), "description": v.field("about"), "timezone": v.field("zone"),
		"team_id": formNumber(v, "team"), "workdays": days}
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
	request := map[string]any{"cal_id": v.r.PathValue("id"), "summary": v.field("summary"), "start_at": v.field("start"),
		"end_at": v.field("end"), "is_off": v.field("off") != ""}
	return "/calendars/" + url.PathEscape(v.r.PathValue("id")), v.call("/calendar/event/upsert", request, nil)
}

func deleteCalendarDay(v *visit) (string, error) {
	request := map[string]any{"cal_id": v.r.PathValue("id"), "event_id": v.r.PathValue("event")}
	return "/calendars/" + url.PathEscape(v.r.PathValue("id")), v.call("/calendar/event/delete", request, nil)
}
