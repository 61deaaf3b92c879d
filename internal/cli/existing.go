package cli

import (
	"context"

	"tocsin/internal/platform/db"
)

// onExisting runs fn on a database that must be there: a mistyped path must not be answered with a new,
// empty database.
func onExisting(dsn string, fn func(context.Context, *db.DB) error) error {
	if err := db.MustExist(dsn); err != nil {
		return err
	}
	ctx := context.Background()
	d, err := db.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer d.Close()
	return fn(ctx, d)
}
