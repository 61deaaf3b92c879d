package enrichment

import "tocsin/internal/module"

// Module returns the part that the package takes in the program.
func Module() module.Module {
	return module.Module{
		Name:     "enrichment",
		Ops:      Ops(),
		Sections: []string{"enrichments"},
	}
}
