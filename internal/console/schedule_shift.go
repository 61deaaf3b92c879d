package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/api"
	schedules "tocsin/internal/schedule"
)

// The ways in which persons of a schedule change shifts themselves, as addresses name them.
const take, ask, handOver = "take", "ask", "hand-over"

// longestShift is how long a part of a shift may be that is changed so, in seconds; the operations take a day more.
const longestShift = 44 * 86400

// shiftLinks are the addresses of forms that change a shift; an empty one is not drawn.
type shiftLinks struct{ Take, Ask, Give string }

// shiftLinks returns what the reader may do with a shift of a schedule.
func (v *visit) shiftLinks(s schedule, p piece) (l shiftLinks) {
	switch {
	case p.End <= v.Now.Unix() || len(p.Persons) == 0:
	case v.MayServe(s) && slices.Contains(p.Persons, v.who.PersonID):
		l.Ask, l.Give = v.shiftLink(s.ScheduleID, ask, p, 0), v.shiftLink(s.ScheduleID, handOver, p, 0)
	case v.MayServe(s):
		l.Take = v.shiftLink(s.ScheduleID, take, p, p.Persons[0])
	case v.MayPlan() && s.Status() == 0 && !slices.Contains(p.Persons, v.who.PersonID):
		l.Take = overrideLink(s.ScheduleID, p, p.Persons[0], v.who.PersonID)
	}
	return l
}

func (v *visit) shiftLink(schedule int64, kind string, p piece, person int64) string {
	start := max(p.Start, v.Now.Unix())
	q := url.Values{"start": {strconv.FormatInt(start, 10)}, "end": {strconv.FormatInt(min(p.End, start+longestShift), 10)}}
	if person != 0 {
		q.Set("person", strconv.FormatInt(person, 10))
	}
	return "/schedules/" + strconv.FormatInt(schedule, 10) + "/shift/" + kind + "?" + q.Encode()
}

// shiftView is the form by which persons of a schedule take a shift, hand over their own or ask for cover.
type shiftView struct {
	titled
	Schedule schedule
	Zone     *time.Location
	Kind     string
	Form     shiftForm
	Others   []mark // the persons of the schedule, but for the reader
	Plan     *changePlan
	Stale    bool
}

// shiftForm is what is entered: times are those of the schedule's zone.
type shiftForm struct {
	Person     int64   // whose shift is taken, or who is to have it; 0: everyone's, or not chosen
	Asked      []int64 // none: all others
	Start, End string
	Reason     string
	Revision   int64
}

// Asks reports whether a person is to be asked.
func (f shiftForm) Asks(person int64) bool { return slices.Contains(f.Asked, person) }

func showShift(v *visit) (view, error) {
	s, err := v.schedule(number(v.r.PathValue("id")), v.Now.Unix(), v.Now.Unix()+usualDays*86400)
	if err != nil {
		return nil, err
	}
	d := shiftView{Schedule: s, Zone: v.zoneOf(s.TimeZone), Kind: v.r.PathValue("kind"), Plan: v.plan, Stale: v.stale}
	switch d.Kind {
	case take:
		d.titled = titled(v.T("Take this shift") + " · " + s.Name())
	case ask:
		d.titled = titled(v.T("Ask for cover") + " · " + s.Name())
	case handOver:
		d.titled = titled(v.T("Hand over") + " · " + s.Name())
	default:
		return nil, v.noSuchForm()
	}
	d.Form = v.shiftForm(s, d.Zone)
	c := v.newCast()
	c.add(s)
	if err := c.load(); err != nil {
		return nil, err
	}
	for _, id := range s.members() {
		if _, known := c.people[id]; known && id != v.who.PersonID {
			d.Others = append(d.Others, c.mark(id))
		}
	}
	c.plan(d.Plan)
	return d, nil
}

func (v *visit) noSuchForm() error {
	return &api.Refusal{Status: http.StatusNotFound, Code: "ResourceNotFound", Message: v.T("There is no such form.")}
}

// shiftForm returns what was entered, or what the address proposes.
func (v *visit) shiftForm(s schedule, zone *time.Location) shiftForm {
	f := shiftForm{Revision: s.Revision}
	if v.r.Method != http.MethodPost {
		start, end := number(v.query("start")), number(v.query("end"))
		if start == 0 || end <= start {
			start, end = v.Now.Unix(), v.Now.Unix()+8*3600
		}
		f.Person = number(v.query("person"))
		f.Start = localText(start, zone)
		f.End = localText(end, zone)
		return f
	}
	for _, text := range v.r.PostForm["asked"] {
		if id := number(text); id != 0 {
			f.Asked = append(f.Asked, id)
		}
	}
	f.Person = number(v.field("person"))
	f.Start = v.field("start")
	f.End = v.field("end")
	f.Reason = v.field("reason")
	if revision := number(v.field("revision")); revision != 0 && !v.stale {
		f.Revision = revision
	}
	return f
}

// changeShift takes a shift, or shows what that would change; hands one over; or asks for cover.
func changeShift(v *visit) (string, error) {
	id := number(v.r.PathValue("id"))
	s, err := v.schedule(id, v.Now.Unix(), v.Now.Unix()+60)
	if err != nil {
		return "", err
	}
	zone := v.zoneOf(s.TimeZone)
	f := v.shiftForm(s, zone)
	picture, own := "/schedules/"+strconv.FormatInt(id, 10), v.ownShifts()
	part := schedules.ShiftPart{Start: localMoment(f.Start, zone), End: localMoment(f.End, zone), Reason: f.Reason}
	switch v.r.PathValue("kind") {
	case take:
		request := schedules.ShiftTakeRequest{ScheduleID: id, PersonID: f.Person, ShiftPart: part, DryRun: dryRun}
		plan, err := v.tried(id, f.Revision, func(revision int64) (*changePlan, error) {
			request.Expected = revision
			reply, err := call[schedules.ShiftTaken](v, "/schedule/shift/take", request)
			return newChangePlan(reply.Revision, reply.Warnings, reply.Plan), err
		})
		if err != nil {
			return "", err
		}
		if v.field("do") == "review" || v.stale {
			v.plan = plan
			return "", nil
		}
		request.Only = false
		return picture, do[schedules.ShiftTaken](v, "/schedule/shift/take", request)
	case ask:
		request := schedules.CoverRequestRequest{ScheduleID: id, PersonIDs: f.Asked, ShiftPart: part}
		return own, do[schedules.CoverRequested](v, "/schedule/cover/request", request)
	case handOver:
		request := schedules.ShiftHandOverRequest{ScheduleID: id, To: f.Person, ShiftPart: part}
		done, err := call[schedules.HandedOver](v, "/schedule/shift/hand-over", request)
		if done.OverrideID != 0 {
			return picture, err
		}
		return own, err // it waits for an answer
	}
	return "", v.noSuchForm()
}

// ownShifts returns the address of the reader's shifts.
func (v *visit) ownShifts() string {
	return "/people/" + strconv.FormatInt(v.who.PersonID, 10) + "/shifts"
}
