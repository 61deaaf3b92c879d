// Package template stores the account's notification templates: for each kind of message the text that notifies of
// an incident (docs/templates.md). internal/core/render renders them.
//
// It must never store a malformed template.
package template

import "tocsin/internal/module"

// Module returns the package's operations and sections of an account file.
func Module() module.Module {
	return module.Module{
		Name:     "template",
		Ops:      Ops(),
		Sections: []string{"templates"},
	}
}
