package cli

import (
	"context"
	"errors"
	"fmt"

	"tocsin/internal/platform/db"
)

type migrateCmd struct{ database }

// Run brings the schema up to date and prints the migrations that it applied.
func (cmd *migrateCmd) Run(con *console) (err error) {
	ctx := context.Background()
	d, err := db.Connect(ctx, cmd.DB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.Finished(ctx); err != nil {
		return err
	}
	steps, err := d.Migrate(ctx, func(why error) { fmt.Fprintln(con.err, "waiting:", why) })
	if err != nil {
		return err
	}
	for _, s := range steps {
		fmt.Fprintf(con.out, "applied %s in %s\n", s.Name, s.Took)
	}
	if len(steps) == 0 {
		fmt.Fprintln(con.out, "the schema is up to date")
	}
	return nil
}
