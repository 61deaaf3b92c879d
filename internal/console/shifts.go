package console

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
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
	Absences []absence
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

type absence struct {
	ID    int64  `json:"absence_id"`
	Who   int64  `json:"person_id"`
	Start int64  `json:"start"`
	End   int64  `json:"end"`
	Note  string `json:"note"`
}

type absenceForm struct{ Start, End, Note string }

// absenceEffect is what an absence changes in one schedule.
type absenceEffect struct {
	ScheduleID int64         `json:"schedule_id"`
	Name       string        `json:"schedule_name"`
	Lost       []effectShift `json:"lost"`
	Gained     []effectShift `json:"gained"`
	Gaps       []planShift   `json:"gaps"`
}

type effectShift struct {
	PersonID int64  `json:"person_id"`
	Start    int64  `json:"start"`
	End      int64  `json:"end"`
	Name     string `json:"-"`
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
	var reply struct {
		Items []absence `json:"items"`
	}
	request := map[string]any{"person_ids": []int64{id}, "start": now, "limit": 100}
	if err := v.call("/person/absence/list", request, &reply); err != nil {
		return nil, err
	}
	d.Absences = reply.Items
	slices.Reverse(d.Absences)
	if v.r.Method == http.MethodPost {
		d.Form = absenceForm{v.field("start"), v.field("end"), v.field("note")}
	}
	d.Effects, d.Reviewed = v.effects, v.reviewed
	if d.MayWrite {
		d.Asking, err = v.covers(map[string]any{"person_id": id, "status": "open", "limit": 20})
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
	var own struct {
		Items []schedule `json:"items"`
	}
	if err := v.call("/schedule/self", map[string]any{"person_id": id, "start": from, "end": to}, &own); err != nil {
		return nil, err
	}
	for _, s := range own.Items {
		const margin = 7 * 86400 // so that shifts which begin before the window or end after it have their true times
		s, err = v.schedule(s.ID, from-margin, to+margin)
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
			row := shiftRow{ScheduleID: s.ID, Name: s.Name, Start: p.Start, End: p.End, Origin: p.Origin}
			row.With = c.marks(slices.DeleteFunc(slices.Clone(p.Persons), func(other int64) bool { return other == id }))
			row.shiftLinks = v.shiftLinks(s, p)
			if v.MayPlan() && id != v.who.PersonID {
				row.Cover = overrideLink(s.ID, p, id, 0)
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
	var reply struct {
		Effects []absenceEffect `json:"effects"`
	}
	err := v.call("/person/absence/create", map[string]any{
		"person_id": id, "start": localMoment(v.field("start"), v.Zone), "end": localMoment(v.field("end"), v.Zone),
		"note": v.field("note"), "dry_run": review,
	}, &reply)
	if err != nil || !review {
		return "/people/" + strconv.FormatInt(id, 10) + "/shifts", err
	}
	v.effects, v.reviewed = reply.Effects, true
	return "", v.nameEffects()
}

// nameEffects adds the names of persons to effects.
func (v *visit) nameEffects() error {
	c := v.newCast()
	for _, e := range v.effects {
		for _, s := range slices.Concat(e.Lost, e.Gained) {
			c.addPersons(s.PersonID)
		}
	}
	if err := c.load(); err != nil {
		return err
	}
	for i := range v.effects {
		for _, list := range [][]effectShift{v.effects[i].Lost, v.effects[i].Gained} {
			for j := range list {
				list[j].Name = c.mark(list[j].PersonID).Name
			}
		}
	}
	return nil
}

func deleteAbsence(v *visit) (string, error) {
	err := v.call("/person/absence/delete", map[string]any{"absence_id": number(v.field("absence"))}, nil)
	return "/people/" + v.r.PathValue("id") + "/shifts", err
}
