package channel

import (
	"time"

	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Module returns the part that the package takes in the program. keyring and detach are those of Ops.
// switched may be nil.
func Module(keyring *secret.Keyring, switched Switched, detach ...Detach) module.Module {
	return module.Module{
		Name:   "channel",
		Ops:    operations(keyring, switched, detach),
		Reseal: []func(*db.Tx, secret.Renew) (int, error){Escalates.Reseal},
		Prune: []module.Retention{{
			Period: module.Ended,
			Of:     func(tx *db.Tx, account int64, now time.Time) (bool, error) { return false, Expire(tx, account, now) },
		}},
		Complete: func(tx *db.Tx, _ *secret.Keyring) error { return Complete(tx) },
		Sections: []string{"channels", "silence_rules", "drop_rules", "inhibit_rules", "escalate_rules"},
	}
}
