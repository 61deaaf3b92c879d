package cli

import (
	"context"
	"fmt"
	"text/tabwriter"

	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

type accountCmd struct {
	List accountListCmd `cmd:"" help:"List the accounts of a database."`
}

type accountListCmd struct{ database }

// Run prints a table of all accounts with their IDs, which other commands need.
func (cmd *accountListCmd) Run(con *console) error {
	return onExisting(cmd.DB, func(ctx context.Context, d *db.DB) error {
		var accounts []person.Account
		err := d.Read(ctx, func(tx *db.Tx) (err error) {
			accounts, err = person.Accounts(tx)
			return err
		})
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tNAME\tOWNER\tTIME ZONE")
		for _, a := range accounts {
			fmt.Fprintf(w, "%d\t%s\t%d\t%s\n", a.AccountID, a.AccountName, a.OwnerID, a.TimeZone)
		}
		return w.Flush()
	})
}
