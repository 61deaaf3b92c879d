package db_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/fault"
)

// kept is a table of a program that runs while another one changes it.
const kept = `CREATE TABLE kept (account_id BIGINT NOT NULL, kept_id TEXT NOT NULL, at BIGINT NOT NULL, body TEXT NOT NULL,
	PRIMARY KEY (account_id, kept_id))`

// keep inserts, updates, deletes and reads rows on every connection of a program. A round is of its own ids.
func keep(d *db.DB, round string) error {
	read := func(tx *db.Tx) error {
		type row struct {
			id, body string
			at       int64
		}
		_, err := db.All(tx, func(scan db.Scan) (r row, err error) { return r, scan(&r.id, &r.at, &r.body) },
			`SELECT kept_id, at, body FROM kept WHERE account_id = $1 AND kept_id <= $2 ORDER BY kept_id`, 1, round)
		return err
	}
	for n := range 20 { // readers are lent in turn
		id := round + string(rune('a'+n))
		row := db.Rows{Table: "kept", Columns: []string{"account_id", "kept_id", "at", "body"}, Values: [][]any{{1, id, n, "appended"}}}
		for _, err := range []error{
			d.Read(ctx, read), d.Snapshot(ctx, read), d.Append(ctx, row),
			d.WriteOf(ctx, int64(n), func(tx *db.Tx) error {
				if err := tx.Do(`UPDATE kept SET at = at + 1 WHERE account_id = $1 AND kept_id = $2`, 1, id); err != nil {
					return err
				}
				if err := tx.Do(`INSERT INTO kept (account_id, kept_id, at, body) VALUES ($1, $2, $3, $4)
					ON CONFLICT (account_id, kept_id) DO UPDATE SET at = excluded.at`, 1, id, n, "again"); err != nil {
					return err
				}
				return read(tx)
			}),
			d.WriteOf(ctx, int64(n), func(tx *db.Tx) error { return tx.Do(`DELETE FROM kept WHERE account_id = $1 AND kept_id = $2`, 1, id) }),
		} {
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// postgresSQL runs statements in one transaction of another session, as a migration does.
func postgresSQL(t *testing.T, dsn, text string) {
	t.Helper()
	c := postgresSession(t, dsn)
	if _, err := c.Exec(ctx, text).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// postgresSession connects without this program's own settings.
func postgresSession(t *testing.T, dsn string) *pgconn.PgConn {
	t.Helper()
	c, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) }) // the database is dropped with its sessions
	return c
}

// TestStatementsSurviveSchemaChange: a program has prepared its statements, and a newer one changes the schema as one may
// that earlier programs run beside. None of their statements fails.
func TestStatementsSurviveSchemaChange(t *testing.T) {
	t.Parallel()
	changes := []struct{ what, text string }{
		{"a column", `ALTER TABLE kept ADD COLUMN note TEXT NOT NULL DEFAULT ''`},
		{"a column without a value", `ALTER TABLE kept ADD COLUMN more BIGINT`},
		{"an index", `CREATE INDEX kept_at ON kept (at)`},
		{"a table", `CREATE TABLE other (account_id BIGINT NOT NULL, kept_id TEXT NOT NULL)`},
		{"an index less", `DROP INDEX kept_at`},
		{"statistics", `ANALYZE kept`},
	}
	if dbtest.Server != "" {
		changes = append(changes, []struct{ what, text string }{
			{"a default", `ALTER TABLE kept ALTER COLUMN body SET DEFAULT ''`},
			{"a check", `ALTER TABLE kept ADD CONSTRAINT small CHECK (at < 1000000)`},
			{"other storage of a text", `ALTER TABLE kept ALTER COLUMN body SET STORAGE EXTERNAL`},
			{"partitions", `ALTER TABLE kept RENAME TO kept_before;
				CREATE TABLE kept (LIKE kept_before INCLUDING DEFAULTS, PRIMARY KEY (account_id, kept_id)) PARTITION BY RANGE (kept_id);
				ALTER TABLE kept ATTACH PARTITION kept_before FOR VALUES FROM (MINVALUE) TO ('p');
				CREATE TABLE kept_after PARTITION OF kept FOR VALUES FROM ('p') TO (MAXVALUE)`},
			{"a partition less", `DROP TABLE kept_after; CREATE TABLE kept_later PARTITION OF kept FOR VALUES FROM ('p') TO (MAXVALUE)`},
			{"a table in place of another", `DROP TABLE kept; ` + kept},
		}...)
	}
	d, dsn := opened(t, kept)
	newer := connected(t, dsn)
	for i, c := range changes {
		if err := keep(d, "k"+string(rune('a'+i))); err != nil { // in a partition
			t.Fatalf("before %s: %v", c.what, err)
		}
		if dbtest.Server == "" {
			change(t, newer, c.text)
		} else {
			postgresSQL(t, dsn, c.text)
		}
		for _, round := range []string{"l", "z"} { // in both partitions
			if err := keep(d, round); err != nil {
				t.Errorf("after %s: %v", c.what, err)
			}
		}
	}
}

// TestStatementsOfAnotherTypeArePreparedAgain: a column gets another type, which no release may do beside an earlier one. A
// read, an append and the begin of a write prepare their statements again; a function of a write cannot run twice, so it
// fails as while the database is away, and the next one succeeds.
func TestStatementsOfAnotherTypeArePreparedAgain(t *testing.T) {
	t.Parallel()
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL: the embedded engine prepares again by itself")
	}
	d, dsn := opened(t, kept)
	newer := connected(t, dsn)
	const query = `SELECT at FROM kept WHERE account_id = $1 ORDER BY kept_id`
	read := func(tx *db.Tx) error { _, err := db.All(tx, db.Column[int64], query, 1); return err }
	write := func(tx *db.Tx) error {
		if err := read(tx); err != nil {
			return err
		}
		return tx.Do(`UPDATE kept SET body = '' WHERE account_id = $1`, 1)
	}
	for range 20 {
		for _, err := range []error{d.Read(ctx, read), d.Snapshot(ctx, read), d.WriteOf(ctx, 1, write), d.WriteOf(ctx, 2, write)} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, kind := range []string{"INTEGER", "BIGINT"} {
		change(t, newer, `ALTER TABLE kept ALTER COLUMN at TYPE `+kind)
		if err := d.WriteOf(ctx, 1, write); err != nil && fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%s: the first write: %v", kind, err)
		}
		for n := range 20 {
			for _, err := range []error{d.Read(ctx, read), d.Snapshot(ctx, read), d.WriteOf(ctx, int64(n), write)} {
				if err != nil {
					t.Errorf("%s: %v", kind, err)
				}
			}
		}
	}
	change(t, newer, `ALTER TABLE kept ALTER COLUMN at TYPE INTEGER`)
	for range 20 {
		for _, err := range []error{d.Snapshot(ctx, read), d.Read(ctx, read)} {
			if err != nil {
				t.Error(err)
			}
		}
	}
	change(t, newer, `ALTER TABLE kept DROP COLUMN at`)
	if err := d.Read(ctx, read); fault.KindOf(err) != fault.Internal || err == nil {
		t.Errorf("without the column, on a schema that permits this program: %v", err)
	}
	postgresSQL(t, dsn, `UPDATE schema_floor SET version = 9998`)
	if err := d.Read(ctx, read); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("without the column, on one that is too new: %v", err)
	}
}

