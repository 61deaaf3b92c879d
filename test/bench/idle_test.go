package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db/dbtest"
)

// An idle server costs the same with 100 accounts and with 1,000: its start, its jobs of a minute, and what it answers to
// those who watch it. The rows that PostgreSQL visits are compared; of the embedded engine test/architecture holds the plans.
// TOCSIN_IDLE names other numbers of accounts, such as 100,1000,5000.
func TestIdleServerCostsSameWithMoreAccounts(t *testing.T) {
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL, which counts the rows that it visits")
	}
	sizes := []int{100, 1000}
	if text := os.Getenv("TOCSIN_IDLE"); text != "" {
		sizes = nil
		for each := range strings.SplitSeq(text, ",") {
			n, err := strconv.Atoi(each)
			if err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, n)
		}
	}
	b := &idleBed{T: t, dsn: dbtest.Migrated(t), sealKey: t.TempDir() + "/seal.key", clock: clock.At(time.Now())}
	if err := populate(b.dsn, b.sealKey); err != nil {
		t.Fatal(err)
	}
	b.visited(90, false) // what the server derives from the configuration is copied
	b.ask(fmt.Sprintf(`INSERT INTO webhook_endpoint (account_id, integration_id, number, failures, held_until) VALUES (%d, %d, 1, 0, 0)`,
		scaleID(0, 0), scaleID(0, ofSource)))
	first, err := patterns(b.dsn)
	if err != nil {
		t.Fatal(err)
	}
	var before map[string]visits
	size := 1
	for _, n := range sizes {
		if err := multiply(b.dsn, first, size, n); err != nil {
			t.Fatal(err)
		}
		size = n
		b.ask(`VACUUM ANALYZE`) // as the autovacuum does within a minute
		b.visited(0, false)
		start := b.visited(0, false)
		minute := b.visited(60, false).without(start)
		watched := b.visited(0, true).without(start)
		watched["heartbeat"] = max(0, watched["heartbeat"]-int64(n)) // a metric counts them in an index
		costs := map[string]visits{"a start": start, "a minute": minute, "metrics and health": watched}
		for what, v := range costs {
			t.Logf("%d accounts, %s: %d rows %v", n, what, v.sum(), v.most())
			if before != nil && v.sum() > before[what].sum()+int64(n)/4 {
				t.Errorf("%s: %d rows, and %d with fewer accounts; with %d accounts most are of %v", what, v.sum(), before[what].sum(), n, v.most())
			}
		}
		if before == nil {
			before = costs
		}
	}
}

// idleBed is a database on which servers start and stop.
type idleBed struct {
	*testing.T
	dsn, sealKey string
	clock        *clock.Manual
}

// visited returns the rows that a server visits while it starts and while its jobs run for some seconds. Its connections
// are closed then: only that makes the counts complete.
func (b *idleBed) visited(seconds int, watch bool) visits {
	b.Helper()
	before := b.read()
	ctx := context.Background()
	a, err := app.New(ctx, app.Config{DB: b.dsn, SealKeyFile: b.sealKey, Clock: b.clock, Log: slog.New(slog.DiscardHandler), Version: "test"})
	if err != nil {
		b.Fatal(err)
	}
	for range seconds {
		b.clock.Add(time.Second)
		if err := a.Runner.Settle(ctx); err != nil {
			b.Fatal(err)
		}
	}
	if watch {
		handler, err := a.Handler()
		if err != nil {
			b.Fatal(err)
		}
		for _, path := range []string{"/health/ready", "/metrics"} {
			reply := httptest.NewRecorder()
			if handler.ServeHTTP(reply, httptest.NewRequest(http.MethodGet, path, nil)); reply.Code != http.StatusOK {
				b.Fatalf("%s: %d %s", path, reply.Code, reply.Body)
			}
		}
	}
	if err := a.Close(); err != nil {
		b.Fatal(err)
	}
	return b.settled().without(before)
}

// visits are the rows and entries of indexes that PostgreSQL has visited, by table.
type visits map[string]int64

func (v visits) without(other visits) visits {
	rest := visits{}
	for table, n := range v {
		if n -= other[table]; n > 0 {
			rest[table] = n
		}
	}
	return rest
}

func (v visits) sum() (n int64) {
	for _, each := range v {
		n += each
	}
	return n
}

// most returns the tables with more than 50 visits.
func (v visits) most() (all []string) {
	for table, n := range v {
		if n > 50 {
			all = append(all, fmt.Sprint(table, " ", n))
		}
	}
	return all
}

// settled waits until the processes of closed connections have ended, which count last, and reads.
func (b *idleBed) settled() visits {
	for {
		if rows := b.ask(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
			AND backend_type = 'client backend'`); rows[0][0] == "0" {
			return b.read()
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (b *idleBed) read() visits {
	v := visits{}
	for _, row := range b.ask(`SELECT relname, coalesce(seq_tup_read, 0) + coalesce((SELECT sum(idx_tup_read) FROM pg_stat_user_indexes i
		WHERE i.relid = t.relid), 0) FROM pg_stat_user_tables t`) {
		n, err := strconv.ParseInt(row[1], 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		v[row[0]] = n
	}
	return v
}

func (b *idleBed) ask(query string) (rows [][]string) {
	ctx := context.Background()
	c, err := pgconn.Connect(ctx, b.dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(ctx)
	results, err := c.Exec(ctx, query).ReadAll()
	if err != nil {
		b.Fatal(err)
	}
	for _, r := range results {
		for _, row := range r.Rows {
			var texts []string
			for _, v := range row {
				texts = append(texts, string(v))
			}
			rows = append(rows, texts)
		}
	}
	return rows
}
