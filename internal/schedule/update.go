package schedule

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
)

type updateRequest struct {
	ScheduleID int64 `json:"schedule_id" doc:"The schedule to change."`
	IfRevision
	Body
	Window
	api.DryRun
}

// Updated is the reply of /schedule/update.
type Updated struct {
	DryRun bool  `json:"dry_run,omitzero" doc:"Nothing was changed; plan shows the effect."`
	Plan   *Plan `json:"plan,omitzero" doc:"With dry_run, and when who is on call now changes: who gains and loses which shifts."`
	Revised
	api.Warnings
	plan *Plan // until its completion; nil: none
}

func (r *Service) update(c *api.Call, in updateRequest) (reply Updated, err error) {
	if _, err := in.parse(maxWindow); err != nil {
		return reply, err
	}
	body, err := in.normalise("")
	if err != nil {
		return reply, err
	}
	s, err := get(c.Tx, c.Who.AccountID, in.ScheduleID)
	if err != nil {
		return reply, err
	}
	if err := in.IfRevision.check(s); err != nil {
		return reply, err
	}
	before := *s
	if body.Notify, err = body.Notify.sealed(r.Keyring, s.Stamps); err != nil {
		return reply, err
	}
	body.applyTo(s)
	if err := s.checkCovered("layers", 0); err != nil {
		return reply, err
	}
	if err := needCalendars(c.Tx, s.AccountID, body.layers(), ""); err != nil {
		return reply, err
	}
	if err := s.readCalendars(c.Tx, c.Who.AccountID); err != nil {
		return reply, err
	}
	s.UpdateAt, s.UpdateBy = c.Unix(), c.Who.PersonID
	if err := s.update(c.Tx); err != nil {
		return reply, err
	}
	from, to := s.references()
	if err := configstore.SetReferences(c.Tx, s.AccountID, from, to...); err != nil {
		return reply, err
	}
	if err := s.attachAbsences(c.Tx); err != nil {
		return reply, err
	}
	c.Touched(configstore.Schedule, s.ScheduleID, s.Name)
	reply.Revision = s.Revision
	if in.DryRun.Only {
		reply.DryRun, reply.Revision = true, before.Revision
	}
	err = reply.describe(c, &before, s)
	return reply, err
}

// describe adds the warnings about a changed schedule, and the plan: of a dry run, and of a change of who is on call now,
// because that takes the present shift and the past from persons.
func (u *Updated) describe(c *api.Call, before, after *stored) error {
	warnings, err := after.warnings(c.Tx, c.Who.Zone, c.Unix())
	if err != nil {
		return err
	}
	changes, err := changesNow(c, before, after)
	if err != nil {
		return err
	}
	rules, err := after.withoutPerson(c)
	if err != nil {
		return err
	}
	u.Warnings = api.Warn(slices.Concat(changes, rules, warnings)) // the reply lists only the first ones
	if u.DryRun || changes != nil {
		u.plan = newPlan(before, after, window{from: c.Unix(), to: c.Unix() + maxWindow})
	}
	return nil
}

// Completion returns what computes the plan. A change with too many shifts to list them is possible, so it has none.
func (u *Updated) Completion() func(*api.Call) error {
	if u.plan == nil {
		return nil
	}
	return func(c *api.Call) error {
		err := u.plan.complete(c)
		if !u.DryRun && fault.KindOf(err) == fault.InvalidParameter {
			return nil
		}
		u.Plan = u.plan
		return err
	}
}
