// Package demo makes up one believable account, so that everything can be tried out at once: an online
// shop whose schedules, alerts, rules, incidents and deliveries are going on right now.
//
// It must never touch an account but its own, name a real person, company or reachable address, nor read
// a clock: the same moment gives the same account.
package demo

import (
	"context"
	"fmt"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/auth"
	"tocsin/internal/integration"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Name is the account's name.
const Name = "Bergfink – Ausrüstung für draußen"

// Keys are app keys of the account.
type Keys struct {
	All      string // of the owner: may do everything
	ReadOnly string // of a person who may read everything and change nothing
	Push     string // of the integration that the demo's own events come through
}

// Fill makes sure that the database holds the account, and gives two new keys to it. An account that is
// there from an earlier run stays as it is.
func Fill(ctx context.Context, d *db.DB, keyring *secret.Keyring, now time.Time) (Keys, error) {
	return fill(ctx, d, keyring, now, Account)
}

func fill(ctx context.Context, d *db.DB, keyring *secret.Keyring, now time.Time, account func(time.Time) *accountfile.File) (keys Keys, err error) {
	var there bool
	if err := d.Read(ctx, func(tx *db.Tx) (err error) {
		_, there, err = person.DumpAccount(tx, accountID)
		return err
	}); err != nil {
		return keys, err
	}
	if !there {
		if err := accountfile.Import(ctx, d, keyring, account(now), now, false); err != nil {
			return keys, err
		}
	}
	err = d.Write(ctx, func(tx *db.Tx) (err error) {
		if _, keys.All, err = person.CreateKey(tx, auth.NewKey{Account: accountID, Person: anna, Name: "demo: everything"}, now.Unix()); err != nil {
			return err
		}
		if _, keys.ReadOnly, err = person.CreateKey(tx, auth.NewKey{Account: accountID, Person: layla, Name: "demo: read only"}, now.Unix()); err != nil {
			return err
		}
		source, err := integration.Kind.Get(tx, accountID, fmt.Sprint(prometheusIntake))
		if err == nil {
			err = integration.Kind.Open(keyring, accountID, &source)
		}
		keys.Push = source.IntegrationKey
		return err
	})
	return keys, err
}
