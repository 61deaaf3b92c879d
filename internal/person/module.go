// Package person stores the account and its persons: who they are, how they are reached and which roles they have.
//
// Contact data is personal. This package must never log it, nor return a phone number in full where a name is enough to
// identify a person.
package person

import (
	"tocsin/internal/configstore"
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Module returns the package's operations, completion of older databases and sections of an account file. release has the
// packages that name persons.
func Module(announce Announce, release ...Release) module.Module {
	return module.Module{
		Name:     "person",
		Ops:      announce.ops(release),
		Complete: func(tx *db.Tx, _ *secret.Keyring) error { return Complete(tx) },
		Sections: []string{"persons", "app_keys"},
	}
}

// Table checks references to persons.
var Table = configstore.Table{
	Kind:  configstore.Person,
	Query: `SELECT 1 FROM person WHERE account_id = $1 AND person_id = $2 AND status <> 'deleted'`,
}
