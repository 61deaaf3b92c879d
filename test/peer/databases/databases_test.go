// Package databases asks real servers of SQL databases as rules ask them: PostgreSQL, and Debian's packages mariadb-server-core,
// mariadb-client-core and clickhouse-server. Without them the tests are skipped, and make test reports it.
package databases

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/egress"
	"tocsin/internal/querier"
	"tocsin/internal/querier/clickhouse"
	"tocsin/internal/querier/mysql"
	"tocsin/internal/querier/postgres"
	"tocsin/test/pgserver"
)

const timeout = 90 * time.Second

// local is a client that may reach this machine.
func local() *egress.Client {
	return egress.New(egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
}

// database is a running server of a type.
type database struct {
	t       *testing.T
	open    querier.Opener
	address string
	user    string // that the tests of the guard sign in as: it may write
}

// as returns the querier of a user.
func (d database) as(block map[string]any) querier.Querier {
	d.t.Helper()
	payload, err := json.Marshal(block)
	if err != nil {
		d.t.Fatal(err)
	}
	q, failed := d.open(querier.Datasource{Address: d.address, Payload: payload}, local())
	if failed != nil {
		d.t.Fatal(failed)
	}
	d.t.Cleanup(func() { q.Close() })
	return q
}

// wait waits until the server answers.
func (d database) wait(q querier.Querier) {
	d.t.Helper()
	var failed *evaluate.Failure
	for end := time.Now().Add(timeout); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		_, failed = q.Query(context.Background(), querier.Ask{Expr: "SELECT 1"})
		if failed == nil {
			return
		}
	}
	d.t.Fatalf("the server does not answer: %v", failed)
}

// query is a query and its outcome: rows in short, or a failure.
type query struct {
	querier.Ask
	want string
	kind evaluate.Kind
}

// ended waits until the server runs no query any more that a list of its
// queries finds: a server may answer a query it ends a moment before it
// takes the query from the list. The wait is shorter than the 5 seconds in
// which MariaDB sees by itself that no one waits for a query.
func (d database) ended(q querier.Querier, list string) {
	d.t.Helper()
	var rows []evaluate.Row
	var failed *evaluate.Failure
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		rows, failed = q.Query(context.Background(), querier.Ask{Expr: list})
		if failed == nil && len(rows) == 0 {
			return
		}
	}
	d.t.Errorf("%s\nstill finds %v %v", list, rows, failed)
}

func (d database) ask(q querier.Querier, c query) {
	d.t.Helper()
	began := time.Now()
	rows, failed := q.Query(context.Background(), c.Ask)
	var got []string
	for _, row := range rows {
		got = append(got, fmt.Sprint(row.Labels, row.Values, row.Fields))
	}
	if text := strings.Join(got, " "); c.kind == "" && (failed != nil || text != c.want) || c.kind != "" && (failed == nil || failed.Kind != c.kind || rows != nil) {
		d.t.Errorf("%s\n%s %v, want %s %s", c.Expr, text, failed, c.want, c.kind)
	}
	if took := time.Since(began); took > 20*time.Second {
		d.t.Errorf("%s took %s", c.Expr, took)
	}
	d.t.Logf("%s: %v", c.Expr, failed)
}

// refuse asks what the guard must refuse.
func (d database) refuse(q querier.Querier, texts ...string) {
	d.t.Helper()
	for _, text := range texts {
		d.ask(q, query{Ask: querier.Ask{Expr: text}, kind: evaluate.BadQuery})
	}
}

// phases returns the phases of a test, and the message of the last.
func phases(q querier.Querier) (names, last string) {
	for _, p := range q.Test(context.Background()) {
		if !p.OK {
			names += "not "
		}
		names += p.Name + " "
		last = p.Message
	}
	return names, last
}

func (d database) tests(q querier.Querier, names, last string) {
	d.t.Helper()
	if gotNames, gotLast := phases(q); strings.TrimSpace(gotNames) != names || !strings.Contains(gotLast, last) || last == "" && gotLast != "" {
		d.t.Errorf("phases %s: %s, want %s: %s", gotNames, gotLast, names, last)
	}
}

