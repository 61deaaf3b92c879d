// Package demo invents one believable account, so that every feature can be tried at once: an online shop with
// schedules, alerts, rules, incidents and deliveries around the present moment. Its configuration is account.json, an
// account file with placeholders for moments; what happened is computed.
//
// It must never change an account but its own, name a real person, company or reachable address, nor read a clock: the
// same moment results in the same account.
package demo

import (
	"context"
	"fmt"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/auth"
	"tocsin/internal/credential"
	"tocsin/internal/integration"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Name is the account's name.
const Name = "Bergfink – Ausrüstung für draußen"

// linkLasts is how long the link of a demo is valid.
const linkLasts = 24 * time.Hour

// Keys are app keys of the account.
type Keys struct {
	All      string // of the owner: has every permission
	ReadOnly string // of a person who may read everything and change nothing
	Push     string // of the integration for the demo's own events
	LinkPath string // opens the console as the owner, as often as it is opened, for a day
	New      bool   // the account was stored now, so that Furnish is due
	Changes  string // with New: of the integration for changes of systems
}

// Fill stores the account unless the database holds it from an earlier run, and creates new keys.
func Fill(ctx context.Context, d *db.DB, keyring *secret.Keyring, now time.Time) (Keys, error) {
	return FillWith(ctx, d, keyring, now, Account)
}

// FillWith is Fill with another account, such as a part of Account. It must have what Account has but for deliveries.
func FillWith(
	ctx context.Context, d *db.DB, keyring *secret.Keyring, now time.Time, account func(time.Time) *accountfile.File,
) (keys Keys, err error) {
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
	keys.New = !there
	err = d.WriteOf(ctx, accountID, func(tx *db.Tx) (err error) {
		if keys.New {
			if err := relive(tx, keyring, momentsAt(now)); err != nil {
				return err
			}
		}
		_, keys.All, err = person.CreateKey(tx, auth.NewKey{Account: accountID, Person: anna, Name: "demo: everything"},
			now.Unix())
		if err != nil {
			return err
		}
		_, keys.ReadOnly, err = person.CreateKey(tx, auth.NewKey{Account: accountID, Person: layla, Name: "demo: read only"},
			now.Unix())
		if err != nil {
			return err
		}
		token, err := credential.NewLink(tx,
			credential.Link{AccountID: accountID, PersonID: anna, Kind: credential.LinkOpen, EndsAt: now.Add(linkLasts).Unix()}, now)
		if err != nil {
			return err
		}
		keys.LinkPath = credential.LinkPath(token)
		keys.Push, err = integrationKey(tx, keyring, prometheusIntake)
		if err == nil && keys.New {
			keys.Changes, err = integrationKey(tx, keyring, deployments)
		}
		return err
	})
	return keys, err
}

// integrationKey returns the key to which a source of events sends.
func integrationKey(tx *db.Tx, keyring *secret.Keyring, id int64) (string, error) {
	source, err := integration.Kind.Get(tx, accountID, fmt.Sprint(id))
	if err == nil {
		err = integration.Kind.Open(keyring, accountID, &source)
	}
	return source.IntegrationKey, err
}
