// Package channel stores the channels, where alerts are grouped into incidents, and their rules. Silence and
// inhibit rules keep an alert from becoming an incident. Drop rules discard an event. Escalation rules name
// who is notified.
//
// It must never show a private channel, or anything that belongs to it, to a caller outside its teams.
package channel

import (
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Module returns the package's operations, resealing of secrets, completion of older databases, retention and sections of
// an account file. keyring and detach are those of Ops. switched may be nil.
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

// Table checks references to channels.
var Table = configstore.Table{
	Kind:  configstore.Channel,
	Query: `SELECT 1 FROM channel WHERE account_id = $1 AND channel_id = $2`,
}

// Expire deletes the one-off silence rules of an account with is_auto_delete whose window ended at before or earlier.
func Expire(tx *db.Tx, account int64, before time.Time) error {
	rules, err := Silences.All(tx, account)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if r.IsAutoDelete && r.TimeFilter != nil && r.TimeFilter.EndTime <= before.Unix() {
			if err := Silences.Delete(tx, account, r.RuleID); err != nil {
				return err
			}
		}
	}
	return nil
}
