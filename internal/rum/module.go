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
			{Period: module.Incidents, Of: pruneIssues},
			{Period: module.Events, Of: pruneSamples},
			{Period: module.Ended, Of: pruneSessions},
			{Period: module.Ended, Of: pruneDays},
		},
		Sections: []string{"rum_applications", "rum_issues"},
	}
}
