package schedule

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
	"tocsin/internal/core/sentence"
	schedules "tocsin/internal/schedule"
)

// overrideView is the form for an override, and the overrides that there are.
type overrideView struct {
	page.Titled
	Schedule  schedule
	Zone      *time.Location
	Form      overrideForm
	Holders   []picture.Mark // who may be replaced
	People    []page.Person
	Plan      *changePlan
	Stale     bool
	Overrides []overrideRow
	Choices   []timeChoice
}

// overrideForm is what is entered: times are those of the schedule's zone.
type overrideForm struct {
	By         int64
	Whom       string // a person's id; role:ID; or all, which also fills gaps
	Start, End string
	Reason     string
	Revision   int64
}

// Mark returns what was entered as one text. A plan is sent back with it, so that it is known for what it was made.
func (f overrideForm) Mark() string {
	return fmt.Sprint(f.Revision, " ", f.By, " ", f.Whom, " ", f.Start, " ", f.End)
}

type overrideRow struct {
	schedules.Override
	ByMark picture.Mark
	Whom   picture.Mark // ID 0: everyone of the role
	Over   bool
}

// timeChoice is a time that is often meant.
type timeChoice struct{ Text, Link string }

// changePlan is what a change would do, as operations answer it with dry_run.
type changePlan struct {
	Revision   int64
	Warnings   []sentence.Words
	Start, End int64
	Persons    []personChange
}

// newChangePlan returns what the reply to a dry run holds; plan is nil: nothing.
func newChangePlan(revision int64, warnings api.Warnings, plan *schedules.Plan) *changePlan {
	p := &changePlan{Revision: revision, Warnings: warnings.Warnings}
	if plan == nil {
		return p
	}
	p.Start, p.End = plan.Start, plan.End
	for _, change := range plan.Persons {
		p.Persons = append(p.Persons, personChange{PersonChange: change})
	}
	return p
}

type personChange struct {
	schedules.PersonChange
	Mark picture.Mark
}

// Net returns by how much the person's time grows; negative: shrinks.
func (p personChange) Net() int64 { return p.GainedSeconds - p.LostSeconds }

// First returns when the person's shifts first change.
func (p personChange) First() int64 {
	first := int64(0)
	for _, s := range slices.Concat(p.Gained, p.Lost) {
		if first == 0 || s.Start < first {
			first = s.Start
		}
	}
	return first
}

func showOverride(v *page.Visit) (page.View, error) {
	now := v.Now.Unix()
	s, err := readSchedule(v, v.ID(), now, now+usualDays*86400)
	if err != nil {
		return nil, err
	}
	made := outcomeOf(v)
	d := overrideView{Titled: page.Titled(v.T("Override") + " · " + s.Name()), Schedule: s, Plan: made.plan, Stale: made.stale}
	d.Zone = v.NamedZone(s.TimeZone)
	d.Form = readOverrideForm(v, s, d.Zone)
	d.People, err = members(v)
	if err != nil {
		return nil, err
	}
	request := schedules.OverrideListRequest{ScheduleIDs: []int64{s.ScheduleID}, Start: &now, Page: api.Page{Limit: 100}}
	reply, err := page.Call[api.Paged[schedules.Override]](v, "/schedule/override/list", request)
	if err != nil {
		return nil, err
	}
	c := newCast(v)
	c.add(s)
	holders := slices.Clone(c.Order)
	c.addOverrides(reply.Items)
	if err := c.load(); err != nil {
		return nil, err
	}
	d.Holders = c.Marks(holders)
	for _, o := range reply.Items {
		row := overrideRow{Override: o, ByMark: c.Mark(o.By)}
		if o.PersonID != 0 {
			row.Whom = c.Mark(o.PersonID)
		}
		d.Overrides = append(d.Overrides, row)
	}
	slices.Reverse(d.Overrides)
	c.plan(d.Plan)
	d.Choices = timeChoices(v, s, d)
	return d, nil
}

// plan adds colours and names to the persons of a plan, which may be nil.
func (c *cast) plan(plan *changePlan) {
	if plan == nil {
		return
	}
	for i := range plan.Persons {
		p := &plan.Persons[i]
		c.AddPersons(p.PersonID)
		p.Mark = c.Mark(p.PersonID)
		p.Mark.Name = cmp.Or(p.PersonName, p.Mark.Name)
	}
}

// readOverrideForm returns what was entered, or what the address proposes, or the rest of the present shift.
func readOverrideForm(v *page.Visit, s schedule, zone *time.Location) overrideForm {
	if v.Request.Method == http.MethodPost && v.Field("start")+v.Field("end") != "" {
		f := overrideForm{v.Number("by"), v.Field("whom"), v.Field("start"), v.Field("end"), v.Field("reason"), s.Revision}
		if revision := v.Number("revision"); revision != 0 && !outcomeOf(v).stale {
			f.Revision = revision
		}
		return f
	}
	f := overrideForm{By: page.Number(v.Query("by")), Whom: v.Query("whom"), Revision: s.Revision}
	start, end := page.Number(v.Query("start")), page.Number(v.Query("end"))
	if start == 0 {
		start = v.Now.Unix()
	}
	if end == 0 && s.CurOncall != nil {
		end = s.CurOncall.End
	}
	if end <= start || end > start+400*86400 {
		end = start + 8*3600
	}
	f.Start, f.End = time.Unix(start, 0).In(zone).Format(page.LocalTime), time.Unix(end, 0).In(zone).Format(page.LocalTime)
	if f.Whom == "" && s.CurOncall != nil {
		if persons := personsOf(s.CurOncall.Group); len(persons) > 0 {
			f.Whom = strconv.FormatInt(persons[0], 10)
		}
	}
	return f
}

