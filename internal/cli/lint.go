package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tocsin/internal/app"
	"tocsin/internal/core/lint"
	"tocsin/internal/platform/db"
)

// lintCmd takes the flags of the senders that serve has, because they decide which methods can reach a person.
type lintCmd struct {
	database
	sending
	Account int64  `help:"Only this account (default: all)." placeholder:"ID"`
	Prune   bool   `help:"With a file: as if applied with --prune."`
	File    string `arg:"" optional:"" help:"An account file: check the account as the file would leave it, and change nothing; - reads standard input."`
}

// Run prints what is wrong with the configuration. It returns an error if a finding is one.
func (cmd *lintCmd) Run(con *console) (err error) {
	c := cmd.config()
	if err := cmd.sending.apply(&c); err != nil {
		return err
	}
	if missing := db.MustExist(cmd.DB); missing != nil {
		if cmd.File == "" {
			return missing
		}
		// A file can be checked before there is a database: it is loaded into one that is thrown away.
		dir, failed := os.MkdirTemp("", "tocsin-lint-")
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		c.DB = "sqlite:" + filepath.Join(dir, "tocsin.db")
		c.SealKeyFile = ""
		c.SealKey = ""
	}
	ctx := context.Background()
	a, err := app.New(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	list, err := cmd.find(ctx, a)
	if err != nil {
		return err
	}
	failed := 0
	for _, one := range list {
		failed += con.show(one)
	}
	if failed > 0 {
		return fmt.Errorf("%d errors in the configuration: events can reach no one", failed)
	}
	return nil
}

func (cmd *lintCmd) find(ctx context.Context, a *app.App) ([]app.Linted, error) {
	if cmd.File == "" {
		return a.Lint(ctx, cmd.Account)
	}
	file, err := readAccountFile(cmd.File)
	if err != nil {
		return nil, err
	}
	one, err := a.LintFile(ctx, file, cmd.Prune)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd.File, err)
	}
	return []app.Linted{one}, nil
}

// show prints the findings of one account and returns the number of errors.
func (con *console) show(one app.Linted) int {
	count := map[string]int{}
	for _, f := range one.Findings {
		count[f.Severity]++
		fmt.Fprintf(con.out, "%s %s: %s. %s\n", f.Severity, f.Code, f.Sentence, f.Fix)
	}
	fmt.Fprintf(con.out, "account %d (%s): %d errors, %d warnings\n",
		one.Account.AccountID, one.Account.AccountName, count[lint.Error], count[lint.Warning])
	return count[lint.Error]
}
