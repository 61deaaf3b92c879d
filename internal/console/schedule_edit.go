package console

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/api"
)

// editView is the form of a schedule's layers.
type editView struct {
	titled
	ID        int64
	Draft     draft
	People    []person
	Calendars []calendarName
	Preview   []laneView
	Axis      []tick
}

type calendarName struct {
	ID   string `json:"cal_id"`
	Name string `json:"cal_name"`
}

// edited is what was done with a draft in this visit.
type edited struct {
	draft   draft
	preview bool
	plan    *changePlan // nil: the form is shown
	stale   bool        // the schedule was changed meanwhile, and the plan is a new one
}

func showEdit(v *visit) (view, error) {
	id := number(v.r.PathValue("id"))
	if v.edited != nil && v.edited.plan != nil {
		return v.showPlan(id)
	}
	d := editView{ID: id}
	var err error
	switch {
	case v.edited != nil:
		d.Draft = v.edited.draft
	case v.r.Method == http.MethodPost:
		d.Draft, err = v.formDraft()
	default:
		d.Draft, err = v.storedDraft(id)
	}
	if err != nil {
		return nil, err
	}
	d.titled = titled(v.T("Edit layers") + " · " + d.Draft.Name)
	if d.People, err = v.members(); err != nil {
		return nil, err
	}
	var reply struct {
		Items []calendarName `json:"items"`
	}
	if err = v.call("/calendar/list", map[string]any{}, &reply); err != nil {
		return nil, err
	}
	d.Calendars = reply.Items
	if v.edited != nil && v.edited.preview {
		err = d.preview(v)
	}
	return d, err
}

// preview draws who would be on call under the draft, as far as it can be computed without storing it: overrides and
// absences are in the plan.
func (d *editView) preview(v *visit) error {
	body, err := d.Draft.body(v.who.Zone)
	if err != nil {
		return err
	}
	zone := v.zoneOf(d.Draft.Zone)
	days := daysFrom(v.Now.Unix(), usualDays, zone)
	w := pictureWindow{From: days[0].Start, To: days[len(days)-1].End, Days: usualDays, Zone: zone, days: days}
	body["start"], body["end"] = w.From, w.To
	var s schedule
	if err := v.call("/schedule/preview", body, &s); err != nil {
		return err
	}
	c := v.newCast()
	c.add(s)
	if err := c.load(); err != nil {
		return err
	}
	p := v.newPainter(c, zone)
	pieces := withGaps(c.final(s), w.From, w.To)
	d.Axis = p.days(days, w.From, w.To)
	d.Preview = append(p.finalLanes(pieces, w), p.layerLanes(s, pieces, w)...)
	return nil
}

// changeSchedule does what a button of the form asks: it changes the draft, shows a preview or the plan, or saves.
func changeSchedule(v *visit) (string, error) {
	id, button := number(v.r.PathValue("id")), v.field("do")
	d, err := v.formDraft()
	if err != nil {
		return "", &api.Refusal{Status: http.StatusBadRequest, Code: "BadRequest", Message: v.T("The form cannot be read.")}
	}
	v.edited = &edited{draft: d, preview: button == "preview"}
	if button != "plan" && button != "save" {
		today := v.Now.In(v.zoneOf(d.Zone))
		v.edited.draft.edit(button, time.Date(today.Year(), today.Month(), today.Day(), 9, 0, 0, 0, today.Location()).Format(localTime))
		return "", nil
	}
	body, err := d.body(v.who.Zone)
	if err != nil {
		return "", err
	}
	body["schedule_id"], body["if_revision"] = id, d.Revision
	if button == "save" {
		err := v.call("/schedule/update", body, nil)
		if err == nil {
			return "/schedules/" + strconv.FormatInt(id, 10), nil
		}
		if r := api.RefusalOf(err); r == nil || r.Code != "RequestVerifyFailed" {
			return "", err
		}
		v.edited.stale = true
	}
	return "", v.planDraft(id, body)
}

// planDraft asks what the draft would change. If the schedule has another revision by now, the plan is against that one.
func (v *visit) planDraft(id int64, body map[string]any) error {
	body["dry_run"] = true
	plan := &changePlan{}
	if !v.edited.stale {
		err := v.call("/schedule/update", body, plan)
		if r := api.RefusalOf(err); r == nil || r.Code != "RequestVerifyFailed" {
			v.edited.planned(plan, err)
			return err
		}
		v.edited.stale = true
	}
	var s schedule
	if err := v.call("/schedule/info", map[string]any{"schedule_id": id}, &s); err != nil {
		return err
	}
	body["if_revision"], v.edited.draft.Revision = s.Revision, s.Revision
	err := v.call("/schedule/update", body, plan)
	v.edited.planned(plan, err)
	return err
}

func (e *edited) planned(plan *changePlan, err error) {
	if err == nil {
		e.plan = plan
	}
}

// Selected reports whether a list holds a text.
func (d editView) Selected(list []string, text string) bool {
	for _, one := range list {
		if strings.EqualFold(one, text) {
			return true
		}
	}
	return false
}

// Weekdays returns the days of the week from Monday, with their numbers from Sunday.
func (v *visit) Weekdays() []struct {
	Number int
	Name   string
} {
	days := make([]struct {
		Number int
		Name   string
	}, 7)
	for i := range days {
		days[i].Number = (i + 1) % 7
		days[i].Name = v.T(time.Weekday(days[i].Number).String()[:3])
	}
	return days
}
