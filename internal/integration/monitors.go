package integration

import (
	"slices"
	"strconv"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
	"tocsin/internal/platform/secret"
)

// Monitors is the type of the one integration of an account through which the alerts of its alert rules come. It has no key: no
// one can send to it. It is made with the first rule and cannot be deleted.
const Monitors = "monit.alert"

// MonitorsOf returns the id of the account's integration of alert rules; 0: it has none.
func MonitorsOf(tx *db.Tx, account int64) (int64, error) {
	all, err := Kind.All(tx, account)
	at := slices.IndexFunc(all, func(i Integration) bool { return i.IntegrationType == Monitors })
	if err != nil || at < 0 {
		return 0, err
	}
	return all[at].IntegrationID, nil
}

// EnsureMonitors makes the account's integration of alert rules, unless it has one.
func EnsureMonitors(tx *db.Tx, keyring *secret.Keyring, account, person int64, now time.Time) error {
	if known, err := MonitorsOf(tx, account); err != nil || known != 0 {
		return err
	}
	unused, err := id.Unused(func(n int64) (bool, error) { return Kind.Exists(tx, account, strconv.FormatInt(n, 10)) })
	if err != nil {
		return err
	}
	i := Integration{
		AccountID: account, IntegrationID: unused, IntegrationName: "Monitors", IntegrationType: Monitors, Status: "enabled",
		CreatorID: person, CreatedAt: now.Unix(), UpdatedAt: now.Unix(), UpdatedBy: person,
	}
	if err := Kind.Seal(keyring, account, &i); err != nil {
		return err
	}
	return Kind.Put(tx, account, &i)
}
