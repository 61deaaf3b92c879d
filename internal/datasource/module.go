package datasource

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Module returns the part that the package takes in the program.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:     "datasource",
		Ops:      r.Ops(),
		Reseal:   []func(*db.Tx, secret.Renew) (int, error){Reseal},
		Sections: []string{"datasources"},
	}
}