// TestProgramBelowFloorWritesNothing: from the moment at which a newer program has raised the floor, one that runs
// writes nothing, and its error has the reason. It goes on when an operator puts the schema back.
func TestProgramBelowFloorWritesNothing(t *testing.T) {
	t.Parallel()
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL: one program serves the embedded engine, and looks when it starts")
	}
	d, dsn := opened(t, kept)
	if err := keep(d, "a"); err != nil {
		t.Fatal(err)
	}
	before := count(t, d, `SELECT version FROM schema_floor`)
	if err := d.Write(ctx, func(tx *db.Tx) error { return tx.Do(`UPDATE schema_floor SET version = 9998`) }); err != nil {
		t.Fatal(err)
	}
	refused := func(err error) bool {
		return fault.KindOf(err) == fault.Unavailable && strings.Contains(err.Error(), "newer version")
	}
	for account := range int64(4) {
		ran := false
		if err := d.WriteOf(ctx, account, func(*db.Tx) error { ran = true; return nil }); !refused(err) || ran {
			t.Errorf("a write: %v, ran: %v", err, ran)
		}
	}
	rows := db.Rows{Table: "kept", Columns: []string{"account_id", "kept_id", "at", "body"}}
	var err error
	for n := 0; !refused(err); n++ { // it looks once in a while, because appends are many
		rows.Values = [][]any{{1, strings.Repeat("x", n), n, ""}}
		err = d.Append(ctx, rows)
		if err != nil && !refused(err) {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	postgresSQL(t, dsn, fmt.Sprint("UPDATE schema_floor SET version = ", before))
	if err := keep(d, "b"); err != nil {
		t.Error(err)
	}
}

// TestMigrationLetsOthersGoOn: a migration that has to wait for another session stops waiting before those who wait behind it
// do, and tries again. In the end it names the session.
func TestMigrationLetsOthersGoOn(t *testing.T) {
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL: the embedded engine has one writer")
	}
	defer db.MigrateFor(2 * time.Second)()
	dsn, _, _ := strings.Cut(dbtest.New(t), "?") // with the limits of production
	d, err := db.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.MigrateTo(ctx, 92); err != nil {
		t.Fatal(err)
	}
	long := postgresSession(t, dsn)
	const text = "SET application_name = 'a long report'; BEGIN; LOCK TABLE goose_db_version IN SHARE MODE"
	if _, err := long.Exec(ctx, text).ReadAll(); err != nil {
		t.Fatal(err)
	}
	_, err = d.Migrate(ctx)
	if err == nil || !strings.Contains(err.Error(), "a long report") {
		t.Errorf("while another session holds a lock: %v", err)
	}
	ended := make(chan error, 1)
	go func() {
		time.Sleep(500 * time.Millisecond) // the migration waits, or is about to
		_, err := long.Exec(ctx, "COMMIT").ReadAll()
		ended <- err
	}()
	applied, err := d.Migrate(ctx)
	if err := errors.Join(err, <-ended); err != nil || len(applied) == 0 {
		t.Errorf("%v, %v", applied, err)
	}
}
