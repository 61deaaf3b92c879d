package schedule

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/calendar"
	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
	schedules "tocsin/internal/schedule"
	"tocsin/internal/team"
)

// editView is the form of a schedule's layers.
type editView struct {
	page.Titled
	ID        int64  // 0: of a new one
	Path      string // what the form is sent to
	Draft     draft
	People    []page.Person
	Teams     []team.Team
	Calendars []calendar.Calendar
	Preview   []laneView
	Axis      []picture.Tick
}

// edited is what was done with a draft in this visit.
type edited struct {
	draft   draft
	preview bool
	plan    *changePlan // nil: the form is shown
}

func showEdit(v *page.Visit) (page.View, error) {
	id := v.ID()
	if outcomeOf(v).edited != nil && outcomeOf(v).edited.plan != nil {
		return showPlan(v, id)
	}
	d := editView{ID: id, Path: editPath(id, "edit")}
	var err error
	switch {
	case outcomeOf(v).edited != nil:
		d.Draft = outcomeOf(v).edited.draft
	case v.Request.Method == http.MethodPost:
		d.Draft, err = formDraft(v)
	case id == 0:
		d.Draft = newDraft(v)
	default:
		d.Draft, err = storedDraft(v, id)
	}
	if err != nil {
		return nil, err
	}
	d.Titled = page.Titled(v.T("Edit layers") + " · " + d.Draft.Name)
	if id == 0 {
		d.Titled = page.Titled(v.T("New schedule"))
	}
	d.Teams, err = v.AllTeams()
	if err != nil {
		return nil, err
	}
	d.People, err = members(v)
	if err != nil {
		return nil, err
	}
	d.Calendars, err = v.Calendars()
	if err != nil {
		return nil, err
	}
	if outcomeOf(v).edited != nil && outcomeOf(v).edited.preview {
		err = d.preview(v)
	}
	return d, err
}

// editPath returns the address that a form of a schedule is sent to; id 0 is that of a new one.
func editPath(id int64, form string) string {
	if id == 0 {
		return "/schedules/new"
	}
	return "/schedules/" + strconv.FormatInt(id, 10) + "/" + form
}

// HasTeam reports whether the schedule's team is one of those to choose from.
func (d editView) HasTeam() bool {
	return d.Draft.Team == 0 || slices.ContainsFunc(d.Teams, func(t team.Team) bool { return t.TeamID == d.Draft.Team })
}

// preview draws who would be on call under the draft, as far as it can be computed without storing it: overrides and
// absences are in the plan.
func (d *editView) preview(v *page.Visit) error {
	body, err := d.Draft.body(v.Who.Zone)
	if err != nil {
		return err
	}
	zone := v.NamedZone(d.Draft.Zone)
	days := picture.DaysFrom(v.Now.Unix(), usualDays, zone)
	w := pictureWindow{From: days[0].Start, To: days[len(days)-1].End, Days: usualDays, Zone: zone, days: days}
	reply, err := page.Call[schedules.Schedule](v, "/schedule/preview", schedules.PreviewRequest{Start: w.From, End: w.To, Body: body})
	if err != nil {
		return err
	}
	s, c := schedule{reply}, newCast(v)
	c.add(s)
	if err := c.load(); err != nil {
		return err
	}
	p := newPainter(v, c, zone)
	pieces := picture.WithGaps(c.final(s), w.From, w.To)
	d.Axis = p.Axis(days, w.From, w.To)
	d.Preview = append(p.finalLanes(pieces, w), p.layerLanes(s, pieces, w)...)
	return nil
}

// changeSchedule does what a button of the form asks: it changes the draft, shows a preview or the plan, or saves.
func changeSchedule(v *page.Visit) (string, error) {
	id, button := v.ID(), v.Field("do")
	d, err := formDraft(v)
	if err != nil {
		return "", &api.Refusal{Status: http.StatusBadRequest, Code: "BadRequest", Message: v.T("The form cannot be read.")}
	}
	outcomeOf(v).edited = &edited{draft: d, preview: button == "preview"}
	if button != "plan" && button != "save" {
		today := v.Now.In(v.NamedZone(d.Zone))
		outcomeOf(v).edited.draft.edit(button, time.Date(today.Year(), today.Month(), today.Day(), 9, 0, 0, 0,
			today.Location()).Format(page.LocalTime))
		return "", nil
	}
	body, err := d.body(v.Who.Zone)
	if err != nil {
		return "", err
	}
	if err := d.addNotices(v, id, &body); err != nil {
		return "", err
	}
	if button == "save" {
		made, err := saveDraft(v, id, d.Revision, body)
		if !outdated(err) {
			return "/schedules/" + strconv.FormatInt(made, 10), err
		}
		outcomeOf(v).stale = true
	}
	plan, err := tried(v, id, d.Revision, func(revision int64) (*changePlan, error) {
		if id != 0 {
			return updated(v, id, body)(revision, page.DryRun)
		}
		reply, err := page.Call[schedules.Created](v, "/schedule/create", schedules.CreateRequest{Body: body, DryRun: page.DryRun})
		return newChangePlan(reply.Revision, reply.Warnings, reply.Plan), err
	})
	if err == nil {
		outcomeOf(v).edited.plan, outcomeOf(v).edited.draft.Revision = plan, plan.Revision
	}
	return "", err
}

// saveDraft creates a schedule, id 0, or changes it, and returns its id.
func saveDraft(v *page.Visit, id, revision int64, body schedules.Body) (int64, error) {
	if id == 0 {
		made, err := page.Call[schedules.Created](v, "/schedule/create", schedules.CreateRequest{Body: body})
		return made.ScheduleID, err
	}
	_, err := updated(v, id, body)(revision, api.DryRun{})
	return id, err
}

// updated returns the change of what a body holds.
func updated(v *page.Visit, id int64, body schedules.Body) change {
	return func(revision int64, only api.DryRun) (*changePlan, error) {
		request := schedules.UpdateRequest{ScheduleID: id, IfRevision: schedules.IfRevision{Expected: revision}, Body: body, DryRun: only}
		reply, err := page.Call[schedules.Updated](v, "/schedule/update", request)
		return newChangePlan(reply.Revision, reply.Warnings, reply.Plan), err
	}
}

// outdated reports whether an operation has refused to change a schedule that is not as it was when the form was drawn.
func outdated(err error) bool {
	r := api.RefusalOf(err)
	return r != nil && r.Code == "RequestVerifyFailed"
}

// tried asks what a change of a schedule would do, against the revision that the form was drawn for. If the schedule has another
// by now, the plan is against that one.
func tried(v *page.Visit, id, revision int64, ask func(revision int64) (*changePlan, error)) (*changePlan, error) {
	if !outcomeOf(v).stale {
		plan, err := ask(revision)
		if !outdated(err) {
			return plan, err
		}
		outcomeOf(v).stale = true
	}
	s, err := storedSchedule(v, id)
	if err != nil {
		return nil, err
	}
	return ask(s.Revision)
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

// weekdays returns the days of the week from Monday, with their numbers from Sunday.
func weekdays(v *page.Visit) []struct {
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