func TestPostgreSQLIsAsked(t *testing.T) {
	s, err := pgserver.Start(pgserver.Options{})
	if errors.Is(err, pgserver.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.SQL("postgres", `CREATE TABLE orders (id int, total numeric(10,2), note text, at timestamptz);
		INSERT INTO orders VALUES (1, 12.50, 'a', '2026-11-26 12:00:00+02'), (2, NULL, NULL, NULL);
		CREATE ROLE reader LOGIN PASSWORD 'x'; GRANT SELECT ON orders TO reader;
		CREATE ROLE writer LOGIN; GRANT SELECT, INSERT ON orders TO writer;`); err != nil {
		t.Fatal(err)
	}
	d := database{t: t, open: postgres.Open, address: fmt.Sprintf("127.0.0.1:%d", s.Port)}
	q := d.as(map[string]any{"username": "postgres", "ssl_mode": "disable", "database": "postgres", "open_conns": 2})
	file := filepath.Join(t.TempDir(), "written")
	d.refuse(q,
		"COPY (SELECT 1) TO PROGRAM 'cat > "+file+"'", "SET TRANSACTION READ WRITE", "DO $$ BEGIN END $$", "EXPLAIN ANALYZE SELECT 1", "SHOW ALL",
		"WITH gone AS (DELETE FROM orders RETURNING 1) SELECT * FROM gone", "SELECT 1 INTO made", "SELECT * FROM orders FOR UPDATE",
		"SELECT 1; DELETE FROM orders", "SELECT 1; COMMIT; DELETE FROM orders", "SELECT set_config('transaction_read_only', 'off', true)",
		"DELETE FROM orders", "CREATE TABLE made ()", "SELECT nextval('none')", "", ";", "SELECT $1",
		"SELECT 1 FROM", "SELECT * FROM none", "SELECT 1/0", "SELECT 'a'::int", "SELECT 1 /* --", "-- SELECT 1",
	)
	for _, c := range []query{
		{Ask: querier.Ask{Expr: "SELECT id, Total AS \"Sum\", note, at FROM orders ORDER BY id;\n", ValueFields: []string{"Sum"}, LabelFields: []string{"ID", "at"}},
			want: "map[at:2026-11-26T10:00:00Z id:1] map[sum:12.5] map[note:a] map[id:2] map[sum:NaN] map[note:]"},
		{Ask: querier.Ask{Expr: "SELECT note, count(*) AS n, sum(total) FROM orders GROUP BY 1 ORDER BY 1 -- end", ValueFields: []string{"n", "sum"}},
			want: "map[note:a] map[n:1 sum:12.5] map[] map[] map[n:1 sum:NaN] map[]"},
		{Ask: querier.Ask{Expr: "SELECT 'x' AS v, true AS b, 1.5::float8 AS f", ValueFields: []string{"v", "b"}}, want: "map[f:1.5] map[b:1] map[v:x]"},
		{Ask: querier.Ask{Expr: "SELECT 1 AS a, 2 AS \"A\""}, kind: evaluate.Invalid},
		{Ask: querier.Ask{Expr: "SELECT 1 AS a", ValueFields: []string{"b"}}, kind: evaluate.BadQuery},
		{Ask: querier.Ask{Expr: "SELECT * FROM generate_series(1, 1000000)", Limit: 1000}, kind: evaluate.TooMuch},
		{Ask: querier.Ask{Expr: "SELECT repeat('x', 1000000) FROM generate_series(1, 100)"}, kind: evaluate.TooMuch},
		{Ask: querier.Ask{Expr: "SELECT repeat('x', 100000000)"}, kind: evaluate.TooMuch},
		{Ask: querier.Ask{Expr: "SELECT pg_sleep(60)", Timeout: 700 * time.Millisecond}, kind: evaluate.Timeout},
		{Ask: querier.Ask{Expr: "SELECT count(*) AS n FROM orders"}, want: "map[n:2] map[] map[]"},
	} {
		d.ask(q, c)
	}
	d.ended(q, "SELECT query FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND state = 'active' AND pid <> pg_backend_pid()")
	if _, err := os.Stat(file); err == nil {
		t.Error("a query wrote a file")
	}
	d.tests(q, "resolve dial sign_in query not rights", "this role is a superuser: give it one that may only SELECT")
	d.tests(d.as(map[string]any{"username": "writer", "database": "postgres"}), "resolve dial sign_in query not rights", "this role may write the table orders")
	d.tests(d.as(map[string]any{"username": "reader", "password": "x", "database": "postgres"}), "resolve dial sign_in query rights", "")
	d.tests(d.as(map[string]any{"username": "none"}), "resolve dial not sign_in", `role "none" does not exist`)
	d.tests(d.as(map[string]any{"username": "reader", "ssl_mode": "require"}), "resolve dial not tls", "TLS")
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run starts a server that ends with the test. Its output is logged when the test has failed.
func run(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Stdout = &said
	cmd.Stderr = &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
			t.Errorf("%s: %v", program, err)
		}
		cmd.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", program, said.String())
		}
	})
}

