package console

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// overrideView is the form for an override, and the overrides that there are.
type overrideView struct {
	titled
	Schedule  schedule
	Zone      *time.Location
	Form      overrideForm
	Holders   []mark // who may be replaced
	People    []profile
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
	override
	ByMark mark
	Whom   mark // ID 0: everyone of the role
	Over   bool
}

// timeChoice is a time that is often meant.
type timeChoice struct{ Text, Link string }

// localTime is how browsers write the value of an input of type datetime-local.
const localTime = "2006-01-02T15:04"

// changePlan is what a change would do, as operations answer it with dry_run.
type changePlan struct {
	DryRun   bool     `json:"dry_run"`
	Revision int64    `json:"revision"`
	Warnings []string `json:"warnings"`
	Plan     struct {
		Start   int64          `json:"start"`
		End     int64          `json:"end"`
		Persons []personChange `json:"persons"`
	} `json:"plan"`
}

type personChange struct {
	ID     int64       `json:"person_id"`
	Name   string      `json:"person_name"`
	Gains  int64       `json:"gained_seconds"`
	Loses  int64       `json:"lost_seconds"`
	Gained []planShift `json:"gained"`
	Lost   []planShift `json:"lost"`
	Mark   mark        `json:"-"`
}

type planShift struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// Net returns by how much the person's time grows; negative: shrinks.
func (p personChange) Net() int64 { return p.Gains - p.Loses }

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

func showOverride(v *visit) (view, error) {
	now := v.Now.Unix()
	s, err := v.schedule(number(v.r.PathValue("id")), now, now+usualDays*86400)
	if err != nil {
		return nil, err
	}
	d := overrideView{titled: titled(v.T("Override") + " · " + s.Name), Schedule: s, Zone: v.zoneOf(s.Zone), Plan: v.plan, Stale: v.stale}
	d.Form = v.overrideForm(s, d.Zone)
	d.People, err = v.members()
	if err != nil {
		return nil, err
	}
	var reply struct {
		Items []override `json:"items"`
	}
	request := map[string]any{"schedule_ids": []int64{s.ID}, "start": now, "limit": 100}
	if err := v.call("/schedule/override/list", request, &reply); err != nil {
		return nil, err
	}
	c := v.newCast()
	c.add(s)
	holders := slices.Clone(c.order)
	s.Overrides = reply.Items
	c.add(s)
	if err := c.load(); err != nil {
		return nil, err
	}
	d.Holders = c.marks(holders)
	for _, o := range reply.Items {
		row := overrideRow{override: o, ByMark: c.mark(o.By)}
		if o.Person != 0 {
			row.Whom = c.mark(o.Person)
		}
		d.Overrides = append(d.Overrides, row)
	}
	slices.Reverse(d.Overrides)
	c.plan(d.Plan)
	d.Choices = v.timeChoices(s, d)
	return d, nil
}

// plan adds colours and names to the persons of a plan, which may be nil.
func (c *cast) plan(plan *changePlan) {
	if plan == nil {
		return
	}
	for i := range plan.Plan.Persons {
		p := &plan.Plan.Persons[i]
		c.addPersons(p.ID)
		p.Mark = c.mark(p.ID)
		p.Mark.Name = cmp.Or(p.Name, p.Mark.Name)
	}
}

// overrideForm returns what was entered, or what the address proposes, or the rest of the present shift.
func (v *visit) overrideForm(s schedule, zone *time.Location) overrideForm {
	if v.r.Method == http.MethodPost && v.field("start")+v.field("end") != "" {
		f := overrideForm{number(v.field("by")), v.field("whom"), v.field("start"), v.field("end"), v.field("reason"), s.Revision}
		if revision := number(v.field("revision")); revision != 0 && !v.stale {
			f.Revision = revision
		}
		return f
	}
	f := overrideForm{By: number(v.query("by")), Whom: v.query("whom"), Revision: s.Revision}
	start, end := number(v.query("start")), number(v.query("end"))
	if start == 0 {
		start = v.Now.Unix()
	}
	if end == 0 && s.Current != nil {
		end = s.Current.End
	}
	if end <= start || end > start+400*86400 {
		end = start + 8*3600
	}
	f.Start, f.End = time.Unix(start, 0).In(zone).Format(localTime), time.Unix(end, 0).In(zone).Format(localTime)
	if f.Whom == "" && s.Current != nil && len(s.Current.persons()) > 0 {
		f.Whom = strconv.FormatInt(s.Current.persons()[0], 10)
	}
	return f
}

