// Package integration stores an account's connections with other systems: sources of events, outbound webhooks, and the
// apps of chat services.
//
// It must never show an integration key to a caller without the permission to manage integrations, nor put one into an
// error or a log.
package integration

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Module returns the package's operations, resealing of secrets, retention and sections of an account file.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:   "integration",
		Ops:    r.Ops(),
		Reseal: []func(*db.Tx, secret.Renew) (int, error){Kind.Reseal},
		Prune: []module.Retention{{Period: module.Ended, Prune: pruneRefused}, {Period: module.Ended, Prune: pruneUnknown},
			{Period: module.Ended, Prune: pruneBytes}},
		Sections: []string{"integrations"},
	}
}
