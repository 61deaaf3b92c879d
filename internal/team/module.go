package team

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Module returns the part that the package takes in the program.
func (s *Service) Module() module.Module {
	return module.Module{
		Name:     "team",
		Ops:      s.Ops(),
		Complete: func(tx *db.Tx, _ *secret.Keyring) error { return Complete(tx) },
		Sections: []string{"teams"},
	}
}
