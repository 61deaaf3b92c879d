package schedule

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Module returns the part that the package takes in the program.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:     "schedule",
		Ops:      r.Ops(),
		Reseal:   []func(*db.Tx, secret.Renew) (int, error){Reseal},
		Complete: Complete,
		Prune:    []module.Retention{{Period: module.Ended, Of: pruneOverrides}, {Period: module.Ended, Of: pruneCovers}},
		Overdue:  Overdue,
		Sections: []string{"schedules", "schedule_overrides"},
	}
}
