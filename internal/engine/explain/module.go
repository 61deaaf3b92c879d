// Package explain answers "why": the verdicts on an event or an alert, step by step with every reason, the history of
// its incident, which persons were notified or not, and why. It reads what the other packages stored at that time.
//
// It must never evaluate a rule again: it reports the decision as it was made.
package explain

import "tocsin/internal/module"

// Module returns the package's operations.
func (r *Service) Module() module.Module {
	return module.Module{
		Name: "engine/explain",
		Ops:  r.Ops(),
	}
}
