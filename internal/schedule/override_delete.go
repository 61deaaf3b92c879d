package schedule

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
)

// OverrideDeleteRequest asks to delete overrides, or what that would change.
type OverrideDeleteRequest struct {
	OverrideIDs []int64 `json:"override_ids" minItems:"1" maxItems:"500" doc:"The overrides, 1 to 500."`
	IfRevision
	api.DryRun
}

// OverridesDeleted is the reply of /schedule/override/delete.
type OverridesDeleted struct {
	DryRun    bool               `json:"dry_run,omitzero" doc:"Nothing was changed; plan of each schedule shows the effect."`
	Schedules []scheduleRevision `json:"schedules" doc:"The schedules of the overrides, in the order of the request."`
}

// scheduleRevision is a schedule whose overrides were deleted.
type scheduleRevision struct {
	ScheduleID int64 `json:"schedule_id" doc:"The schedule."`
	Revised
	Plan *Plan `json:"plan,omitzero" doc:"With dry_run: who would gain and lose which shifts."`
}

// Completion returns what computes the plans of a dry run.
func (r *OverridesDeleted) Completion() func(*api.Call) error {
	if !slices.ContainsFunc(r.Schedules, func(s scheduleRevision) bool { return s.Plan != nil }) {
		return nil
	}
	return func(c *api.Call) error {
		for _, s := range r.Schedules {
			if err := s.Plan.complete(c); err != nil {
				return err
			}
		}
		return nil
	}
}

// overrideDelete deletes overrides of one or several schedules. An error rolls the transaction back, so that none is
// deleted.
func (r *Service) overrideDelete(c *api.Call, in OverrideDeleteRequest) (reply OverridesDeleted, err error) {
	gone := map[int64][]OverrideChange{} // by schedule
	var schedules []*stored
	for _, id := range distinct(in.OverrideIDs) {
		o, s, err := getOverride(c.Tx, c.Who.AccountID, id)
		if err != nil {
			return reply, err
		}
		if gone[s.ScheduleID] == nil {
			schedules = append(schedules, s)
		}
		gone[s.ScheduleID] = append(gone[s.ScheduleID], OverrideChange{Before: &o})
		c.Removed(configstore.Override, id, o.called())
	}
	if in.IfRevision.Expected != 0 && len(schedules) > 1 {
		return reply, fault.Invalid("if_revision", "must be absent with overrides of %d schedules: each has a revision of its own",
			len(schedules))
	}
	reply.DryRun, reply.Schedules = in.DryRun.Only, make([]scheduleRevision, len(schedules))
	for i, s := range schedules {
		if err := in.IfRevision.check(s); err != nil {
			return reply, err
		}
		changes := gone[s.ScheduleID]
		if err := s.revise(c.Tx); err != nil {
			return reply, err
		}
		for _, change := range changes {
			if err := eraseOverride(c.Tx, s.AccountID, change.Before.OverrideID); err != nil {
				return reply, err
			}
		}
		c.Touched(configstore.Schedule, s.ScheduleID, s.Name)
		after := slices.DeleteFunc(slices.Clone(s.overrides), func(o Override) bool {
			return slices.ContainsFunc(changes, func(g OverrideChange) bool { return g.Before.OverrideID == o.OverrideID })
		})
		done, err := r.changed(c, s, after, changes, in.DryRun.Only)
		if err != nil {
			return reply, err
		}
		reply.Schedules[i] = scheduleRevision{s.ScheduleID, done.Revised, done.Plan}
	}
	return reply, nil
}
