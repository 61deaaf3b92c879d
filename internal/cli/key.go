package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"tocsin/internal/app"
	"tocsin/internal/auth"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

type keyCmd struct {
	Create  keyCreateCmd  `cmd:"" help:"Create an app key and print it, this once."`
	List    keyListCmd    `cmd:"" help:"List an account's app keys; secrets are stored nowhere."`
	Disable keyDisableCmd `cmd:"" help:"Refuse an app key, within a second."`
	Enable  keyEnableCmd  `cmd:"" help:"Accept a disabled app key again."`
	Delete  keyDeleteCmd  `cmd:"" help:"Delete an app key for good."`
	New     keyNewCmd     `cmd:"" help:"Print a new sealing key, as a line of the key file."`
	Reseal  keyResealCmd  `cmd:"" help:"Seal every stored secret under the newest sealing key, when every server has it as its first."`
	Rotate  keyRotateCmd  `cmd:"" help:"Create a new sealing key, seal every stored secret with it and remove the old sealing keys."`
}

type keyCreateCmd struct {
	database
	Account    int64    `help:"The account." required:"" placeholder:"ID"`
	Person     int64    `help:"Whose key it is (default: the account's owner)." placeholder:"ID"`
	Permission []string `help:"Narrow the key to this permission of the person's; repeatable." sep:"none" placeholder:"NAME"`
	Name       string   `help:"What the key is for." placeholder:"NAME"`
	Expires    string   `help:"Last day on which it is valid (UTC)." placeholder:"2027-01-31"`

	Wait *time.Duration `help:"For scripts: how long calls above a limit wait, up to 30s (default: --limit-wait)." placeholder:"30s"`
}

// Run prints the new key alone on standard output, so that scripts can keep it.
func (cmd *keyCreateCmd) Run(con *console) error {
	expires := int64(0)
	if cmd.Expires != "" {
		day, err := time.Parse(time.DateOnly, cmd.Expires)
		if err != nil {
			return misuseError{fmt.Errorf("--expires %q: want a day such as 2027-01-31", cmd.Expires)}
		}
		expires = day.AddDate(0, 0, 1).Unix()
	}
	wait, err := cmd.waitSeconds()
	if err != nil {
		return err
	}
	c := cmd.config()
	return onExisting(cmd.DB, func(ctx context.Context, d *db.DB) error {
		return d.WriteOf(ctx, cmd.Account, func(tx *db.Tx) error {
			k := auth.NewKey{Account: cmd.Account, Person: cmd.Person, Name: cmd.Name, ExpiresAt: expires, Wait: wait}
			if len(cmd.Permission) > 0 { // without the flag the key is not narrowed; an empty list would be no permission
				k.Permissions = cmd.Permission
			}
			if k.Person == 0 {
				owner, err := auth.OwnerOf(tx, cmd.Account)
				if err != nil {
					return err
				}
				k.Person = owner
			}
			_, secret, err := person.CreateKey(tx, k, c.Clock.Now().Unix())
			if err != nil {
				return err
			}
			fmt.Fprintln(con.out, secret)
			return nil
		})
	})
}

// waitSeconds returns how many seconds the calls of the key wait; nil: the flag is absent.
func (cmd *keyCreateCmd) waitSeconds() (*int64, error) {
	if cmd.Wait == nil {
		return nil, nil
	}
	seconds := int64(*cmd.Wait / time.Second)
	if *cmd.Wait%time.Second != 0 || seconds < 0 || seconds > auth.MaxWait {
		return nil, misuseError{fmt.Errorf("--wait must be whole seconds from 0s to %ds, got %s", auth.MaxWait, *cmd.Wait)}
	}
	return &seconds, nil
}

