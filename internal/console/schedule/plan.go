package schedule

import (
	"cmp"
	"slices"
	"time"

	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
)

// planView shows what a change of a schedule would do before it is saved.
type planView struct {
	page.Titled
	ID       int64  // 0: of a new one
	Path     string // what the form is sent to
	Draft    draft
	Text     string // the draft, for the form
	Plan     *changePlan
	Stale    bool
	Zone     *time.Location
	Axis     []picture.Tick
	Lanes    []laneView
	NowID    string
	NewGaps  []picture.Piece
	GoneGaps []picture.Piece
	Left     []picture.Piece // the gaps of a new schedule
}

func (planView) Template() string { return "schedule_plan" }

// showNoPlan is the page of plans without a draft.
func showNoPlan(v *page.Visit) (page.View, error) {
	s, err := readSchedule(v, v.ID(), v.Now.Unix(), v.Now.Unix()+60)
	return planView{Titled: page.Titled(v.T("Review the change")), ID: s.ScheduleID, Draft: draft{Name: s.Name()}}, err
}

func showPlan(v *page.Visit, id int64) (page.View, error) {
	plan := outcomeOf(v).edited.plan
	d := planView{Titled: page.Titled(v.T("Review the change")), ID: id, Path: editPath(id, "plan")}
	d.Draft = outcomeOf(v).edited.draft
	d.Plan = plan
	d.Stale = outcomeOf(v).stale
	d.Zone = v.NamedZone(d.Draft.Zone)
	var err error
	d.Text, err = d.Draft.text()
	if err != nil {
		return nil, err
	}
	before := schedule{}
	if id != 0 {
		before, err = readSchedule(v, id, plan.Start, plan.End)
		if err != nil {
			return nil, err
		}
	}
	c := newCast(v)
	c.add(before)
	for _, p := range plan.Persons {
		c.AddPersons(p.PersonID)
	}
	if err := c.load(); err != nil {
		return nil, err
	}
	first := int64(0)
	for i := range plan.Persons {
		p := &plan.Persons[i]
		p.Mark = c.Mark(p.PersonID)
		if at := p.First(); first == 0 || at < first {
			first = at
		}
	}
	d.draw(v, c, before, cmp.Or(first, plan.Start))
	return d, nil
}

// draw adds the picture of two weeks from the first change, and the gaps that open and close.
func (d *planView) draw(v *page.Visit, c *cast, s schedule, first int64) {
	plan := d.Plan
	var lost, gained []picture.Piece
	for _, p := range plan.Persons {
		for _, s := range p.Lost {
			lost = append(lost, picture.Piece{Start: s.Start, End: s.End, Persons: []int64{p.PersonID}, Ghost: true})
		}
		for _, s := range p.Gained {
			gained = append(gained, picture.Piece{Start: s.Start, End: s.End, Persons: []int64{p.PersonID}})
		}
	}
	before := picture.WithGaps(c.final(s), plan.Start, plan.End)
	after := picture.Applied(before, lost, gained, plan.Start, plan.End)
	if d.ID != 0 {
		d.NewGaps, d.GoneGaps = gapsBeside(after, before), gapsBeside(before, after)
	} else {
		d.Left = slices.DeleteFunc(slices.Clone(after), func(p picture.Piece) bool { return len(p.Persons) > 0 })
	}
	days := picture.DaysFrom(first, usualDays, d.Zone)
	from, to := max(days[0].Start, plan.Start), min(days[len(days)-1].End, plan.End)
	p := newPainter(v, c, d.Zone)
	d.Axis = p.Axis(days, from, to)
	add := func(name, sub, class string, pieces []picture.Piece) {
		kind := "solid"
		if class == "sub lost" {
			kind = "soft lose"
		}
		d.Lanes = append(d.Lanes, laneView{name, sub, class,
			p.Bars(picture.LaneBars(pieces, from, to, 0), kind, 101, sliver, picture.LaneSliver)})
	}
	if d.ID == 0 {
		add(v.T("After saving"), v.T("your draft"), "final", after)
		return
	}
	add(v.T("As it is"), v.T("revision %d", d.Draft.Revision), "final", before)
	add(v.T("After saving"), v.T("your draft"), "final", after)
	add("− "+v.T("Off call"), v.T("who loses time"), "sub lost", lost)
	add("+ "+v.T("On call"), v.T("who gains time"), "sub", gained)
}

// gapsBeside returns the gaps of pieces at which someone is on call in others.
func gapsBeside(pieces, others []picture.Piece) (gaps []picture.Piece) {
	for _, p := range pieces {
		if len(p.Persons) > 0 {
			continue
		}
		for _, o := range others {
			from, until := max(p.Start, o.Start), min(p.End, o.End)
			if from >= until || len(o.Persons) == 0 {
				continue
			}
			if n := len(gaps); n > 0 && gaps[n-1].End == from {
				gaps[n-1].End = until
				continue
			}
			gaps = append(gaps, picture.Piece{Start: from, End: until})
		}
	}
	return slices.Clip(gaps)
}

// Touched returns how many persons the change concerns.
func (d planView) Touched() int {
	if d.Plan == nil {
		return 0
	}
	return len(d.Plan.Persons)
}
