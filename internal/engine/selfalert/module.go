// Package selfalert raises alerts of Tocsin's own: about a target that refuses notifications, a source whose events are
// refused and the like. An alert is open in a channel, where it is escalated as any other. Without a channel that can
// take it, the account's owner is notified. It ends when it has not been raised again for some time.
//
// It must never notify twice of what goes on, however often it is raised, unless the caller asks for a repetition.
package selfalert

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/jobs"
)

// Module returns the package's jobs.
func (r *Service) Module() module.Module {
	return module.Module{Name: "engine/selfalert", Jobs: []jobs.Job{r.Job()}}
}