// timeChoices returns links that fill in times that are often meant.
func (v *visit) timeChoices(s schedule, d overrideView) (all []timeChoice) {
	add := func(text string, from, until int64) {
		whom := number(d.Form.Whom)
		if d.Form.Whom == "all" {
			whom = everyone
		}
		all = append(all, timeChoice{text, overrideLink(s.ID, piece{Start: from, End: until}, whom, d.Form.By)})
	}
	here := v.Now.In(d.Zone)
	if s.Current != nil && s.Current.End > v.Now.Unix() && s.Current.End < v.Now.Unix()+31*86400 {
		add(v.T("The rest of this shift"), v.Now.Unix(), s.Current.End)
	}
	if s.Next != nil && s.Next.End < s.Next.Start+31*86400 {
		add(v.T("The next shift"), s.Next.Start, s.Next.End)
	}
	tonight := time.Date(here.Year(), here.Month(), here.Day(), 20, 0, 0, 0, d.Zone)
	add(v.T("Tonight"), tonight.Unix(), tonight.Add(12*time.Hour).Unix())
	return all
}

// members returns the persons of the account, by name.
func (v *visit) members() ([]profile, error) {
	all, err := v.accounts("")
	if err != nil {
		return nil, err
	}
	people := make([]profile, len(all))
	for i, a := range all {
		people[i] = profile{ID: a.MemberID, Name: a.MemberName}
	}
	return people, nil
}

// makeOverride shows what an override would change, or makes it. One that changes nothing is made only by who has seen so,
// and none against another schedule than the form was drawn for.
func makeOverride(v *visit) (string, error) {
	id := number(v.r.PathValue("id"))
	s, err := v.schedule(id, v.Now.Unix(), v.Now.Unix()+60)
	if err != nil {
		return "", err
	}
	zone := v.zoneOf(s.Zone)
	f := v.overrideForm(s, zone)
	start, end := localMoment(f.Start, zone), localMoment(f.End, zone)
	path, request := "/schedule/override/create", map[string]any{"schedule_id": id, "if_revision": f.Revision}
	switch {
	case f.Whom == "all":
		path = "/schedule/update"
		request["layers"], err = v.withOverrideLayer(id, f, start, end)
		if err != nil {
			return "", err
		}
	case strings.HasPrefix(f.Whom, "role:"):
		request["role_id"] = number(strings.TrimPrefix(f.Whom, "role:"))
	default:
		request["person_id"] = number(f.Whom)
	}
	if f.Whom != "all" {
		request["by"] = f.By
		request["start"] = start
		request["end"] = end
		request["reason"] = f.Reason
	}
	plan, err := v.tried(path, request)
	if err != nil {
		return "", err
	}
	pointless := len(plan.Plan.Persons) == 0 && v.field("seen") != f.Mark()
	if v.field("do") == "review" || v.stale || pointless {
		v.plan = plan
		return "", nil
	}
	delete(request, "dry_run")
	return "/schedules/" + strconv.FormatInt(id, 10), v.call(path, request, nil)
}

// localMoment returns the moment that a form names; 0, which operations refuse by name, if it names none.
func localMoment(text string, zone *time.Location) int64 {
	at, err := time.ParseInLocation(localTime, text, zone)
	if err != nil {
		return 0
	}
	return at.Unix()
}

// rawLayer is a layer with all its members, also those that the console does not know, so that a change keeps them.
type rawLayer = map[string]jsontext.Value

// rawLayers returns the layers of a schedule as they are stored.
func (v *visit) rawLayers(id int64) ([]rawLayer, error) {
	var reply struct {
		Layers []rawLayer `json:"layers"`
	}
	err := v.call("/schedule/info", map[string]any{"schedule_id": id}, &reply)
	for _, l := range reply.Layers {
		for _, stamp := range []string{"account_id", "schedule_id", "create_at", "create_by", "update_at", "update_by"} {
			delete(l, stamp)
		}
	}
	return reply.Layers, err
}

// withOverrideLayer returns the layers of a schedule with one more, in which one person alone is on call. It is heavier
// than the others, so that it counts.
func (v *visit) withOverrideLayer(id int64, f overrideForm, start, end int64) ([]any, error) {
	layers, err := v.rawLayers(id)
	if err != nil {
		return nil, err
	}
	all, heaviest := make([]any, 0, len(layers)+1), int64(0)
	for _, l := range layers {
		all, heaviest = append(all, l), max(heaviest, number(string(l["weight"])))
	}
	return append(all, map[string]any{
		"layer_name": cmp.Or(f.Reason, v.T("Override")), "mode": overriding, "weight": heaviest + 1, "layer_start": start, "layer_end": end,
		"groups": []any{map[string]any{"members": []any{map[string]any{"role_id": 0, "person_ids": []int64{f.By}}}}},
	}), nil
}

func deleteOverride(v *visit) (string, error) {
	err := v.call("/schedule/override/delete", map[string]any{"override_ids": []int64{number(v.field("override"))}}, nil)
	return "/schedules/" + v.r.PathValue("id") + "/override", err
}
