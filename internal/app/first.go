package app

import (
	"context"
	"fmt"

	"tocsin/internal/auth"
	"tocsin/internal/credential"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
	"tocsin/internal/role"
)

// First is what the first start on an empty database created.
type First struct {
	AccountID, OwnerID int64
	Key                string // the owner's app key; it can be seen this once
	LinkPath           string // at which the owner sets a password, once
}

// FirstStart creates one account with its owner when the database has none, so that one person may do everything.
// It returns nil when there is an account already. zone is the account's IANA time zone.
func (a *App) FirstStart(ctx context.Context, zone string) (first *First, err error) {
	err = a.DB.Write(ctx, func(tx *db.Tx) error {
		_, found, err := person.FirstAccount(tx)
		if err != nil || found {
			return err
		}
		now := a.Clock.Now().Unix()
		f := &First{AccountID: id.Number(), OwnerID: id.Number()}
		account := person.Account{AccountID: f.AccountID, AccountName: "Tocsin", TimeZone: zone, OwnerID: f.OwnerID}
		if err := person.LoadAccount(tx, account, now); err != nil {
			return err
		}
		owner := person.Record{Item: person.Item{
			AccountID: f.AccountID, PersonID: f.OwnerID, PersonName: "Owner", As: "member", Status: "enabled",
		}}
		if err := person.Load(tx, f.AccountID, []person.Record{owner}); err != nil {
			return err
		}
		if err := role.Load(tx, f.AccountID, role.Presets()); err != nil {
			return err
		}
		_, f.Key, err = person.CreateKey(tx, auth.NewKey{Account: f.AccountID, Person: f.OwnerID, Name: "first start"}, now)
		if err != nil {
			return err
		}
		link := credential.Link{AccountID: f.AccountID, PersonID: f.OwnerID}
		f.LinkPath, _, err = credential.PasswordLink(tx, link, a.Clock.Now())
		if err != nil {
			return err
		}
		first = f
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("first start: %w", err)
	}
	return first, nil
}
