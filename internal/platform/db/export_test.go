package db

import (
	"context"
	"time"
)

// Waiting returns how many writes wait.
func (d *DB) Waiting() int {
	return d.writes.Waiting()
}

// MigrateTo brings the schema up to a version.
func (d *DB) MigrateTo(ctx context.Context, version int64) error {
	p, end, err := d.engine.Migrations(ctx)
	if err != nil {
		return err
	}
	defer end()
	_, err = p.UpTo(ctx, version)
	return err
}

// MigrateFor sets how long a migration waits for other sessions, until the returned function is called.
func MigrateFor(limit time.Duration) (end func()) {
	before := migrateFor
	migrateFor = limit
	return func() { migrateFor = before }
}
