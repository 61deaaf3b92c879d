package dbtest

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Prepare returns a function that prepares a query on an empty database of the run's engine, without running it.
func Prepare(t testing.TB) func(query string) error {
	t.Helper()
	depends()
	if Server == "" {
		plans := Plans(t)
		return func(query string) error {
			_, err := plans(query)
			return err
		}
	}
	c, err := pgconn.Connect(t.Context(), Migrated(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(t.Context()) }) // the server drops the connection with the database
	return func(query string) error {
		_, err := c.Prepare(t.Context(), "", query, nil)
		return err
	}
}
