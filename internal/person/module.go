package person

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Module returns the part that the package takes in the program. release has the packages that name persons.
func Module(announce Announce, release ...Release) module.Module {
	return module.Module{
		Name:     "person",
		Ops:      announce.ops(release),
		Complete: func(tx *db.Tx, _ *secret.Keyring) error { return Complete(tx) },
		Sections: []string{"persons", "app_keys"},
	}
}
