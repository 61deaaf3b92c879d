package schedule

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/fault"
)

// UpdateRequest asks for a change of a schedule, or what it would do.
type UpdateRequest struct {
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
	before, after *stored // until its completion
}

func (r *Service) update(c *api.Call, in UpdateRequest) (reply Updated, err error) {
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
	body.Notify, err = body.Notify.sealed(r.Keyring, s.Stamps)
	if err != nil {
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
	reply.before, reply.after = &before, s
	if in.DryRun.Only {
		reply.DryRun, reply.Revision = true, before.Revision
	}
	return reply, nil
}

// Completion returns what computes the warnings about the changed schedule, and the plan: of a dry run, and of a change of who is
// on call now, because that takes the present shift and the past from persons. A change that is stored with too many shifts to
// list them has no plan. A disabled schedule has no shifts when it is enabled, or was until it was disabled.
func (u *Updated) Completion() func(*api.Call) error {
	return func(c *api.Call) error {
		changes, err := u.warn(c)
		if err != nil || !u.DryRun && !changes {
			return err
		}
		before, after := u.before, u.after
		if before.Status < after.Status {
			after = after.withoutLayers()
		} else if before.Status > after.Status {
			before = before.withoutLayers()
		}
		plan := newPlan(before, after, window{from: c.Unix(), to: c.Unix() + maxWindow})
		err = plan.complete(c)
		if !u.DryRun && fault.KindOf(err) == fault.InvalidParameter {
			return nil
		}
		u.Plan = plan
		return err
	}
}

// warn adds the warnings, and reports whether who is on call now changes.
func (u *Updated) warn(c *api.Call) (changes bool, err error) {
	changed, err := changesNow(c, u.before, u.after)
	if err != nil {
		return false, err
	}
	why, err := u.after.withoutPerson(c.Who.Zone, c.Unix())
	if err != nil {
		return false, err
	}
	var first []sentence.Value
	var known named
	err = c.Read(func() error {
		words, err := changed.words(c, u.before.Status != u.after.Status)
		if err != nil {
			return err
		}
		rules, err := u.after.paged(c, why)
		if err != nil {
			return err
		}
		first = words // a reply lists only the first warnings
		for _, text := range rules {
			first = append(first, sentence.Raw(text))
		}
		known, err = u.after.named(c.Tx)
		return err
	})
	if err != nil {
		return false, err
	}
	warnings, err := u.after.warnings(known, c.Who.Zone, c.Unix())
	u.Warnings = api.Warn(slices.Concat(first, warnings))
	return changed != nil, err
}
