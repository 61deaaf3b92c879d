// Package field stores the custom fields of an account's incidents.
//
// It must never change the name or type of an existing field, because incidents hold values of it.
package field

import "tocsin/internal/module"

// Module returns the package's operations and sections of an account file.
func Module() module.Module {
	return module.Module{
		Name:     "field",
		Ops:      Ops(),
		Sections: []string{"fields"},
	}
}
