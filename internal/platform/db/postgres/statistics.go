package postgres

import (
	"context"
	"errors"

	"tocsin/internal/platform/db/driver"
)

// grown lists the statements that take new statistics of the tables that are at least four times as large as at the last
// time. Those of a small table, below 16 pages, make no difference. A table that another process looks at is skipped.
const grown = `SELECT format('ANALYZE (SKIP_LOCKED) %I', relname) FROM pg_class
	WHERE relkind = 'r' AND relnamespace = CAST(current_schema() AS regnamespace)
		AND pg_relation_size(oid) >= 4 * greatest(relpages, 4) * CAST(current_setting('block_size') AS BIGINT)`

// Analyse does early what the server does once a minute. Until then a table that fills is planned for as if it were empty:
// rows are found by the first column of an index alone, and each batch of events reads all alerts of the account.
func (e *Engine) Analyse(ctx context.Context, read driver.Read) error {
	return read(ctx, func(q driver.Queries) error {
		statements, err := driver.All(q, driver.Column[string], grown)
		for _, query := range statements {
			_, failed := driver.Exec(q, query)
			err = errors.Join(err, failed)
		}
		return err
	})
}
