// Package schedule stores on-call schedules and shows who is on call by them.
//
// Only internal/core/oncall computes who is on call. Every operation uses it through engine.go, so that two operations
// cannot disagree. This package must never decide by itself who is on call, never show a webhook's secrets to a caller
// without the permission to manage schedules, and never store them in clear.
package schedule

import (
	"tocsin/internal/configstore"
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fair"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/secret"
)

// Table checks references to schedules.
var Table = configstore.Table{
	Kind:  configstore.Schedule,
	Query: `SELECT 1 FROM schedule WHERE account_id = $1 AND schedule_id = $2`,
}

// Service holds the dependencies of the operations on schedules.
type Service struct {
	Keyring *secret.Keyring // seals the secrets of notification webhooks
	DB      *db.DB          // for the job
	Pace    *fair.Queue     // of what computes for long; nil: the job does not wait

	Overridden Overridden // stores the notifications about changes of overrides; nil: none are sent
	Covered    Covered    // stores the notifications about requests for cover; nil: none are sent
}

// Module returns the package's operations, resealing of secrets, completion of older databases, retention, count of
// overdue work, job and sections of an account file.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:     "schedule",
		Ops:      r.Ops(),
		Reseal:   []func(*db.Tx, secret.Renew) (int, error){Reseal},
		Complete: Complete,
		Prune:    []module.Retention{{Period: module.Ended, Of: pruneOverrides}, {Period: module.Ended, Of: pruneCovers}},
		Overdue:  Overdue,
		Jobs:     []jobs.Job{r.gapsJob()},
		Sections: []string{"schedules", "schedule_overrides"},
	}
}
