package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"

	"tocsin/internal/platform/db/driver"
)

// Tables reads the catalogue. The table of the locks of writers, and that of the migrations, belong to the engine.
func (e *Engine) Tables(q driver.Queries) (all []driver.Table, err error) {
	at := map[string]int{}
	_, err = driver.All(q, func(scan driver.Scan) (struct{}, error) {
		var table, column, kind string
		var identity bool
		if err := scan(&table, &column, &kind, &identity); err != nil {
			return struct{}{}, err
		}
		if _, known := at[table]; !known {
			at[table] = len(all)
			all = append(all, driver.Table{Name: table})
		}
		k, ok := kinds[kind]
		if !ok {
			return struct{}{}, fmt.Errorf("column %s of table %s has the type %s, which is not one of this program", column, table, kind)
		}
		t := &all[at[table]]
		t.Columns = append(t.Columns, driver.TableColumn{Name: column, Kind: k, Identity: identity})
		if identity {
			t.Key = []driver.TableColumn{{Name: column, Kind: k, Identity: true}}
		}
		return struct{}{}, nil
	}, `SELECT CAST(c.relname AS TEXT), CAST(a.attname AS TEXT), format_type(a.atttypid, NULL),
			a.attidentity <> '' OR pg_get_serial_sequence(quote_ident(c.relname), a.attname) IS NOT NULL
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
			AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
			AND c.relname NOT IN ('goose_db_version', 'writer') AND coalesce(obj_description(c.oid, 'pg_class'), '') <> $1`, detached)
	if err != nil {
		return nil, err
	}
	if err := keys(q, all, at); err != nil {
		return nil, err
	}
	_, err = driver.All(q, func(scan driver.Scan) (struct{}, error) {
		var child, parent string
		if err := scan(&child, &parent); err != nil {
			return struct{}{}, err
		}
		if i, known := at[child]; known {
			all[i].Parents = append(all[i].Parents, parent)
		}
		return struct{}{}, nil
	}, `SELECT DISTINCT CAST(c.relname AS TEXT), CAST(p.relname AS TEXT) FROM pg_constraint f
		JOIN pg_class c ON c.oid = f.conrelid JOIN pg_class p ON p.oid = f.confrelid
		WHERE f.contype = 'f' AND c.relnamespace = CAST(current_schema() AS regnamespace)`)
	for _, child := range unreferenced {
		if i, known := at[child]; known {
			all[i].Parents = append(all[i].Parents, "account")
		}
	}
	return all, err
}

// keys adds the primary keys of the tables whose rows the database does not number.
func keys(q driver.Queries, all []driver.Table, at map[string]int) error {
	numbered := map[string]bool{}
	for _, t := range all {
		numbered[t.Name] = t.Key != nil
	}
	_, err := driver.All(q, func(scan driver.Scan) (struct{}, error) {
		var table, column, kind string
		if err := scan(&table, &column, &kind); err != nil {
			return struct{}{}, err
		}
		if i, known := at[table]; known && !numbered[table] {
			all[i].Key = append(all[i].Key, driver.TableColumn{Name: column, Kind: kinds[kind]})
		}
		return struct{}{}, nil
	}, `SELECT CAST(c.relname AS TEXT), CAST(a.attname AS TEXT), format_type(a.atttypid, NULL)
		FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
			CROSS JOIN LATERAL unnest(CAST(i.indkey AS int2[])) WITH ORDINALITY k(attnum, place)
			JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
		WHERE i.indisprimary AND c.relnamespace = CAST(current_schema() AS regnamespace) AND NOT c.relispartition
		ORDER BY c.relname, k.place`)
	return err
}

var kinds = map[string]driver.Kind{
	"bigint": driver.Integer, "text": driver.Text, "boolean": driver.Boolean, "bytea": driver.Bytes, "double precision": driver.Float,
}

// numbered makes the database number new rows of a table after those that it has.
func numbered(q driver.Queries, t driver.Table) error {
	for _, c := range t.Columns {
		if !c.Identity {
			continue
		}
		query := "SELECT setval(pg_get_serial_sequence($1, $2), coalesce(max(" + driver.Quoted(c.Name) + "), 0) + 1, FALSE) FROM " +
			driver.Quoted(t.Name)
		_, _, err := driver.One(q, driver.Column[int64], query, driver.Quoted(t.Name), c.Name)
		if err != nil {
			return err
		}
	}
	return nil
}

