package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"tocsin/internal/clock"
	"tocsin/internal/db"
	"tocsin/internal/demo"
	"tocsin/internal/id"
	"tocsin/internal/webhook"
)

// history fills the account's delivery history and measures a page of 100 with its exact total, for every
// kind of filter, one client at a time and all of them at once.
func history(binary, dsn, key string) error {
	began := time.Now()
	if err := fill(dsn, *deliveries); err != nil {
		return err
	}
	fmt.Printf("| history: a page of 100 and the total out of %d deliveries (filled in %s) | reply bytes | 1 client p50 | p99 | %d clients, pages/s | p99 |\n|---|---|---|---|---|---|\n", *deliveries, time.Since(began).Round(time.Second), *clients)
	server, err := start(binary, "serve", "--listen", "127.0.0.1:0", "--db", dsn, "--limit-per-second", "0", "--limit-per-minute", "0")
	if err != nil {
		return err
	}
	defer server.stop()
	end := time.Now().UnixMilli()
	for _, filter := range []string{
		``, `"asc": true`, `"status": "failed"`, `"integration_id": 3`, `"event_types": ["i_new"]`, `"event_types": ["i_ack", "i_rslv"]`,
		`"integration_id": 3, "status": "failed", "event_types": ["i_new"]`, `"ref_id": "` + reference(7) + `"`,
	} {
		body := fmt.Sprintf(`{"limit": 100, "start_time": %d, "end_time": %d, %s}`, end-7*24*3600*1000, end, filter)
		body = strings.Replace(body, ", }", "}", 1)
		one, err := load(server.address, post("/webhook/history/list", key, body), 1, *span)
		if err != nil {
			return err
		}
		many, err := load(server.address, post("/webhook/history/list", key, body), *clients, *span)
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

// fill adds deliveries of the last seven days, in batches as a busy sender would.
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
	random, now := rand.New(rand.NewPCG(1, 2)), clock.System.Now()
	types := []string{"i_new", "i_ack", "i_rslv", "a_new", "a_update", "a_close"}
	ages := make([]time.Duration, n)
	for i := range ages {
		ages[i] = time.Duration(random.Int64N(int64(7 * 24 * time.Hour)))
	}
	slices.SortFunc(ages, func(a, b time.Duration) int { return int(b/time.Microsecond - a/time.Microsecond) })
	const batch = 1000
	for len(ages) > 0 {
		list := make([]webhook.Delivery, 0, batch)
		for _, age := range ages[:min(batch, len(ages))] {
			status, code := "success", int64(200)
			if random.IntN(20) == 0 {
				status, code = "failed", 503
			}
			list = append(list, webhook.Delivery{
				IntegrationID: 1 + random.Int64N(5), EventID: id.Short(), WebhookType: "incident", EventType: types[random.IntN(len(types))],
				ChannelID: 1001, RefID: reference(random.IntN(n/20 + 1)), Endpoint: "https://hooks.example.com/services/alarm", Attempt: 1,
				Duration: 20 + random.Int64N(900), Status: status, StatusCode: code, EventTime: webhook.Moment(now.Add(-age)),
			})
		}
		ages = ages[len(list):]
		if err := d.Write(ctx, func(tx *db.Tx) error { return webhook.Record(tx, account, list) }); err != nil {
			return err
		}
	}
	return nil
}
