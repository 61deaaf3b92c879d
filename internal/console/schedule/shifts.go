package schedule

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/absence"
	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
	schedules "tocsin/internal/schedule"
)

// shiftsView is when a person is on call, in all schedules, and when the person cannot be.
type shiftsView struct {
	page.Titled
	Person   page.Person
	Mine     bool
	MayWrite bool
	From, To int64
	Later    string
	Shifts   []shiftRow
	Absences []absence.Absence
	Form     absenceForm
	Effects  []absenceEffect
	Reviewed bool
	Asking   page.Listed[CoverRow] // the person's open requests for cover
	ForMe    page.Listed[CoverRow] // that wait for the reader's answer, on their own page
}

type shiftRow struct {
	ScheduleID int64
	Name       string
	Start, End int64
	Origin     string
	With       []picture.Mark
	Cover      string
	shiftLinks
}

// absenceForm is the form of a new absence, or of one that exists.
type absenceForm struct {
	Start, End, Note string
	AbsenceID        int64 // 0: a new one
}

// absenceEffect is what an absence changes in one schedule.
type absenceEffect struct {
	absence.Effect
	Lost, Gained []effectShift
}

// effectShift is a shift with the name of its person.
type effectShift struct {
	absence.Shift
	Name string
}

// shiftDays is how far the list of shifts reaches: the longest window of /schedule/self.
const shiftDays = 30

func showShifts(v *page.Visit) (page.View, error) {
	id := v.ID()
	people, err := v.People([]int64{id})
	if err != nil {
		return nil, err
	}
	now := v.Now.Unix()
	d := shiftsView{Person: people[id], Mine: id == v.Who.PersonID, From: max(now, min(page.Number(v.Query("from")), now+400*86400))}
	if d.Person.ID == 0 {
		d.Person = page.Person{ID: id, Name: v.T("person %d", id)}
	}
	d.Titled, d.MayWrite = page.Titled(v.T("Shifts of %s", d.Person.Name)), d.Mine || v.MayPlan()
	d.To = d.From + shiftDays*86400
	d.Later = "/people/" + strconv.FormatInt(id, 10) + "/shifts?from=" + strconv.FormatInt(d.To, 10)
	d.Shifts, err = shiftsOf(v, id, d.From, d.To)
	if err != nil {
		return nil, err
	}
	d.Absences, err = absencesOf(v, absence.ListRequest{PersonIDs: []int64{id}, Start: now})
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(d.Absences, func(a absence.Absence) bool { return a.AbsenceID == page.Number(v.Query("absence")) })
	switch {
	case v.Request.Method == http.MethodPost:
		d.Form = absenceForm{v.Field("start"), v.Field("end"), v.Field("note"), v.Number("absence")}
	case at >= 0:
		a := d.Absences[at]
		d.Form = absenceForm{v.Local(time.Unix(a.Start, 0)), v.Local(time.Unix(a.End, 0)), a.Note, a.AbsenceID}
	}
	d.Effects, d.Reviewed = outcomeOf(v).effects, outcomeOf(v).reviewed
	if d.MayWrite {
		d.Asking, err = covers(v, schedules.CoverListRequest{PersonID: id, Status: schedules.CoverOpen, Page: api.Page{Limit: 20}})
		if err != nil {
			return nil, err
		}
	}
	if d.Mine {
		d.ForMe, err = CoversForMe(v)
	}
	return d, err
}

// shiftsOf returns the shifts of a person in a window, in order.
func shiftsOf(v *page.Visit, id, from, to int64) (rows []shiftRow, err error) {
	request := schedules.SelfRequest{PersonID: id, Window: schedules.Window{Start: &from, End: &to}}
	own, err := page.Call[api.Items[schedules.Schedule]](v, "/schedule/self", request)
	if err != nil {
		return nil, err
	}
	for _, named := range own.Items {
		const margin = 7 * 86400 // so that shifts which begin before the window or end after it have their true times
		s, err := readSchedule(v, named.ScheduleID, from-margin, to+margin)
		if err != nil {
			return nil, err
		}
		c := newCast(v)
		c.add(s)
		if err := c.load(); err != nil {
			return nil, err
		}
		for _, p := range c.final(s) {
			if !slices.Contains(p.Persons, id) || p.End <= from || p.Start >= to {
				continue
			}
			row := shiftRow{ScheduleID: s.ScheduleID, Name: s.Name(), Start: p.Start, End: p.End, Origin: p.Origin}
			row.With = c.Marks(slices.DeleteFunc(slices.Clone(p.Persons), func(other int64) bool { return other == id }))
			row.shiftLinks = shiftLinksOf(v, s, p)
			if v.MayPlan() && id != v.Who.PersonID {
				row.Cover = overrideLink(s.ScheduleID, p, id, 0)
			}
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b shiftRow) int { return cmp.Compare(a.Start, b.Start) })
	return rows, nil
}

// makeAbsence shows what an absence, new or changed, would change, or records it.
func makeAbsence(v *page.Visit) (string, error) {
	id := v.ID()
	review := v.Field("do") == "review"
	reply, err := recordAbsence(v, api.DryRun{Only: review}, absence.Body{
		Start: new(localMoment(v.Field("start"), v.Zone)), End: new(localMoment(v.Field("end"), v.Zone)), Note: new(v.Field("note")),
	})
	if err != nil || !review {
		return "/people/" + strconv.FormatInt(id, 10) + "/shifts", err
	}
	outcomeOf(v).reviewed = true
	outcomeOf(v).effects, err = namedEffects(v, reply.Effects)
	return "", err
}

// recordAbsence changes the absence that the form names, or makes one.
func recordAbsence(v *page.Visit, try api.DryRun, body absence.Body) (absence.Changed, error) {
	if one := v.Number("absence"); one != 0 {
		return page.Call[absence.Changed](v, "/person/absence/update", absence.UpdateRequest{AbsenceID: one, DryRun: try, Body: body})
	}
	reply, err := page.Call[absence.Created](v, "/person/absence/create", absence.CreateRequest{PersonID: v.ID(), DryRun: try, Body: body})
	return reply.Changed, err
}

// namedEffects returns effects with the names of persons.
func namedEffects(v *page.Visit, list []absence.Effect) ([]absenceEffect, error) {
	c := newCast(v)
	for _, e := range list {
		for _, s := range slices.Concat(e.Lost, e.Gained) {
			c.AddPersons(s.PersonID)
		}
	}
	if err := c.load(); err != nil {
		return nil, err
	}
	named := func(list []absence.Shift) (shifts []effectShift) {
		for _, s := range list {
			shifts = append(shifts, effectShift{s, c.Mark(s.PersonID).Name})
		}
		return shifts
	}
	effects := make([]absenceEffect, len(list))
	for i, e := range list {
		effects[i] = absenceEffect{e, named(e.Lost), named(e.Gained)}
	}
	return effects, nil
}

func deleteAbsence(v *page.Visit) (string, error) {
	err := page.Do[absence.Changed](v, "/person/absence/delete", absence.DeleteRequest{AbsenceID: v.Number("absence")})
	return "/people/" + v.Request.PathValue("id") + "/shifts", err
}