// keyCreateLine is the command that makes another key for an account's owner, ready for a shell.
func keyCreateLine(dsn string, account int64) string {
	dsn = db.Name(dsn) // it is printed: without a password
	if strings.ContainsFunc(dsn, func(r rune) bool {
		return !strings.ContainsRune("/.:_-", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		dsn = "'" + strings.ReplaceAll(dsn, "'", `'\''`) + "'"
	}
	return fmt.Sprintf("tocsin key create --db %s --account %d --name NAME", dsn, account)
}

type keyListCmd struct {
	database
	Account int64 `help:"The account." required:"" placeholder:"ID"`
}

// Run prints a table.
func (cmd *keyListCmd) Run(con *console) error {
	return onExisting(cmd.DB, func(ctx context.Context, d *db.DB) error {
		var keys []auth.Key
		err := d.Snapshot(ctx, func(tx *db.Tx) (err error) {
			_, err = auth.OwnerOf(tx, cmd.Account)
			if err != nil {
				return err
			}
			keys, err = auth.ListKeys(tx, cmd.Account)
			return err
		})
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tNAME\tPERSON\tSTATUS\tPERMISSIONS\tCREATED\tLAST USED\tEXPIRES\tWAIT")
		for _, k := range keys {
			permissions := "all of the person's"
			if k.Permissions != nil {
				permissions = strconv.Itoa(len(k.Permissions))
			}
			wait := "as the server"
			if k.Wait != nil {
				wait = fmt.Sprintf("%ds", *k.Wait)
			}
			fmt.Fprintf(w, "%d\t%s\t%s (%d)\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Name, k.PersonName, k.PersonID, k.Status, permissions,
				moment(k.CreatedAt), moment(k.LastUsedAt), moment(k.ExpiresAt), wait)
		}
		return w.Flush()
	})
}

// moment formats Unix seconds, 0 as never.
func moment(unix int64) string {
	if unix == 0 {
		return "never"
	}
	return time.Unix(unix, 0).UTC().Format("2006-01-02 15:04:05Z")
}

// oneKey holds the flags of the commands that change an existing key.
type oneKey struct {
	database
	KeyID   int64 `arg:"" name:"key-id" help:"The key's id, as key list shows it."`
	Account int64 `help:"The account, if several accounts have a key with the id." placeholder:"ID"`
}

func (cmd oneKey) change(con *console, done string, fn func(tx *db.Tx, account int64) error) error {
	return onExisting(cmd.DB, func(ctx context.Context, d *db.DB) error {
		account := cmd.Account
		if account == 0 {
			if err := d.Read(ctx, func(tx *db.Tx) (err error) {
				account, err = auth.AccountOfKey(tx, cmd.KeyID)
				return err
			}); err != nil {
				return err
			}
		}
		return d.WriteOf(ctx, account, func(tx *db.Tx) (err error) {
			if err := fn(tx, account); err != nil {
				return err
			}
			fmt.Fprintf(con.out, "key %d of account %d is %s\n", cmd.KeyID, account, done)
			return nil
		})
	})
}

type keyDisableCmd struct{ oneKey }

// Run disables the key.
func (cmd *keyDisableCmd) Run(con *console) error {
	return cmd.change(con, "disabled", func(tx *db.Tx, account int64) error {
		return auth.SetKeyStatus(tx, account, cmd.KeyID, auth.KeyDisabled)
	})
}

type keyEnableCmd struct{ oneKey }

// Run enables the key.
func (cmd *keyEnableCmd) Run(con *console) error {
	return cmd.change(con, "enabled", func(tx *db.Tx, account int64) error {
		return auth.SetKeyStatus(tx, account, cmd.KeyID, auth.KeyEnabled)
	})
}

type keyDeleteCmd struct{ oneKey }

// Run deletes the key.
func (cmd *keyDeleteCmd) Run(con *console) error {
	return cmd.change(con, "deleted", func(tx *db.Tx, account int64) error {
		return auth.DeleteKey(tx, account, cmd.KeyID)
	})
}

type keyRotateCmd struct{ database }

// Run rotates the sealing keys, also under a running server.
func (cmd *keyRotateCmd) Run(con *console) error {
	return onExisting(cmd.DB, func(ctx context.Context, d *db.DB) error {
		r, err := cmd.config().SealKeys().Rotate(ctx, d)
		if err != nil {
			return err
		}
		fmt.Fprintf(con.out, "sealed %d secrets under the new key %s; dropped %d old keys\n", r.Sealed, r.KeyID, r.Dropped)
		return nil
	})
}

type keyNewCmd struct{}

// Run prints the key alone on standard output, so that it can go into a file.
func (cmd *keyNewCmd) Run(con *console) error {
	fmt.Fprintln(con.out, secret.NewKey())
	return nil
}

type keyResealCmd struct{ database }

// Run seals the secrets again, also under running servers.
func (cmd *keyResealCmd) Run(con *console) error {
	return onExisting(cmd.DB, func(ctx context.Context, d *db.DB) error {
		c := cmd.config()
		if err := app.SetClock(ctx, d, c.Clock); err != nil {
			return err
		}
		r, err := c.SealKeys().RenewAll(ctx, d)
		if err != nil {
			return err
		}
		fmt.Fprintf(con.out, "sealed %d secrets under the key %s; %d older keys are no longer needed: remove them from every server\n",
			r.Sealed, r.KeyID, r.Dropped)
		return nil
	})
}
