package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tocsin/internal/auth"
	"tocsin/internal/credential"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

type personCmd struct {
	Link personLinkCmd `cmd:"" help:"Make a link with which a person sets a password and signs in to the console, and print it, this once."`
}

type personLinkCmd struct {
	database
	Account   int64  `help:"The account (default: the only one)." placeholder:"ID"`
	Person    string `arg:"" optional:"" help:"The person's e-mail address or ID (default: the account's owner)."`
	PublicURL string `name:"public-url" help:"Address at which people reach the server; without it the link is a path." placeholder:"URL"`
}

// Run prints the link alone on standard output. It works while the server runs.
func (cmd *personLinkCmd) Run(con *console) error {
	c := cmd.config()
	return onExisting(cmd.DB, func(ctx context.Context, d *db.DB) error {
		var account int64
		if err := d.Read(ctx, func(tx *db.Tx) (err error) {
			account, err = onlyAccount(tx, cmd.Account)
			return err
		}); err != nil {
			return err
		}
		return d.WriteOf(ctx, account, func(tx *db.Tx) error {
			who, err := cmd.find(tx, account)
			if err != nil {
				return err
			}
			path, _, err := credential.PasswordLink(tx, credential.Link{AccountID: account, PersonID: who}, c.Clock.Now())
			if err == nil {
				fmt.Fprintln(con.out, strings.TrimRight(cmd.PublicURL, "/")+path)
			}
			return err
		})
	})
}

// onlyAccount returns the account that was named, or the only one there is.
func onlyAccount(tx *db.Tx, named int64) (int64, error) {
	if named != 0 {
		_, err := auth.OwnerOf(tx, named)
		return named, err
	}
	all, err := person.Accounts(tx)
	if err != nil {
		return 0, err
	}
	if len(all) != 1 {
		return 0, misuseError{fmt.Errorf("the database has %d accounts: name one with --account", len(all))}
	}
	return all[0].AccountID, nil
}

// find returns the person that the command names.
func (cmd *personLinkCmd) find(tx *db.Tx, account int64) (int64, error) {
	if cmd.Person == "" {
		return auth.OwnerOf(tx, account)
	}
	if strings.Contains(cmd.Person, "@") {
		all, err := person.WithEmail(tx, cmd.Person)
		if err != nil {
			return 0, err
		}
		for _, r := range all {
			if r.AccountID == account {
				return r.PersonID, nil
			}
		}
		return 0, fault.Missing("person", cmd.Person)
	}
	who, err := strconv.ParseInt(cmd.Person, 10, 64)
	if err != nil {
		return 0, misuseError{errors.New("name the person by e-mail address or ID")}
	}
	known, err := auth.KnownPerson(tx, account, who)
	if err == nil && !known {
		err = fault.Missing("person", who)
	}
	return who, err
}
