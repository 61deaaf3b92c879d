// Package calendar stores service calendars: which days are working days and which are days off, so that a rule can
// apply to either.
//
// It must never guess a holiday: only the account's own entries are days off.
package calendar

import "tocsin/internal/module"

// Module returns the package's operations and sections of an account file.
func Module() module.Module {
	return module.Module{
		Name:     "calendar",
		Ops:      Ops(),
		Sections: []string{"calendars", "calendar_events"},
	}
}
