package schedule

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
	schedules "tocsin/internal/schedule"
)

// The ways in which persons of a schedule change shifts themselves, as addresses name them.
const take, ask, handOver = "take", "ask", "hand-over"

// longestShift is how long a part of a shift may be that is changed so, in seconds; the operations take a day more.
const longestShift = 44 * 86400

// shiftLinks are the addresses of forms that change a shift; an empty one is not drawn. TakeText is the text of Take.
type shiftLinks struct{ Take, TakeText, Ask, Give string }

// shiftLinksOf returns what the reader may do with a shift of a schedule.
func shiftLinksOf(v *page.Visit, s schedule, p picture.Piece) (l shiftLinks) {
	l.TakeText = v.T("Take over")
	if p.Start <= v.Now.Unix() {
		l.TakeText = v.T("Take over until %s", v.When(p.End))
	}
	switch {
	case p.End <= v.Now.Unix() || len(p.Persons) == 0:
	case mayServe(v, s) && slices.Contains(p.Persons, v.Who.PersonID):
		l.Ask, l.Give = shiftLink(v, s.ScheduleID, ask, p, 0), shiftLink(v, s.ScheduleID, handOver, p, 0)
	case mayServe(v, s):
		l.Take = shiftLink(v, s.ScheduleID, take, p, p.Persons[0])
	case v.MayPlan() && s.Status() == 0 && !slices.Contains(p.Persons, v.Who.PersonID):
		l.Take = overrideLink(s.ScheduleID, p, p.Persons[0], v.Who.PersonID)
	}
	return l
}

func shiftLink(v *page.Visit, schedule int64, kind string, p picture.Piece, person int64) string {
	start := max(p.Start, v.Now.Unix())
	q := url.Values{"start": {strconv.FormatInt(start, 10)}, "end": {strconv.FormatInt(min(p.End, start+longestShift), 10)}}
	if person != 0 {
		q.Set("person", strconv.FormatInt(person, 10))
	}
	return "/schedules/" + strconv.FormatInt(schedule, 10) + "/shift/" + kind + "?" + q.Encode()
}

// shiftView is the form by which persons of a schedule take a shift, hand over their own or ask for cover.
type shiftView struct {
	page.Titled
	Schedule schedule
	Zone     *time.Location
	Kind     string
	Form     shiftForm
	Others   []picture.Mark // the persons of the schedule, but for the reader
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

func showShift(v *page.Visit) (page.View, error) {
	s, err := readSchedule(v, v.ID(), v.Now.Unix(), v.Now.Unix()+usualDays*86400)
	if err != nil {
		return nil, err
	}
	d := shiftView{Schedule: s, Zone: v.NamedZone(s.TimeZone), Kind: v.Request.PathValue("kind"), Plan: outcomeOf(v).plan,
		Stale: outcomeOf(v).stale}
	switch d.Kind {
	case take:
		d.Titled = page.Titled(v.T("Take over") + " · " + s.Name())
	case ask:
		d.Titled = page.Titled(v.T("Ask for cover") + " · " + s.Name())
	case handOver:
		d.Titled = page.Titled(v.T("Hand over") + " · " + s.Name())
	default:
		return nil, v.NoSuchForm()
	}
	d.Form = readShiftForm(v, s, d.Zone)
	c := newCast(v)
	c.add(s)
	if err := c.load(); err != nil {
		return nil, err
	}
	for _, id := range s.members() {
		if c.Named(id) && id != v.Who.PersonID {
			d.Others = append(d.Others, c.Mark(id))
		}
	}
	c.plan(d.Plan)
	return d, nil
}

// readShiftForm returns what was entered, or what the address proposes.
func readShiftForm(v *page.Visit, s schedule, zone *time.Location) shiftForm {
	f := shiftForm{Revision: s.Revision}
	if v.Request.Method != http.MethodPost {
		start, end := page.Number(v.Query("start")), page.Number(v.Query("end"))
		if start == 0 || end <= start {
			start, end = v.Now.Unix(), v.Now.Unix()+8*3600
		}
		f.Person = page.Number(v.Query("person"))
		f.Start = localText(start, zone)
		f.End = localText(end, zone)
		return f
	}
	for _, text := range v.Request.PostForm["asked"] {
		if id := page.Number(text); id != 0 {
			f.Asked = append(f.Asked, id)
		}
	}
	f.Person = v.Number("person")
	f.Start = v.Field("start")
	f.End = v.Field("end")
	f.Reason = v.Field("reason")
	if revision := v.Number("revision"); revision != 0 && !outcomeOf(v).stale {
		f.Revision = revision
	}
	return f
}

// changeShift takes a shift, or shows what that would change; hands one over; or asks for cover.
func changeShift(v *page.Visit) (string, error) {
	id := v.ID()
	s, err := readSchedule(v, id, v.Now.Unix(), v.Now.Unix()+60)
	if err != nil {
		return "", err
	}
	zone := v.NamedZone(s.TimeZone)
	f := readShiftForm(v, s, zone)
	picture, own := "/schedules/"+strconv.FormatInt(id, 10), ownShifts(v)
	part := schedules.ShiftPart{Start: localMoment(f.Start, zone), End: localMoment(f.End, zone), Reason: f.Reason}
	switch v.Request.PathValue("kind") {
	case take:
		request := schedules.ShiftTakeRequest{ScheduleID: id, PersonID: f.Person, ShiftPart: part, DryRun: page.DryRun}
		plan, err := tried(v, id, f.Revision, func(revision int64) (*changePlan, error) {
			request.Expected = revision
			reply, err := page.Call[schedules.ShiftTaken](v, "/schedule/shift/take", request)
			return newChangePlan(reply.Revision, reply.Warnings, reply.Plan), err
		})
		if err != nil {
			return "", err
		}
		if v.Field("do") == "review" || outcomeOf(v).stale {
			outcomeOf(v).plan = plan
			return "", nil
		}
		request.Only = false
		return picture, page.Do[schedules.ShiftTaken](v, "/schedule/shift/take", request)
	case ask:
		request := schedules.CoverRequestRequest{ScheduleID: id, PersonIDs: f.Asked, ShiftPart: part}
		return own, page.Do[schedules.CoverRequested](v, "/schedule/cover/request", request)
	case handOver:
		request := schedules.ShiftHandOverRequest{ScheduleID: id, To: f.Person, ShiftPart: part}
		done, err := page.Call[schedules.HandedOver](v, "/schedule/shift/hand-over", request)
		if done.OverrideID != 0 {
			return picture, err
		}
		return own, err // it waits for an answer
	}
	return "", v.NoSuchForm()
}

// ownShifts returns the address of the reader's shifts.
func ownShifts(v *page.Visit) string {
	return "/people/" + strconv.FormatInt(v.Who.PersonID, 10) + "/shifts"
}
