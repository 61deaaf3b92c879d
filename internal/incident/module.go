package incident

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/secret"
)

// Module returns the part that the package takes in the program.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:     "incident",
		Ops:      r.Ops(),
		Overdue:  Overdue,
		Handle:   newTimings(r.Metrics).handle,
		Gauges:   gauges(),
		Jobs:     []jobs.Job{r.Job()},
		Prune:    []module.Retention{{Period: module.Incidents, Of: Prune, Folded: folded}},
		Complete: func(tx *db.Tx, _ *secret.Keyring) error { return Complete(tx) },
		Sections: []string{"incidents"},
	}
}
