package db

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"net/url"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the same engine behind database/sql, which goose works on
)

//go:embed migrations/*.sql
var migrations embed.FS

// Applied is one migration that Migrate applied: the name of its file and its duration as text.
type Applied struct{ Name, Took string }

// Migrate brings the schema up to date, each migration in its own transaction, and returns what it applied.
// On a schema that is up to date it does nothing.
func (d *DB) Migrate(ctx context.Context) ([]Applied, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	h, err := sql.Open("sqlite", d.uri())
	if err != nil {
		return nil, err
	}
	defer func() { _ = h.Close() }() // every migration is committed by then
	p, err := goose.NewProvider(goose.DialectSQLite3, h, files)
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	if err := d.refuseNewer(ctx, p); err != nil {
		return nil, err
	}
	results, err := p.Up(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate %s: %w", d.dsn, err)
	}
	applied := []Applied{}
	for _, r := range results {
		applied = append(applied, Applied{r.Source.Path, r.Duration.Round(1e6).String()})
	}
	return applied, nil
}

// refuseNewer returns an error when the schema is newer than this program, which would not write what the newer
// one relies on.
func (d *DB) refuseNewer(ctx context.Context, p *goose.Provider) error {
	has, err := p.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("migrate %s: %w", d.dsn, err)
	}
	sources := p.ListSources()
	if knows := sources[len(sources)-1].Version; has > knows {
		return fmt.Errorf("%s was written by a newer version of this program (schema %d, this one knows %d): "+
			"use that version, or restore a backup from before the upgrade", d.dsn, has, knows)
	}
	return nil
}

// uri returns the name of the database for database/sql. It leaves foreign keys off: migrations that rebuild a table
// would otherwise delete the rows that refer to it.
func (d *DB) uri() string {
	query := url.Values{"_pragma": {"busy_timeout(10000)", "synchronous(FULL)"}}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: d.path}).EscapedPath(), RawQuery: query.Encode()}).String()
}
