package alert

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Module returns the part that the package takes in the program.
func Module() module.Module {
	return module.Module{
		Name:     "alert",
		Ops:      Ops(),
		Overdue:  Overdue,
		Complete: func(tx *db.Tx, _ *secret.Keyring) error { return Complete(tx) },
		Sections: []string{"alert_pipelines", "alerts"},
	}
}