// timeChoices returns links that fill in times that are often meant.
func timeChoices(v *page.Visit, s schedule, d overrideView) (all []timeChoice) {
	add := func(text string, from, until int64) {
		whom := page.Number(d.Form.Whom)
		if d.Form.Whom == "all" {
			whom = everyone
		}
		all = append(all, timeChoice{text, overrideLink(s.ScheduleID, picture.Piece{Start: from, End: until}, whom, d.Form.By)})
	}
	here := v.Now.In(d.Zone)
	if s.CurOncall != nil && s.CurOncall.End > v.Now.Unix() && s.CurOncall.End < v.Now.Unix()+31*86400 {
		add(v.T("The rest of this shift"), v.Now.Unix(), s.CurOncall.End)
	}
	if s.NextOncall != nil && s.NextOncall.End < s.NextOncall.Start+31*86400 {
		add(v.T("The next shift"), s.NextOncall.Start, s.NextOncall.End)
	}
	tonight := time.Date(here.Year(), here.Month(), here.Day(), 20, 0, 0, 0, d.Zone)
	add(v.T("Tonight"), tonight.Unix(), tonight.Add(12*time.Hour).Unix())
	return all
}

// members returns the persons of the account, by name.
func members(v *page.Visit) ([]page.Person, error) {
	all, err := v.Accounts("")
	if err != nil {
		return nil, err
	}
	people := make([]page.Person, len(all))
	for i, a := range all {
		people[i] = page.Person{ID: a.MemberID, Name: a.MemberName}
	}
	return people, nil
}

// makeOverride shows what an override would change, or makes it. One that changes nothing is made only by who has seen so,
// and none against another schedule than the form was drawn for.
func makeOverride(v *page.Visit) (string, error) {
	id := v.ID()
	s, err := readSchedule(v, id, v.Now.Unix(), v.Now.Unix()+60)
	if err != nil {
		return "", err
	}
	zone := v.NamedZone(s.TimeZone)
	f := readOverrideForm(v, s, zone)
	start, end := localMoment(f.Start, zone), localMoment(f.End, zone)
	change := overridden(v, id, f, start, end)
	if f.Whom == "all" {
		change, err = overlaid(v, id, f, start, end)
		if err != nil {
			return "", err
		}
	}
	plan, err := tried(v, id, f.Revision, func(revision int64) (*changePlan, error) { return change(revision, page.DryRun) })
	if err != nil {
		return "", err
	}
	pointless := len(plan.Persons) == 0 && v.Field("seen") != f.Mark()
	if v.Field("do") == "review" || outcomeOf(v).stale || pointless {
		outcomeOf(v).plan = plan
		return "", nil
	}
	_, err = change(f.Revision, api.DryRun{})
	return "/schedules/" + strconv.FormatInt(id, 10), err
}

// change is a change of a schedule of a revision, or what it would do.
type change func(revision int64, only api.DryRun) (*changePlan, error)

// overridden returns the change that puts one person on call in place of another, or of everyone with a role.
func overridden(v *page.Visit, id int64, f overrideForm, start, end int64) change {
	body := schedules.OverrideBody{By: &f.By, Start: &start, End: &end, Reason: &f.Reason}
	if role, is := strings.CutPrefix(f.Whom, "role:"); is {
		body.RoleID = new(page.Number(role))
	} else {
		body.PersonID = new(page.Number(f.Whom))
	}
	return func(revision int64, only api.DryRun) (*changePlan, error) {
		request := schedules.OverrideCreateRequest{
			ScheduleID: id, OverrideBody: body, IfRevision: schedules.IfRevision{Expected: revision}, DryRun: only,
		}
		reply, err := page.Call[schedules.OverrideCreated](v, "/schedule/override/create", request)
		return newChangePlan(reply.Revision, reply.Warnings, reply.Plan), err
	}
}

// overlaid returns the change that adds a layer in which one person alone is on call. It is heavier than the others, so that it
// counts.
func overlaid(v *page.Visit, id int64, f overrideForm, start, end int64) (change, error) {
	s, err := storedSchedule(v, id)
	if err != nil {
		return nil, err
	}
	layers, heaviest := []schedules.WrittenLayer{}, int64(0)
	for _, l := range s.Layers() {
		layers, heaviest = append(layers, schedules.WrittenLayer{LayerConfig: l.LayerConfig}), max(heaviest, l.Weight)
	}
	layers = append(layers, schedules.WrittenLayer{LayerConfig: schedules.LayerConfig{
		LayerName: cmp.Or(f.Reason, v.T("Override")), Mode: overriding, Weight: heaviest + 1, LayerStart: start, LayerEnd: &end,
		Groups: []schedules.Group{{Members: []schedules.Member{{PersonIDs: []int64{f.By}}}}},
	}})
	return updated(v, id, schedules.Body{Layers: layers}), nil
}

// localMoment returns the moment that a form names; 0, which operations refuse by name, if it names none.
func localMoment(text string, zone *time.Location) int64 {
	at, err := page.ParseLocal(text, zone)
	if err != nil {
		return 0
	}
	return at.Unix()
}

func deleteOverride(v *page.Visit) (string, error) {
	request := schedules.OverrideDeleteRequest{OverrideIDs: []int64{v.Number("override")}}
	err := page.Do[schedules.OverridesDeleted](v, "/schedule/override/delete", request)
	return "/schedules/" + v.Request.PathValue("id") + "/override", err
}
