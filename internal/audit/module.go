package audit

import "tocsin/internal/module"

// Module returns the part that the package takes in the program.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:  "audit",
		Ops:   r.Ops(),
		Prune: []module.Retention{{Period: module.Audit, Prune: Prune, Tables: droppable}},
	}
}
