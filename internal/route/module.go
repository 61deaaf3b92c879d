// Package route stores the routes of shared integrations: the channels that their alerts go to. It stores every
// version of a route.
//
// The decision where an alert goes is pure (Match). It must never depend on anything but the route, the alert and the
// channels of the account.
package route

import "tocsin/internal/module"

// Module returns the package's operations and sections of an account file.
func Module() module.Module {
	return module.Module{
		Name:     "route",
		Ops:      Ops(),
		Sections: []string{"routes"},
	}
}
