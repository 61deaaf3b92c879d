package schedule

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
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
	Plan   *Plan `json:"plan,omitzero" doc:"With dry_run: who would gain and lose which shifts."`
	Revised
	Changed
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
	if err := needCalendars(c.Tx, s.AccountID, body.Layers, ""); err != nil {
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
	reply.Warnings, err = s.warnings(c.Tx, c.Who.Zone, c.Unix())
	if err != nil {
		return reply, err
	}
	rules, err := s.withoutPerson(c)
	reply.Warnings = append(reply.Warnings, rules...)
	if err != nil || !in.DryRun.DryRun {
		return reply, err
	}
	reply.DryRun, reply.Revision = true, before.Revision
	reply.Plan, err = plan(c, &before, s, window{from: c.Unix(), to: c.Unix() + maxWindow})
	return reply, err
}
