package schedule

import (
	"fmt"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// CreateRequest asks for a new schedule, or what it would be.
type CreateRequest struct {
	ScheduleID int64 `json:"schedule_id,omitzero" doc:"Not used, which a warning names: only /schedule/update changes a schedule."`
	Body
	Window
	api.DryRun
}

// Created is the reply of /schedule/create.
type Created struct {
	DryRun     bool  `json:"dry_run,omitzero" doc:"Nothing was created; plan shows the effect."`
	Plan       *Plan `json:"plan,omitzero" doc:"With dry_run: who would have which shifts."`
	ScheduleID int64 `json:"schedule_id" doc:"Identifier of the new schedule; 0 with dry_run."`
	Revision   int64 `json:"revision" doc:"Its revision: 1."`
	api.Warnings

	made    *stored // until its completion
	ignored int64   // the schedule_id of the request
}

func (r *Service) create(c *api.Call, in CreateRequest) (Created, error) {
	if _, err := in.parse(maxWindow); err != nil {
		return Created{}, err
	}
	body, err := in.normalise("")
	if err != nil {
		return Created{}, err
	}
	if body.ScheduleName == "" {
		return Created{}, fault.Invalid("schedule_name", "is required, 1 to %d characters, under this name or as name", maxName)
	}
	s := stored{Stamps: Stamps{AccountID: c.Who.AccountID, CreateAt: c.Unix(), CreateBy: c.Who.PersonID, UpdateAt: c.Unix(),
		UpdateBy: c.Who.PersonID}, Revision: 1}
	body.applyTo(&s)
	if err := needCalendars(c.Tx, s.AccountID, s.Layers, ""); err != nil {
		return Created{}, err
	}
	if err := s.readCalendars(c.Tx, c.Who.AccountID); err != nil {
		return Created{}, err
	}
	for done := false; !done; {
		s.ScheduleID = id.Number()
		s.Notify, err = body.Notify.sealed(r.Keyring, s.Stamps)
		if err != nil {
			return Created{}, err
		}
		done, err = s.insert(c.Tx)
		if err != nil {
			return Created{}, err
		}
	}
	c.Touched(configstore.Schedule, s.ScheduleID, s.Name)
	from, to := s.references()
	if err := configstore.AddReferences(c.Tx, s.AccountID, from, to...); err != nil {
		return Created{}, err
	}
	if err := s.attachAbsences(c.Tx); err != nil {
		return Created{}, err
	}
	reply := Created{DryRun: in.DryRun.Only, Revision: s.Revision, made: &s, ignored: in.ScheduleID}
	if !in.DryRun.Only {
		reply.ScheduleID = s.ScheduleID
	}
	return reply, nil
}

// Completion returns what computes the warnings, and the plan of a dry run.
func (r *Created) Completion() func(*api.Call) error {
	return func(c *api.Call) error {
		var known named
		err := c.Read(func() (err error) {
			known, err = r.made.named(c.Tx)
			return err
		})
		if err != nil {
			return err
		}
		warnings, err := r.made.warnings(known, c.Who.Zone, c.Unix())
		if err != nil {
			return err
		}
		if r.ignored != 0 {
			warnings = append(warnings,
				sentence.Raw(fmt.Sprintf("schedule_id: %d is not used: a new schedule is created; /schedule/update changes one", r.ignored)))
		}
		r.Warnings = api.Warn(warnings)
		if !r.DryRun {
			return nil
		}
		r.Plan = newPlan(r.made.withoutLayers(), r.made, window{from: c.Unix(), to: c.Unix() + maxWindow})
		return r.Plan.complete(c)
	}
}
