// Package team stores the account's teams and their members.
//
// A team may name persons who do not exist yet: people are often created later or elsewhere. This package must never
// treat membership as a permission; internal/auth decides about permissions.
package team

import (
	"tocsin/internal/configstore"
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Module returns the package's operations, completion of older databases and sections of an account file.
func (s *Service) Module() module.Module {
	return module.Module{
		Name:     "team",
		Ops:      s.Ops(),
		Complete: func(tx *db.Tx, _ *secret.Keyring) error { return Complete(tx) },
		Sections: []string{"teams"},
	}
}

// Table checks references to teams.
var Table = configstore.Table{
	Kind:  configstore.Team,
	Query: `SELECT 1 FROM team WHERE account_id = $1 AND team_id = $2`,
}
