package person

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Module returns the part that the package takes in the program.
func Module(announce Announce) module.Module {
	return module.Module{
		Name:     "person",
		Ops:      announce.ops(),
		Complete: func(tx *db.Tx, _ *secret.Keyring) error { return Complete(tx) },
		Sections: []string{"persons", "app_keys"},
	}
}
