package schedule

import (
	"fmt"
	"slices"

	"tocsin/internal/absence"
	"tocsin/internal/api"
	"tocsin/internal/core/oncall"
)

// maxAffected is how many schedules the reply to a change of absences covers.
const maxAffected = 100

// AbsenceEffects implements absence.Service.Effects.
func AbsenceEffects(c *api.Call, person int64, before, after []oncall.Absence) (absence.Compute, error) {
	found, err := naming(c.Tx, c.Who.AccountID, person)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(s *stored) bool { return !slices.Contains(s.persons(), person) })
	more := len(found) - maxAffected
	found = found[:min(len(found), maxAffected)]
	for _, s := range found {
		if err := s.attach(c.Tx); err != nil {
			return nil, err
		}
	}
	return func(from, to int64) ([]absence.Effect, []string, error) {
		effects, warnings, err := absenceEffects(c, person, found, before, after, window{from: from, to: to})
		if more > 0 {
			warnings = append(warnings, fmt.Sprintf("effects: %d more schedules name the person, and their effects are not shown", more))
		}
		return effects, warnings, err
	}, nil
}

// absenceEffects computes the effects on schedules in a window.
func absenceEffects(c *api.Call, person int64, found []*stored, before, after []oncall.Absence, w window) (
	effects []absence.Effect, warnings []string, err error,
) {
	effects = []absence.Effect{}
	for _, s := range found {
		was, is := s.withAbsences(person, before), s.withAbsences(person, after)
		e, fits, err := is.absenceEffect(c, was, w)
		if err != nil {
			return nil, nil, err
		}
		if !fits {
			warnings = append(warnings, fmt.Sprintf("effects: schedule %d has too many shifts to show the effect", s.ScheduleID))
		}
		if len(e.Lost)+len(e.Gained)+len(e.Gaps) > 0 {
			effects = append(effects, e)
		}
	}
	return effects, warnings, nil
}

// withAbsences returns the schedule with other absences of a person.
func (s *stored) withAbsences(person int64, list []oncall.Absence) *stored {
	with := *s
	with.compiled = nil
	with.absences = slices.DeleteFunc(slices.Clone(s.absences), func(a oncall.Absence) bool { return a.PersonID == person })
	with.absences = append(with.absences, list...)
	return &with
}

// absenceEffect compares two versions of a schedule in a window. fits is false when they name too many persons to do so.
func (s *stored) absenceEffect(c *api.Call, was *stored, w window) (e absence.Effect, fits bool, err error) {
	e = absence.Effect{ScheduleID: s.ScheduleID, ScheduleName: s.Name}
	left := maxNamed
	old, had, err := was.finals(c, w, &left)
	if err != nil {
		return e, false, err
	}
	now, has, err := s.finals(c, w, &left)
	if err != nil || left < 0 {
		return e, false, err
	}
	gained, lost := oncall.Diff(old.Shifts(had), now.Shifts(has))
	e.Gained = absenceShifts(gained)
	e.Lost = absenceShifts(lost)
	e.Gaps = opened(had, has)
	return e, true, nil
}

// finals returns the schedule as the engine computes it, and its final timeline in a window.
func (s *stored) finals(c *api.Call, w window, left *budget) (*oncall.Schedule, []oncall.Piece, error) {
	e, err := s.engine(c.Who.Zone)
	if err != nil {
		return nil, nil, err
	}
	final := e.Window(w.from, w.to).Final
	left.spendAll(final)
	return e, final, nil
}

// absenceShifts converts shifts; those that touch are one.
func absenceShifts(list []oncall.Shift) []absence.Shift {
	out := []absence.Shift{}
	for _, s := range list {
		n := len(out) - 1
		if n >= 0 && out[n].PersonID == s.PersonID && out[n].RoleID == s.RoleID && out[n].End == s.Start {
			out[n].End = s.End
			continue
		}
		out = append(out, absence.Shift{PersonID: s.PersonID, RoleID: s.RoleID, Start: s.Start, End: s.End})
	}
	return out
}

// opened returns when someone was on call before and no one is after.
func opened(before, after []oncall.Piece) []absence.Gap {
	gaps := []absence.Gap{}
	add := func(start, end int64) {
		if n := len(gaps) - 1; n >= 0 && gaps[n].End == start {
			gaps[n].End = end
		} else if start < end {
			gaps = append(gaps, absence.Gap{Start: start, End: end})
		}
	}
	i := 0
	for _, b := range before {
		at := b.Start
		for i < len(after) && after[i].End <= at {
			i++
		}
		for j := i; j < len(after) && after[j].Start < b.End; j++ {
			if after[j].Start > at {
				add(at, after[j].Start)
			}
			at = max(at, after[j].End)
		}
		if at < b.End {
			add(at, b.End)
		}
	}
	return gaps
}
