package alert

import "tocsin/internal/module"

// Module returns the part that the package takes in the program.
func Module() module.Module {
	return module.Module{
		Name:     "alert",
		Ops:      Ops(),
		Overdue:  Overdue,
		Sections: []string{"alert_pipelines", "alerts"},
	}
}
