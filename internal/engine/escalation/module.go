package escalation

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/secret"
)

// Module returns the part that the package takes in the program.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:    "engine/escalation",
		Ops:     r.Ops(),
		Jobs:    []jobs.Job{r.Job()},
		Handles: r.Handle,
		Reseal:  []func(*db.Tx, secret.Renew) (int, error){Reseal},
		Overdue: Overdue,
	}
}
