package triage

import "tocsin/internal/module"

// Module returns the part that the package takes in the program.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:    "engine/triage",
		Ops:     r.Ops(),
		Jobs:    r.Jobs(),
		Prune:   []module.Retention{{Period: module.Events, Prune: Prune, Tables: droppable}, {Period: module.Dropped, Prune: PruneDropped}},
		Overdue: Overdue,
	}
}
