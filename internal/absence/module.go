package absence

import "tocsin/internal/module"

// Module returns the part that the package takes in the program.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:     "absence",
		Ops:      r.Ops(),
		Prune:    []module.Retention{{Period: module.Ended, Of: prune}},
		Sections: []string{"absences"},
	}
}
