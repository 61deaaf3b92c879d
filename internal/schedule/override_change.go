package schedule

import (
	"slices"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/core/oncall"
	"tocsin/internal/platform/db"
)

// OverrideChanges are changes of the overrides of one schedule by one call, for the notifications about them.
type OverrideChanges struct {
	Account, Schedule int64
	Revision          int64 // of the schedule, after them
	Actor             int64 // the person who made them
	Changes           []OverrideChange
}

// OverrideChange is one of them. Before is nil for a new override, After for one that was deleted.
type OverrideChange struct {
	Before, After *Override
	Replaced      []int64 // the persons who are replaced before or after it, each once
}

// OverrideReply is the part that the replies of all changes of overrides have.
type OverrideReply struct {
	DryRun bool  `json:"dry_run,omitzero" doc:"Nothing was changed; plan shows the effect."`
	Plan   *Plan `json:"plan,omitzero" doc:"With dry_run: who would gain and lose which shifts."`
	Revised
	api.Warnings
}

// Completion returns what computes the plan of a dry run.
func (r *OverrideReply) Completion() func(*api.Call) error { return r.Plan.completion() }

// changed completes a change of the overrides of a schedule: it counts the change, checks that the timeline is still valid,
// and notifies the persons concerned. s has the overrides as they were, and its revision is that of the change already.
func (r *Service) changed(c *api.Call, s *stored, after []Override, changes []OverrideChange, dryRun bool) (
	reply OverrideReply, err error,
) {
	was, will := *s, *s
	will.overrides = after
	reply.Revision = s.Revision
	if dryRun {
		reply.DryRun, reply.Revision = true, s.Revision-1
		reply.Plan = newPlan(&was, &will, span(changes, c.Unix()))
		return reply, nil
	}
	list := OverrideChanges{Account: s.AccountID, Schedule: s.ScheduleID, Revision: s.Revision, Actor: c.Who.PersonID}
	for _, change := range changes {
		if live(change.Before, c.Unix()) || live(change.After, c.Unix()) {
			change.Replaced, err = change.replaced(s, after, c)
			if err != nil {
				return reply, err
			}
			list.Changes = append(list.Changes, change)
		}
	}
	if r.Overridden == nil || len(list.Changes) == 0 || s.Status != 0 {
		return reply, nil
	}
	return reply, r.Overridden(c.Tx, list, c.Now)
}

// live reports whether an override is not past.
func live(o *Override, now int64) bool { return o != nil && o.End > now }

// span returns the window in which changes have an effect.
func span(changes []OverrideChange, now int64) window {
	w := window{from: 0, to: now + 1}
	for _, change := range changes {
		for _, o := range []*Override{change.Before, change.After} {
			if !live(o, now) {
				continue
			}
			start := max(o.Start, now)
			if w.from == 0 || start < w.from {
				w.from = start
			}
			w.to = max(w.to, o.End)
		}
	}
	if w.from == 0 {
		w.from = now
	}
	return w
}

// replaced returns the persons whom an override replaces, before the change or after it.
func (change OverrideChange) replaced(s *stored, after []Override, c *api.Call) (persons []int64, err error) {
	for _, version := range []struct {
		o   *Override
		all []Override
	}{{change.Before, s.overrides}, {change.After, after}} {
		if !live(version.o, c.Unix()) {
			continue
		}
		if version.o.PersonID != 0 {
			persons = append(persons, version.o.PersonID)
			continue
		}
		without := *s
		without.overrides = slices.DeleteFunc(slices.Clone(version.all), func(o Override) bool { return o.OverrideID == version.o.OverrideID })
		holders, err := without.holders(c.Who.Zone, version.o.role(), window{from: max(version.o.Start, c.Unix()), to: version.o.End})
		if err != nil {
			return nil, err
		}
		persons = append(persons, slices.DeleteFunc(holders, func(p int64) bool { return p == version.o.By })...)
	}
	return distinct(persons), nil
}

// holders returns the persons who are on call in a role at some time in a window, in order of appearance.
func (s *stored) holders(account *time.Location, role int64, w window) (persons []int64, err error) {
	e, err := s.engine(account)
	if err != nil {
		return nil, err
	}
	for _, p := range e.Window(w.from, w.to).Final {
		for _, m := range p.Group.Members {
			if m.RoleID == role || role == oncall.AnyRole {
				persons = append(persons, m.PersonIDs...)
			}
		}
		persons = distinct(persons)
	}
	return persons, nil
}

// Overridden is called with changes of overrides in the transaction that makes them.
type Overridden func(tx *db.Tx, changes OverrideChanges, now time.Time) error
