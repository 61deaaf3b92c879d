// Package audit stores the audit log of each account: every write, with its caller, time, address and request.
// Entries come from the frame, in the transaction of the write itself; this package must never change one
// that is stored, but to hide a secret in it (see Masking), nor hold a secret. Entries are deleted by age alone.
package audit

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/jobs"
)

// Module returns the package's operations, jobs and retention. earlier hides the secrets of earlier entries.
func (r *Service) Module(earlier Masking) module.Module {
	return module.Module{
		Name:  "audit",
		Ops:   r.Ops(),
		Jobs:  []jobs.Job{earlier.Job()},
		Prune: []module.Retention{{Period: module.Audit, Prune: Prune, Tables: droppable}},
	}
}
