package schedule

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/sentence"
)

type overrideUpdateRequest struct {
	OverrideID int64 `json:"override_id" doc:"The override to change."`
	OverrideBody
	IfRevision
	api.DryRun
}

// OverrideUpdated is the reply of /schedule/override/update.
type OverrideUpdated struct{ OverrideReply }

func (r *Service) overrideUpdate(c *api.Call, in overrideUpdateRequest) (reply OverrideUpdated, err error) {
	before, s, err := getOverride(c.Tx, c.Who.AccountID, in.OverrideID)
	if err != nil {
		return reply, err
	}
	if err := in.IfRevision.check(s); err != nil {
		return reply, err
	}
	o := before
	in.applyTo(&o)
	o.stamp(c)
	if err := configstore.FirstError(o.check(""), o.checkNow(c.Tx, c.Unix())); err != nil {
		return reply, err
	}
	if !live(&before, c.Unix()) {
		if err := s.checkRoom(c.Unix()); err != nil {
			return reply, err
		}
	}
	if err := s.revise(c.Tx); err != nil {
		return reply, err
	}
	o.Revision = s.Revision
	if err := o.update(c.Tx, s.Name); err != nil {
		return reply, err
	}
	c.Touched(configstore.Schedule, s.ScheduleID, s.Name)
	c.Touched(configstore.Override, o.OverrideID, o.called())
	warnings, after := o.warnings(s), slices.Clone(s.overrides)
	for i := range after {
		if after[i].OverrideID == o.OverrideID {
			after[i] = o
		}
	}
	reply.OverrideReply, err = r.changed(c, s, after, []OverrideChange{{Before: &before, After: &o}}, in.DryRun.Only)
	reply.Warnings.Warnings = sentence.ToWords(warnings)
	return reply, err
}
