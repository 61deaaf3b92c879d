// Package warroom opens and closes war rooms: groups in a chat service where people work on an incident.
//
// It must never hold a transaction during a call to a chat service, and never show the war room of a private channel's
// incident to a caller outside the channel's team.
package warroom

import "tocsin/internal/module"

// Module returns the package's operations.
func (r *Service) Module() module.Module {
	return module.Module{
		Name: "warroom",
		Ops:  r.Ops(),
	}
}
