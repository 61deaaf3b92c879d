package audit

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/jobs"
)

// Module returns the part that the package takes in the program. earlier hides the secrets of earlier entries.
func (r *Service) Module(earlier Masking) module.Module {
	return module.Module{
		Name:  "audit",
		Ops:   r.Ops(),
		Jobs:  []jobs.Job{earlier.Job()},
		Prune: []module.Retention{{Period: module.Audit, Prune: Prune, Tables: droppable}},
	}
}
