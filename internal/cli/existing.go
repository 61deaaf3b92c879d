package cli

import (
	"context"
	"errors"

	"tocsin/internal/platform/db"
)

// onExisting runs fn on a database that must exist: a mistyped path must not create a new, empty database.
func onExisting(dsn string, fn func(context.Context, *db.DB) error) (err error) {
	if err := db.MustExist(dsn); err != nil {
		return err
	}
	ctx := context.Background()
	d, err := db.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return fn(ctx, d)
}
