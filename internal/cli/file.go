package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"tocsin/internal/accountfile"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
)

type importCmd struct {
	database
	newSealKey
	File    string `arg:"" help:"The account file; - reads standard input."`
	Replace bool   `help:"Replace the account if it exists."`
}

// Run loads the file, all of it or nothing.
func (cmd *importCmd) Run(con *console) (err error) {
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
	err = accountfile.Import(ctx, d, keyring, file, c.Clock.Now(), cmd.Replace)
	if fault.KindOf(err) == fault.Conflict {
		return fmt.Errorf("%s: %w; --replace replaces it by the file", cmd.File, err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", cmd.File, err)
	}
	fmt.Fprintf(con.out, "imported account %d (%s)\n", file.Account.AccountID, file.Account.AccountName)
	if len(file.AppKeys) == 0 {
		fmt.Fprintf(con.out, "the file has no app keys, so the API cannot be called yet: %s\n", keyCreateLine(cmd.DB, file.Account.AccountID))
	}
	return nil
}

// readAccountFile reads a file, or standard input for -.
func readAccountFile(path string) (*accountfile.File, error) {
	in := io.Reader(os.Stdin)
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	file, err := accountfile.Read(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

type exportCmd struct {
	database
	Account int64  `help:"The account." required:"" placeholder:"ID"`
	Secrets bool   `help:"Include stored secrets in clear. The file is then as secret as they are."`
	File    string `arg:"" optional:"" help:"Where to write; standard output when left out."`
}

// Run writes the account's file.
func (cmd *exportCmd) Run(con *console) error {
	return onExisting(cmd.DB, func(ctx context.Context, d *db.DB) error {
		var keyring *secret.Keyring // not needed without secrets, so that a database whose keys are lost can be exported
		if cmd.Secrets {
			var err error
			keyring, err = cmd.config().SealKeys().Open(ctx, d)
			if err != nil {
				return err
			}
		}
		file, err := accountfile.Export(ctx, d, keyring, cmd.Account, cmd.Secrets)
		if err != nil {
			return err
		}
		if cmd.File == "" {
			return accountfile.Write(con.out, file)
		}
		return writeFile(cmd.File, file)
	})
}

// writeFile writes the file whole or not at all, readable by its owner only: it holds personal data, and secrets if
// they were requested.
func writeFile(path string, file *accountfile.File) error {
	temp, err := os.OpenFile(path+".part", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(accountfile.Write(temp, file), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(path+".part", path)
	}
	if err != nil {
		_ = os.Remove(path + ".part") // a rest that cannot be removed is replaced by the next export
	}
	return err
}
