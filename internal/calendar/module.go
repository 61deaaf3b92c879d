package calendar

import "tocsin/internal/module"

// Module returns the part that the package takes in the program.
func Module() module.Module {
	return module.Module{
		Name:     "calendar",
		Ops:      Ops(),
		Sections: []string{"calendars", "calendar_events"},
	}
}