// program returns the path of a program, which Debian keeps for administrators.
func program(t *testing.T, name, of string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/" + name)
	}
	if err != nil {
		t.Skipf("%s is not installed: apt-get install %s", name, of)
	}
	return path
}

func TestMariaDBIsAsked(t *testing.T) {
	server := program(t, "mariadbd", "mariadb-server-core")
	dir, port := t.TempDir(), pgserver.PortOf(t)
	data := filepath.Join(dir, "data")
	as := []string{}
	if os.Getuid() == 0 {
		as = append(as, "--user=root")
	}
	args := append([]string{"--no-defaults", "--datadir=" + data, "--auth-root-authentication-method=normal", "--skip-test-db"}, as...)
	if out, err := exec.Command("mariadb-install-db", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	write(t, dir, "init.sql", `CREATE DATABASE shop;
CREATE TABLE shop.orders (id int, total decimal(10,2), note text, at timestamp NULL);
INSERT INTO shop.orders VALUES (1, 12.50, 'a', FROM_UNIXTIME(1795687200)), (2, NULL, NULL, NULL);
CREATE USER reader@'%' IDENTIFIED BY 'x';
GRANT SELECT ON shop.* TO reader@'%';
GRANT SLAVE MONITOR ON *.* TO reader@'%';
CREATE USER writer@'%';
GRANT SELECT, INSERT ON shop.* TO writer@'%';
`)
	run(t, dir, server, append([]string{"--no-defaults", "--datadir=" + data, fmt.Sprintf("--port=%d", port), "--bind-address=127.0.0.1",
		"--socket=" + filepath.Join(dir, "s"), "--init-file=" + filepath.Join(dir, "init.sql"), "--skip-name-resolve", "--secure-file-priv="}, as...)...)
	d := database{t: t, open: mysql.Open, address: fmt.Sprintf("127.0.0.1:%d", port)}
	q := d.as(map[string]any{"username": "root", "open_conns": 2})
	d.wait(q)
	file := filepath.Join(dir, "written")
	d.refuse(q,
		"SELECT 1 INTO OUTFILE '"+file+"'", "SELECT 1 /*! INTO OUTFILE '"+file+"' */", "SELECT 1) q INTO OUTFILE '"+file+"' -- ", "SELECT 1) AS t INTO OUTFILE '"+file+"' #",
		"SELECT 1 INTO @v", "CALL shop.none()", "SET @v = 1", "DO SLEEP(0)", "HANDLER shop.orders OPEN", "SELECT 1; DELETE FROM shop.orders",
		"SELECT 1 /*", "SELECT 1 */", "DELETE FROM shop.orders", "EXPLAIN DELETE FROM shop.orders", "ANALYZE SELECT 1", "ANALYZE TABLE shop.orders",
		"SELECT 1 AS a, 2 AS a", "SELECT 1) AS t; DELETE FROM shop.orders; SELECT * FROM (SELECT 1", "INSERT INTO shop.orders SELECT * FROM shop.orders",
		"SELECT ?", "", ";", "SHOWS", "COMMIT", "LOAD DATA INFILE '/etc/passwd' INTO TABLE shop.orders", "SHOW TABLES FROM shop; DELETE FROM shop.orders",
		"SELECT * FROM none.none", "SELECT 1 FROM",
	)
	for _, c := range []query{
		{Ask: querier.Ask{Expr: "SELECT id, total AS Sum, note, at FROM shop.orders ORDER BY id; ", ValueFields: []string{"sum"}, LabelFields: []string{"ID", "at"}},
			want: "map[at:2026-11-26T10:00:00Z id:1] map[sum:12.5] map[note:a] map[id:2] map[sum:NaN] map[note:]"},
		{Ask: querier.Ask{Expr: "SELECT note, count(*) AS n, sum(total) AS s FROM shop.orders GROUP BY 1 ORDER BY 1 DESC -- end", ValueFields: []string{"n", "s"}},
			want: "map[note:a] map[n:1 s:12.5] map[] map[] map[n:1 s:NaN] map[]"},
		{Ask: querier.Ask{Expr: "SELECT 'x' AS v, true AS b, 1.5e0 AS f, cast(18446744073709551615 as unsigned) AS u", ValueFields: []string{"v", "b", "u"}}, want: "map[f:1.5] map[b:1 u:1.8446744073709552e+19] map[v:x]"},
		{Ask: querier.Ask{Expr: "SHOW TABLES FROM shop"}, want: "map[tables_in_shop:orders] map[] map[]"},
		{Ask: querier.Ask{Expr: "show\treplica status"}},
		{Ask: querier.Ask{Expr: "SHOW VARIABLES", Limit: 10}, kind: evaluate.TooMuch},
		{Ask: querier.Ask{Expr: "SELECT * FROM seq_1_to_10000000", Limit: 1000}, kind: evaluate.BadQuery},
		{Ask: querier.Ask{Expr: "SELECT seq FROM mysql.none", Limit: 1000}, kind: evaluate.BadQuery},
		{Ask: querier.Ask{Expr: "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i FROM n", Limit: 900}, kind: evaluate.TooMuch},
		{Ask: querier.Ask{Expr: "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 50) SELECT i, repeat('x', 1000000) FROM n"}, kind: evaluate.TooMuch},
		{Ask: querier.Ask{Expr: "SELECT SLEEP(61)", Timeout: 700 * time.Millisecond}, kind: evaluate.Timeout},
		{Ask: querier.Ask{Expr: "SELECT count(*) AS n FROM shop.orders"}, want: "map[n:2] map[] map[]"},
	} {
		d.ask(q, c)
	}
	d.ended(q, "SELECT info FROM information_schema.processlist WHERE info LIKE '%SLEEP(61)%' AND id <> connection_id()")
	if _, err := os.Stat(file); err == nil {
		t.Error("a query wrote a file")
	}
	d.tests(q, "resolve dial sign_in query not rights", "this role has the right ALL PRIVILEGES: give it one that may only SELECT")
	d.tests(d.as(map[string]any{"username": "writer"}), "resolve dial sign_in query not rights", "this role has the right INSERT")
	d.tests(d.as(map[string]any{"username": "reader", "password": "x"}), "resolve dial sign_in query rights", "")
	d.tests(d.as(map[string]any{"username": "reader", "password": "wrong"}), "resolve dial not sign_in", "Access denied")
	d.tests(d.as(map[string]any{"username": "reader", "password": "x", "tls_mode": "require"}), "resolve dial not tls", "TLS")
}

func TestClickHouseIsAsked(t *testing.T) {
	server := program(t, "clickhouse-server", "clickhouse-server")
	dir, port := t.TempDir(), pgserver.PortOf(t)
	write(t, dir, "config.xml", fmt.Sprintf(`<yandex><logger><level>warning</level><console>1</console></logger>
<tcp_port>%d</tcp_port><listen_host>127.0.0.1</listen_host><path>%[2]s/data/</path><tmp_path>%[2]s/tmp/</tmp_path><mark_cache_size>5368709</mark_cache_size>
<users_config>users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database></yandex>`, port, dir))
	write(t, dir, "users.xml", `<yandex><profiles><default></default><reader><readonly>1</readonly></reader><setter><readonly>2</readonly><max_memory_usage>500000000</max_memory_usage></setter><breaker><result_overflow_mode>break</result_overflow_mode></breaker></profiles>
<quotas><default></default></quotas><users>
<default><password></password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota></default>
<reader><password>x</password><networks><ip>::/0</ip></networks><profile>reader</profile><quota>default</quota></reader>
<setter><password></password><networks><ip>::/0</ip></networks><profile>setter</profile><quota>default</quota></setter>
<breaker><password></password><networks><ip>::/0</ip></networks><profile>breaker</profile><quota>default</quota></breaker></users></yandex>`)
	run(t, dir, server, "--config-file="+filepath.Join(dir, "config.xml"))
	d := database{t: t, open: clickhouse.Open, address: fmt.Sprintf("127.0.0.1:%d", port)}
	q := d.as(map[string]any{"username": "default", "open_conns": 2})
	d.wait(q)
	d.refuse(q,
		"INSERT INTO system.none VALUES (1)", "CREATE TABLE made (a Int8) ENGINE = Memory", "DROP TABLE system.one", "SET readonly = 0", "SELECT 1; SELECT 2",
		"SELECT * FROM remote('127.0.0.1', system.one)", "SELECT * FROM url('http://127.0.0.1/', CSV, 'a String')", "SELECT 1 SETTINGS readonly = 0", "KILL QUERY WHERE 1",
		"SELECT * FROM none", "SELECT 1 FROM", "",
	)
	for _, c := range []query{
		{Ask: querier.Ask{Expr: "SELECT number AS ID, toDecimal64(number * 1.5, 2) AS total, toDateTime(1795687200) AS at, if(number = 0, NULL, 'b') AS note FROM system.numbers LIMIT 2;", ValueFields: []string{"total"}, LabelFields: []string{"id", "at"}},
			want: "map[at:2026-11-26T10:00:00Z id:0] map[total:0] map[note:] map[at:2026-11-26T10:00:00Z id:1] map[total:1.5] map[note:b]"},
		{Ask: querier.Ask{Expr: "SELECT NULL AS n, toNullable(7) AS m, 'x' AS v, [300, 2] AS list", ValueFields: []string{"n", "m", "v"}}, want: "map[list:[300 2]] map[m:7 n:NaN] map[v:x]"},
		{Ask: querier.Ask{Expr: "SELECT number FROM system.numbers LIMIT 100000", Limit: 1000}, kind: evaluate.TooMuch},
		{Ask: querier.Ask{Expr: "SELECT number FROM system.numbers LIMIT 1000", ValueFields: []string{"none"}}, kind: evaluate.BadQuery},
		{Ask: querier.Ask{Expr: "SELECT count() FROM system.numbers", Timeout: 1100 * time.Millisecond}, kind: evaluate.Timeout},
		{Ask: querier.Ask{Expr: "SELECT count() AS n FROM system.processes WHERE query LIKE 'SELECT count() FROM system.numbers%'"}, want: "map[n:0] map[] map[]"},
		{Ask: querier.Ask{Expr: "SELECT 1 AS a"}, want: "map[a:1] map[] map[]"},
	} {
		d.ask(q, c)
	}
	for _, user := range []map[string]any{{"username": "reader", "password": "x"}, {"username": "setter"}} {
		q := d.as(user)
		d.ask(q, query{Ask: querier.Ask{Expr: "SELECT 1 AS a"}, want: "map[a:1] map[] map[]"})
		d.ask(q, query{Ask: querier.Ask{Expr: "SELECT number FROM system.numbers LIMIT 100000", Limit: 1000}, kind: evaluate.TooMuch})
		d.refuse(q, "CREATE TABLE made (a Int8) ENGINE = Memory")
		d.tests(q, "resolve dial sign_in query rights", "")
	}
	memory := querier.Ask{Expr: "SELECT value FROM system.settings WHERE name = 'max_memory_usage'"}
	d.ask(q, query{Ask: memory, want: "map[value:1073741824] map[] map[]"})
	d.ask(d.as(map[string]any{"username": "setter"}), query{Ask: memory, want: "map[value:500000000] map[] map[]"})
	d.ask(d.as(map[string]any{"username": "breaker"}), query{Ask: querier.Ask{Expr: "SELECT 1"}, kind: evaluate.Partial})
	d.tests(q, "resolve dial sign_in query not rights", "this role has a profile without readonly")
	d.tests(d.as(map[string]any{"username": "reader", "password": "wrong"}), "resolve dial not sign_in", "Wrong password")
}
