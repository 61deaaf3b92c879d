package rumintake

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/jobs"
)

// Module returns the part that the package takes in the program.
func (r *Service) Module() module.Module {
	return module.Module{Name: "engine/rumintake", Jobs: []jobs.Job{r.Job()}}
}
