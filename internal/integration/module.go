package integration

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Module returns the part that the package takes in the program.
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
