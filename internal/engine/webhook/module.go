package webhook

import "tocsin/internal/module"

// Module returns the part that the package takes in the program.
func (r *Service) Module() module.Module {
	m := module.Module{
		Name:     "engine/webhook",
		Ops:      r.Ops(),
		Jobs:     r.Jobs(),
		Overdue:  Overdue,
		Prune:    []module.Retention{{Period: module.Deliveries, Prune: Prune, Tables: droppable}},
		Sections: []string{"webhook_deliveries"},
		Gauges:   []module.Gauge{retries},
	}
	if !r.Closed {
		m.Handles = r.Handle
	}
	return m
}
