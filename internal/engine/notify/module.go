package notify

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/secret"
)

// Module returns the part that the package takes in the program.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:   "engine/notify",
		Jobs:   []jobs.Job{r.Job()},
		Reseal: []func(*db.Tx, secret.Renew) (int, error){Reseal},
		Prune: []module.Retention{
			{Period: module.Events, Prune: Prune},
			{Period: module.Ended, Prune: PruneSends},
			{Period: module.Ended, Prune: PruneFailing},
		},
		Overdue: Overdue,
		Sends:   true,
		Release: Release,
		Gauges:  []module.Gauge{retries},
	}
}