// asCopy names the connections that are no server's.
const asCopy = "tocsin copy"

// InUse looks for the sessions of servers and copies.
func (e *Engine) InUse(ctx context.Context, copies bool) (err error) {
	config := e.config.Copy()
	config.RuntimeParams["application_name"] = asCopy
	c := &conn{engine: e, config: config}
	if err := c.open(ctx); err != nil {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	n, or := int64(1), ""
	if copies {
		or = " or of another copy"
	}
	for try := 0; n > 0 && try < 20; try++ { // the session of a server that has ended is gone a little later
		if try > 0 {
			if _, err := driver.Exec(driver.Session{Conn: c}, "SELECT 1 FROM pg_sleep(0.1)"); err != nil {
				return err
			}
		}
		n, _, err = driver.One(driver.Session{Conn: c}, driver.Column[int64], `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND (application_name = $1 OR $2 AND application_name = $3)`,
			e.config.RuntimeParams["application_name"], copies, asCopy)
		if err != nil {
			return err
		}
	}
	if n > 0 {
		return fmt.Errorf("%s is in use by %d connections of servers%s: stop them first", e.name, n, or)
	}
	return nil
}

// ToFill names the connections, so that they are not taken for those of a server.
func (e *Engine) ToFill(ctx context.Context) (driver.Engine, error) {
	if err := e.InUse(ctx, true); err != nil {
		return nil, err
	}
	own := &Engine{dsn: e.dsn, name: e.name, config: e.config.Copy(), watch: newWatchers(hostsOf(e.config))}
	own.config.RuntimeParams["application_name"] = asCopy
	return own, nil
}

// Load sends the rows by COPY in its binary form: 11 bytes, two numbers that are zero, the rows, and -1.
func (c *conn) Load(t driver.Table, rows iter.Seq2[[]any, error]) error {
	if err := c.Flush(); err != nil {
		return err
	}
	next, stop := iter.Pull2(rows)
	defer stop()
	r := &copyReader{table: t, next: next, buf: append([]byte("PGCOPY\n\xff\r\n\x00"), make([]byte, 8)...)}
	_, err := c.raw.CopyFrom(context.Background(), r, "COPY "+driver.Quoted(t.Name)+" ("+t.ColumnList()+") FROM STDIN (FORMAT binary)")
	if r.err != nil {
		return r.err
	}
	if err != nil {
		return err
	}
	return numbered(c, t)
}

// copyReader is the rows in the form of COPY.
type copyReader struct {
	table driver.Table
	next  func() ([]any, error, bool)
	buf   []byte
	ended bool
	err   error
}

// fillFrom is how many bytes are made at once.
const fillFrom = 1 << 16

func (r *copyReader) Read(p []byte) (n int, err error) {
	for len(r.buf) < min(len(p), fillFrom) && !r.ended {
		values, err, more := r.next()
		switch {
		case !more:
			r.ended = true
			r.buf = binary.BigEndian.AppendUint16(r.buf, 0xFFFF)
		case err != nil:
			r.err = err
			return 0, err
		default:
			r.err = r.add(values)
			if r.err != nil {
				return 0, r.err
			}
		}
	}
	n = copy(p, r.buf)
	r.buf = r.buf[n:]
	if n == 0 && r.ended {
		return 0, io.EOF
	}
	return n, nil
}

// add adds a row: how many columns, and of each its length and value, -1 for NULL.
func (r *copyReader) add(values []any) error {
	r.buf = binary.BigEndian.AppendUint16(r.buf, uint16(len(values))) //nolint:gosec // a table has a few dozen
	for i, arg := range values {
		_, v, err := valueOf(arg)
		if err != nil {
			return fmt.Errorf("column %s: %w", r.table.Columns[i].Name, err)
		}
		if arg == nil {
			r.buf = binary.BigEndian.AppendUint32(r.buf, 0xFFFFFFFF)
			continue
		}
		r.buf = append(binary.BigEndian.AppendUint32(r.buf, uint32(len(v))), v...) //nolint:gosec // below 1 GB
	}
	return nil
}
