package console

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"

	"tocsin/internal/absence"
	"tocsin/internal/api"
	schedules "tocsin/internal/schedule"
)

// shiftsView is when a person is on call, in all schedules, and when the person cannot be.
type shiftsView struct {
	titled
	Person   profile
	Mine     bool
	MayWrite bool
	From, To int64
	Later    string
	Shifts   []shiftRow
	Absences []absence.Absence
	Form     absenceForm
	Effects  []absenceEffect
	Reviewed bool
	Asking   listed[coverRow] // the person's open requests for cover
	ForMe    listed[coverRow] // that wait for the reader's answer, on their own page
}

type shiftRow struct {
	ScheduleID int64
	Name       string
	Start, End int64
	Origin     string
	With       []mark
	Cover      string
	shiftLinks
}

type absenceForm struct{ Start, End, Note string }

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

func showShifts(v *visit) (view, error) {
	id := number(v.r.PathValue("id"))
	people, err := v.people([]int64{id})
	if err != nil {
		return nil, err
	}
	now := v.Now.Unix()
	d := shiftsView{Person: people[id], Mine: id == v.who.PersonID, From: max(now, min(number(v.query("from")), now+400*86400))}
	if d.Person.ID == 0 {
		d.Person = profile{ID: id, Name: v.T("person %d", id)}
	}
	d.titled, d.MayWrite = titled(v.T("Shifts of %s", d.Person.Name)), d.Mine || v.MayPlan()
	d.To = d.From + shiftDays*86400
	d.Later = "/people/" + strconv.FormatInt(id, 10) + "/shifts?from=" + strconv.FormatInt(d.To, 10)
	d.Shifts, err = v.shiftsOf(id, d.From, d.To)
	if err != nil {
		return nil, err
	}
	d.Absences, err = v.absencesOf(absence.ListRequest{PersonIDs: []int64{id}, Start: now})
	if err != nil {
		return nil, err
	}
	if v.r.Method == http.MethodPost {
		d.Form = absenceForm{v.field("start"), v.field("end"), v.field("note")}
	}
	d.Effects, d.Reviewed = v.effects, v.reviewed
	if d.MayWrite {
		d.Asking, err = v.covers(schedules.CoverListRequest{PersonID: id, Status: schedules.CoverOpen, Page: api.Page{Limit: 20}})
		if err != nil {
			return nil, err
		}
	}
	if d.Mine {
		d.ForMe, err = v.coversForMe()
	}
	return d, err
}

// shiftsOf returns the shifts of a person in a window, in order.
func (v *visit) shiftsOf(id, from, to int64) (rows []shiftRow, err error) {
	request := schedules.SelfRequest{PersonID: id, Window: schedules.Window{Start: &from, End: &to}}
	own, err := call[api.Items[schedules.Schedule]](v, "/schedule/self", request)
	if err != nil {
		return nil, err
	}
	for _, named := range own.Items {
		const margin = 7 * 86400 // so that shifts which begin before the window or end after it have their true times
		s, err := v.schedule(named.ScheduleID, from-margin, to+margin)
		if err != nil {
			return nil, err
		}
		c := v.newCast()
		c.add(s)
		if err := c.load(); err != nil {
			return nil, err
		}
		for _, p := range c.final(s) {
			if !slices.Contains(p.Persons, id) || p.End <= from || p.Start >= to {
				continue
			}
			row := shiftRow{ScheduleID: s.ScheduleID, Name: s.Name(), Start: p.Start, End: p.End, Origin: p.Origin}
			row.With = c.marks(slices.DeleteFunc(slices.Clone(p.Persons), func(other int64) bool { return other == id }))
			row.shiftLinks = v.shiftLinks(s, p)
			if v.MayPlan() && id != v.who.PersonID {
				row.Cover = overrideLink(s.ScheduleID, p, id, 0)
			}
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b shiftRow) int { return cmp.Compare(a.Start, b.Start) })
	return rows, nil
}

// makeAbsence shows what an absence would change, or records it.
func makeAbsence(v *visit) (string, error) {
	id := number(v.r.PathValue("id"))
	review := v.field("do") == "review"
	request := absence.CreateRequest{PersonID: id, DryRun: api.DryRun{Only: review}, Body: absence.Body{
		Start: new(localMoment(v.field("start"), v.Zone)), End: new(localMoment(v.field("end"), v.Zone)), Note: new(v.field("note")),
	}}
	reply, err := call[absence.Created](v, "/person/absence/create", request)
	if err != nil || !review {
		return "/people/" + strconv.FormatInt(id, 10) + "/shifts", err
	}
	v.reviewed = true
	v.effects, err = v.namedEffects(reply.Effects)
	return "", err
}

// namedEffects returns effects with the names of persons.
func (v *visit) namedEffects(list []absence.Effect) ([]absenceEffect, error) {
	c := v.newCast()
	for _, e := range list {
		for _, s := range slices.Concat(e.Lost, e.Gained) {
			c.addPersons(s.PersonID)
		}
	}
	if err := c.load(); err != nil {
		return nil, err
	}
	named := func(list []absence.Shift) (shifts []effectShift) {
		for _, s := range list {
			shifts = append(shifts, effectShift{s, c.mark(s.PersonID).Name})
		}
		return shifts
	}
	effects := make([]absenceEffect, len(list))
	for i, e := range list {
		effects[i] = absenceEffect{e, named(e.Lost), named(e.Gained)}
	}
	return effects, nil
}

func deleteAbsence(v *visit) (string, error) {
	err := do[absence.Changed](v, "/person/absence/delete", absence.DeleteRequest{AbsenceID: number(v.field("absence"))})
	return "/people/" + v.r.PathValue("id") + "/shifts", err
}
