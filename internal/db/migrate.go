package db

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Applied is one step that Migrate took: the file's name and how long it took, in words.
type Applied struct{ Name, Took string }

// Migrate brings the schema up to date, each step in a transaction of its own, and says what it did.
// Running it on an up-to-date database does nothing.
func (d *DB) Migrate(ctx context.Context) ([]Applied, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, d.handles[0], files)
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
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
