package schedule

import (
	"cmp"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/oncall"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// OverrideCreateRequest asks for a new override, or what it would change.
type OverrideCreateRequest struct {
	ScheduleID int64 `json:"schedule_id" minimum:"1" doc:"The schedule."`
	OverrideBody
	IfRevision
	api.DryRun
}

// OverrideCreated is the reply of /schedule/override/create.
type OverrideCreated struct {
	OverrideID int64 `json:"override_id,omitzero" doc:"Identifier of the new override; absent with dry_run."`
	OverrideReply
}

func (r *Service) overrideCreate(c *api.Call, in OverrideCreateRequest) (reply OverrideCreated, err error) {
	if err := in.required(); err != nil {
		return reply, err
	}
	s, err := get(c.Tx, c.Who.AccountID, in.ScheduleID)
	if err != nil {
		return reply, err
	}
	if err := in.IfRevision.check(s); err != nil {
		return reply, err
	}
	role := oncall.AnyRole
	o := Override{RoleID: &role}
	in.applyTo(&o)
	reply.OverrideReply, err = r.add(c, s, &o, in.DryRun.Only)
	if err == nil && !in.DryRun.Only {
		reply.OverrideID = o.OverrideID
	}
	return reply, err
}

// add checks a new override of a schedule, stores it, and notifies the persons concerned.
func (r *Service) add(c *api.Call, s *stored, o *Override, dryRun bool) (reply OverrideReply, err error) {
	o.AccountID = s.AccountID
	o.ScheduleID = s.ScheduleID
	o.CreateAt = c.Unix()
	o.CreateBy = c.Who.PersonID
	o.stamp(c)
	if err := configstore.FirstError(o.check(""), o.checkNow(c.Tx, c.Unix()), s.checkRoom(c.Unix())); err != nil {
		return reply, err
	}
	if err := s.revise(c.Tx); err != nil {
		return reply, err
	}
	o.Revision = s.Revision
	for done := false; !done; {
		o.OverrideID = id.Number()
		done, err = o.insert(c.Tx, s.Name)
		if err != nil {
			return reply, err
		}
	}
	if err := s.forgetOldest(c); err != nil {
		return reply, err
	}
	c.Touched(configstore.Schedule, s.ScheduleID, s.Name)
	c.Touched(configstore.Override, o.OverrideID, o.called())
	warnings := o.warnings(s)
	reply, err = r.changed(c, s, append(slices.Clone(s.overrides), *o), []OverrideChange{{After: o}}, dryRun)
	reply.Warnings.Warnings = sentence.ToWords(warnings)
	return reply, err
}

// applyTo copies the members that are set to an override.
func (b OverrideBody) applyTo(o *Override) {
	configstore.SetIfSent(&o.PersonID, b.PersonID)
	if b.RoleID != nil {
		o.RoleID = b.RoleID
	}
	configstore.SetIfSent(&o.By, b.By)
	configstore.SetIfSent(&o.Start, b.Start)
	configstore.SetIfSent(&o.End, b.End)
	configstore.SetIfSent(&o.Reason, b.Reason)
}

// checkRoom returns fault.Invalid when the schedule has no room for another override.
func (s *stored) checkRoom(now int64) error {
	n := 0
	for i := range s.overrides {
		if live(&s.overrides[i], now) {
			n++
		}
	}
	if n >= maxOverrides {
		return fault.Invalid("schedule_id", "schedule %d has %d overrides that are not past, and at most %d are allowed", s.ScheduleID, n,
			maxOverrides)
	}
	return s.checkCovered("schedule_id", 1)
}

// checkCovered returns fault.Invalid when the schedule, with this many more overrides, has too many for the persons whom
// it names. Each override has a group of its own wherever it begins or ends, so that the two together decide what it
// costs to compute who is on call.
func (s *stored) checkCovered(field string, more int) error {
	persons := 0
	for i := range s.Layers {
		for _, g := range s.Layers[i].Groups {
			for _, m := range g.Members {
				persons += len(m.PersonIDs)
			}
		}
	}
	if n := len(s.overrides) + more; n*persons > maxCovered {
		return fault.Invalid(field, "%d overrides of a schedule that names persons %d times cost much: the product must be %d at most, got %d",
			n, persons, maxCovered, n*persons)
	}
	return nil
}

// forgetOldest deletes the oldest past overrides beyond maxPastOverrides, because each of them costs time whenever the
// timeline is computed.
func (s *stored) forgetOldest(c *api.Call) error {
	past := slices.DeleteFunc(slices.Clone(s.overrides), func(o Override) bool { return live(&o, c.Unix()) })
	slices.SortFunc(past, func(a, b Override) int {
		return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.OverrideID, b.OverrideID))
	})
	for i := range max(len(past)-maxPastOverrides, 0) {
		if err := eraseOverride(c.Tx, s.AccountID, past[i].OverrideID); err != nil {
			return err
		}
	}
	return nil
}
