// Package absence stores when persons cannot be on call. Schedules read it: in their rotations an absent person is left
// out.
//
// It must never show the note of an absence to anyone but the person and those who plan for others.
package absence

import (
	"time"

	"tocsin/internal/api"
	"tocsin/internal/core/oncall"
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
)

// Module returns the package's operations, retention and sections of an account file.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:     "absence",
		Ops:      r.Ops(),
		Prune:    []module.Retention{{Period: module.Ended, Of: prune}},
		Sections: []string{"absences"},
	}
}

// Service has the operations on absences.
type Service struct {
	// Effects reads the schedules that name a person. The function that it returns computes what a change of the person's
	// absences changes in them.
	Effects func(c *api.Call, person int64, before, after []oncall.Absence) (Compute, error)
	// Moved is called with each change that moves shifts, in the transaction of the change; nil: no one is notified.
	Moved func(tx *db.Tx, m Moved, now time.Time) error
}

// Compute returns effects in [from, to), Unix seconds. warnings name what could not be computed.
type Compute func(from, to int64) (effects []Effect, warnings []string, err error)

// Moved is a change of a person's absences that moves shifts from one person to another.
type Moved struct {
	Account, Person int64
	Actor           int64    // the person who made the change
	Revision        int64    // revision of the account's configuration, after the change
	Before, After   *Absence // nil: the absence is new, or deleted
	Effects         []Effect // effects on schedules in which shifts move, until the end of the absence
}

// Effect is what a change of a person's absences changes in one schedule.
type Effect struct {
	ScheduleID   int64   `json:"schedule_id" doc:"The schedule."`
	ScheduleName string  `json:"schedule_name" doc:"Its name."`
	Lost         []Shift `json:"lost" doc:"Shifts of the person that the absence takes away, by role, then start."`
	Gained       []Shift `json:"gained" doc:"Shifts that the person, or another for the person, gains; by person, role, then start."`
	Gaps         []Gap   `json:"gaps" doc:"When someone was on call before and no one is now, in order."`
}

// Shift is a period in which a person is on call in a role.
type Shift struct {
	PersonID int64 `json:"person_id" doc:"The person."`
	RoleID   int64 `json:"role_id" doc:"The on-call role: 0 primary, 1 backup, or one of the account's own."`
	Start    int64 `json:"start" doc:"First second, Unix seconds."`
	End      int64 `json:"end" doc:"First second after it, Unix seconds."`
}

// Gap is a period in which no one is on call.
type Gap struct {
	Start int64 `json:"start" doc:"First second, Unix seconds."`
	End   int64 `json:"end" doc:"First second after it, Unix seconds."`
}
