// Package role stores the account's roles: named sets of permissions that are granted to persons.
//
// internal/auth computes the permissions of a person from the rows stored here. This package must never compute them a
// second time, nor let a caller grant a permission that the caller does not have.
package role

import "tocsin/internal/module"

// Module returns the package's operations and sections of an account file.
func Module() module.Module {
	return module.Module{
		Name:     "role",
		Ops:      Ops(),
		Sections: []string{"roles"},
	}
}
