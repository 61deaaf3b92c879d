package rum

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Module returns the part that the package takes in the program.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:     "rum",
		Ops:      r.Ops(),
		Reseal:   []func(*db.Tx, secret.Renew) (int, error){Reseal},
		Complete: Complete,
		Prune: []module.Retention{
			{Period: module.Incidents, Prune: pruneIssues},
			{Period: module.Events, Prune: pruneSamples},
			{Period: module.Ended, Prune: pruneSessions},
			{Period: module.Ended, Prune: pruneDays},
		},
		Sections: []string{"rum_applications", "rum_issues"},
	}
}
