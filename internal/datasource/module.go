// Package datasource stores the monitoring datasources: the addresses of the systems that alert rules query, and the
// credentials with which edge clusters sign in there.
//
// Credentials are sealed before they reach the database. This package must never put one into an error or a log, nor
// return one to a caller who may only read.
package datasource

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Module returns the package's operations, resealing of secrets and sections of an account file.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:     "datasource",
		Ops:      r.Ops(),
		Reseal:   []func(*db.Tx, secret.Renew) (int, error){Reseal},
		Sections: []string{"datasources"},
	}
}
