package dbtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tocsin/internal/platform/db/postgres"
)

// made counts the databases of this process, for their names.
var made atomic.Int64

func nextName() string { return fmt.Sprintf("tocsin_test_%s_%d", process, made.Add(1)) }

// process is in the names of this process's databases. Its number would not do: the system uses numbers again.
var process = strings.ToLower(rand.Text())

// newPostgres makes a database as a copy of another and returns its DSN. It is dropped with the test.
func newPostgres(t testing.TB, template string) string {
	t.Helper()
	name := nextName()
	if err := command("CREATE DATABASE " + name + " TEMPLATE " + template + strategy()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := command("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return named(name)
}

// strategy makes a server copy the files of a template. From version 15 on the default writes them into the log of the server
// as well, which takes nearly twice the processor time; before, there is no choice.
var strategy = sync.OnceValue(func() string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := pgconn.Connect(ctx, Server)
	if err != nil {
		return "" // the next statement reports it
	}
	defer func() { _ = c.Close(ctx) }() // nothing was written
	if version, _, _ := strings.Cut(c.ParameterStatus("server_version"), "."); len(version) == 2 && version >= "15" {
		return " STRATEGY FILE_COPY"
	}
	return ""
})

// makePostgres makes the database that tests of this process copy. It stays until the server is removed.
func (p *Template) makePostgres() (name string, err error) {
	with, err := withSchema()
	if err != nil || p.Fill == nil {
		return with, err
	}
	name = nextName()
	if err := command("CREATE DATABASE " + name + " TEMPLATE " + with); err != nil {
		return "", err
	}
	return name, p.fill(named(name))
}

// withSchema returns the database of the server that has the schema alone. All processes copy it; the first one makes it,
// because ninety migrations take a second.
var withSchema = sync.OnceValues(func() (name string, err error) {
	schema, err := postgres.Schema()
	if err != nil {
		return "", err
	}
	name = "tocsin_schema_" + schema
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	c, err := pgconn.Connect(ctx, Server)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, c.Close(ctx)) }() // which ends the lock
	if err := c.Exec(ctx, "SELECT pg_advisory_lock(7428306)").Close(); err != nil {
		return "", err
	}
	found := c.ExecParams(ctx, "SELECT 1 FROM pg_database WHERE datname = $1", [][]byte{[]byte(name)}, nil, nil, nil).Read()
	if found.Err != nil || len(found.Rows) > 0 {
		return name, found.Err
	}
	part := nextName() // it has its name when it is whole
	if err := c.Exec(ctx, "CREATE DATABASE "+part+" TEMPLATE template0").Close(); err != nil {
		return "", err
	}
	if err := (&Template{}).fill(named(part)); err != nil {
		return "", err
	}
	return name, c.Exec(ctx, "ALTER DATABASE "+part+" RENAME TO "+name).Close()
})

// command sends one statement to the server.
func command(text string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := pgconn.Connect(ctx, Server)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, text).ReadAll()
	return errors.Join(err, c.Close(ctx))
}

// named returns the DSN of a database of the server. Its limits are far above those of production: on a busy machine no
// statement of a test may take too long. Tests of the limits have servers of their own.
func named(name string) string {
	u, err := url.Parse(Server)
	if err != nil {
		return Server // Open reports it
	}
	u.Path = "/" + name
	query := u.Query()
	for _, limit := range []string{"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "tcp_user_timeout"} {
		query.Set(limit, "60s")
	}
	u.RawQuery = query.Encode()
	return u.String()
}
