package app

import (
	"context"

	"tocsin/internal/accountfile"
	"tocsin/internal/core/lint"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Linted is the findings of one account.
type Linted struct {
	Account  person.Account
	Findings []lint.Finding
}

// Lint returns the findings of an account, or of all accounts when account is 0.
func (a *App) Lint(ctx context.Context, account int64) (list []Linted, err error) {
	err = a.DB.Snapshot(ctx, func(tx *db.Tx) error {
		accounts, err := person.Accounts(tx)
		if err != nil {
			return err
		}
		for _, one := range accounts {
			if account != 0 && one.AccountID != account {
				continue
			}
			found, err := a.lint.Find(tx, one.AccountID, a.Clock.Now())
			if err != nil {
				return err
			}
			list = append(list, Linted{one, found})
		}
		if account != 0 && len(list) == 0 {
			return fault.Missing("account", account)
		}
		return nil
	})
	return list, err
}

// LintFile returns the findings of an account as a file would leave it. The file is applied and rolled back.
func (a *App) LintFile(ctx context.Context, file *accountfile.File, prune bool) (Linted, error) {
	linted, now := Linted{Account: file.Account}, a.Clock.Now()
	_, err := accountfile.Apply(ctx, a.DB, a.Keyring, file, now, accountfile.Options{
		Prune: prune, DryRun: true,
		Inspect: func(tx *db.Tx) (err error) {
			linted.Findings, err = a.lint.Find(tx, file.Account.AccountID, now)
			return err
		},
	})
	return linted, err
}

// SendsNothing reports whether the server can send neither e-mail nor text messages nor calls.
func (a *App) SendsNothing() bool { return !a.can("email") && !a.can("sms") && !a.can("voice") }
