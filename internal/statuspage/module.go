package statuspage

import "tocsin/internal/module"

// Module returns the part that the package takes in the program.
func Module() module.Module {
	return module.Module{
		Name:     "statuspage",
		Ops:      Ops(),
		Prune:    []module.Retention{{Period: module.Incidents, Prune: Prune}},
		Sections: []string{"status_pages", "status_page_changes"},
	}
}
