package cli

import (
	"context"
	"errors"
	"fmt"

	"tocsin/internal/accountfile"
	"tocsin/internal/platform/db"
)

type applyCmd struct {
	database
	newSealKey
	File   string `arg:"" help:"The account file; - reads standard input."`
	Prune  bool   `help:"Delete configuration that the file does not have."`
	DryRun bool   `help:"Print the plan and change nothing."`
}

// Run prints the changes that make the account equal to the file, then makes exactly these. If the account was changed
// in between, nothing is applied. The plan is made by applying the file and rolling back.
func (cmd *applyCmd) Run(con *console) (err error) {
	file, err := readAccountFile(cmd.File)
	if err != nil {
		return err
	}
	ctx := context.Background()
	d, err := db.Open(ctx, cmd.DB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	c := cmd.config()
	c.NewSealKey = cmd.NewSealKey
	keyring, err := c.SealKeys().Open(ctx, d)
	if err != nil {
		return err
	}
	options := accountfile.Options{Prune: cmd.Prune, DryRun: true}
	plan, err := accountfile.Apply(ctx, d, keyring, file, c.Clock.Now(), options)
	if err != nil {
		return fmt.Errorf("%s: %w", cmd.File, err)
	}
	if _, err := plan.WriteTo(con.out); err != nil {
		return err
	}
	if cmd.DryRun || plan.Empty() {
		return nil
	}
	options.DryRun, options.Shown = false, &plan
	if _, err := accountfile.Apply(ctx, d, keyring, file, c.Clock.Now(), options); err != nil {
		return fmt.Errorf("%s: %w", cmd.File, err)
	}
	fmt.Fprintf(con.out, "applied to account %d (%s)\n", file.Account.AccountID, file.Account.AccountName)
	return nil
}
