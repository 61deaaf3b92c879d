package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tocsin/internal/demo"
	"tocsin/internal/platform/db"
)

// history fills the account's delivery history and measures a page of 100 with its exact total, for every
// kind of filter, one client at a time and all of them at once.
func history(binary, dsn, key string) error {
	began := time.Now()
	if err := fill(dsn, *deliveries); err != nil {
		return err
	}
	fmt.Printf("| history: a page of 100 and the total out of %d deliveries (filled in %s) | reply bytes | 1 client p50 | p99 | %d clients, pages/s | p99 |\n|---|---|---|---|---|---|\n", *deliveries, time.Since(began).Round(time.Second), clients)
	server, err := start(binary, "serve", "--listen", "127.0.0.1:0", "--db", dsn, "--limit-per-second", "0", "--limit-per-minute", "0")
	if err != nil {
		return err
	}
	defer server.stop()
	end := time.Now().UnixMilli()
	for _, filter := range []string{
		``, `"asc": true`, `"status": "failed"`, `"integration_id": 3`, `"event_types": ["i_new"]`, `"event_types": ["i_ack", "i_rslv"]`,
		`"integration_id": 5, "status": "failed", "event_types": ["i_new"]`, `"ref_id": "` + reference(*deliveries/40) + `"`,
	} {
		body := fmt.Sprintf(`{"limit": 100, "start_time": %d, "end_time": %d, %s}`, end-7*24*3600*1000, end, filter)
		body = strings.Replace(body, ", }", "}", 1)
		one, err := load(server.address, post("/webhook/history/list", key, body), 1, *span)
		if err != nil {
			return err
		}
		many, err := load(server.address, post("/webhook/history/list", key, body), clients, *span)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %d | %s | %s | %.0f | %s |\n", orNone(filter), one.bytes, one.p50.Round(10*time.Microsecond), one.p99.Round(10*time.Microsecond), many.perSecond, many.p99.Round(10*time.Microsecond))
	}
	fmt.Println()
	return nil
}

func orNone(filter string) string {
	if filter == "" {
		return "no filter"
	}
	return "`" + filter + "`"
}

// reference is the identifier of the n-th incident.
func reference(n int) string { return fmt.Sprintf("%024x", n) }

// fill adds deliveries of the last seven days, and their counts, without the program: it would take an hour for twenty
// million of them.
func fill(dsn string, n int) error {
	ctx := context.Background()
	d, err := db.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer d.Close()
	var account int64
	err = d.Read(ctx, func(tx *db.Tx) (err error) {
		account, _, err = db.One(tx, db.Column[int64], `SELECT account_id FROM account WHERE account_name = $1`, demo.Name)
		return err
	})
	if err != nil {
		return err
	}
	week := int64(7 * 24 * time.Hour)
	begin, step := time.Now().UnixNano()-week, week/int64(n)
	const batch = 500_000
	for first := 0; first < n; first += batch {
		err := d.Write(ctx, func(tx *db.Tx) error {
			_, err := tx.Exec(insertDeliveries, first, min(first+batch, n), account, begin, step)
			return err
		})
		if err != nil {
			return err
		}
	}
	return d.Write(ctx, func(tx *db.Tx) error {
		for _, query := range countDeliveries() {
			if _, err := tx.Exec(query, account); err != nil {
				return err
			}
		}
		return nil
	})
}

const insertDeliveries = `WITH RECURSIVE series(n) AS (SELECT $1 UNION ALL SELECT n + 1 FROM series WHERE n < $2 - 1)
	INSERT INTO webhook_delivery (account_id, event_id, event_time, status, integration_id, event_type, ref_id, webhook_type, channel_id, endpoint, attempt, duration, status_code)
	SELECT $3, 'bench' || substr('0000000000' || n, -10), $4 + n * $5, CASE WHEN n * 7919 % 20 = 7 THEN 'failed' ELSE 'success' END, 1 + n / 3 % 5,
		CASE n / 20 % 6 WHEN 0 THEN 'i_new' WHEN 1 THEN 'i_ack' WHEN 2 THEN 'i_rslv' WHEN 3 THEN 'a_new' WHEN 4 THEN 'a_update' ELSE 'a_close' END,
		printf('%024x', n / 20), 'incident', 1001, 'https://hooks.example.com/services/alarm', 1, 20 + n % 900, CASE WHEN n * 7919 % 20 = 7 THEN 503 ELSE 200 END FROM series`

// countDeliveries returns the statements that count the inserted rows: by all columns, then for each shape of filter, by hours and by days.
func countDeliveries() []string {
	queries := []string{`DELETE FROM webhook_count WHERE account_id = $1`,
		`CREATE TEMP TABLE counted AS SELECT integration_id AS i, event_type AS t, status AS s, event_time / 300000000000 AS slot, count(*) AS n FROM webhook_delivery WHERE account_id = $1 GROUP BY 1, 2, 3, 4`}
	var slots strings.Builder
	for k := range 12 {
		fmt.Fprintf(&slots, ", sum(CASE WHEN slot %% 12 = %d THEN n ELSE 0 END)", k)
	}
	for shape := range 8 {
		i := "0"
		t := "''"
		s := "''"
		if shape&1 != 0 {
			i = "i"
		}
		if shape&2 != 0 {
			t = "t"
		}
		if shape&4 != 0 {
			s = "s"
		}
		queries = append(queries, fmt.Sprintf(`INSERT INTO webhook_count SELECT $1, %d, %s, %s, %s, slot / 12%s FROM counted GROUP BY 3, 4, 5, 6`, shape, i, t, s, slots.String()))
	}
	return append(queries, `DROP TABLE counted`, `DELETE FROM webhook_count_day WHERE account_id = $1`,
		`INSERT INTO webhook_count_day SELECT account_id, shape, integration_id, event_type, status, hour / 24,
			sum(s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s10 + s11) FROM webhook_count WHERE account_id = $1
			GROUP BY account_id, shape, integration_id, event_type, status, hour / 24`)
}
