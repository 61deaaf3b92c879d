package changeevent

import "tocsin/internal/module"

// Module returns the part that the package takes in the program.
func Module() module.Module {
	return module.Module{
		Name:  "changeevent",
		Ops:   Ops(),
		Prune: []module.Retention{{Period: module.Events, Of: Prune}},
	}
}
