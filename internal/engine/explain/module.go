package explain

import "tocsin/internal/module"

// Module returns the part that the package takes in the program.
func (r *Service) Module() module.Module {
	return module.Module{
		Name: "engine/explain",
		Ops:  r.Ops(),
	}
}
