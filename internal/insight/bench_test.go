package insight_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/insight"
	"tocsin/internal/platform/db"
)

// BenchmarkYear computes figures of a year with 100,000 incidents, each with an alert and nine entries of its feed, and
// reports how long a write takes meanwhile.
func BenchmarkYear(b *testing.B) {
	service := insight.New(nil)
	s := apitest.Start(b, service.Ops())
	service.DB = s.DB
	fill(s, 100_000)
	window := fmt.Sprintf(`{"start_time":%d,"end_time":%d,"time_zone":"Europe/Berlin"`, start-365*86400, start+86400)
	for _, c := range []struct{ name, path, more string }{
		{"account", "/insight/account", `,"aggregate_unit":"month"}`}, {"responder", "/insight/responder", `}`},
		{"list", "/insight/incident/list", `}`}, {"topk", "/insight/alert/topk-by-label", `,"label":"check"}`},
		{"month", "/insight/channel", `,"channel_ids":[1]}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			slowest := make(chan time.Duration)
			ctx, stop := context.WithCancel(context.Background())
			go write(ctx, s.DB, slowest)
			for range b.N {
				if r := s.Call(apitest.KeyA, c.path, window+c.more); r.Code != "" {
					b.Fatal(string(r.Body))
				}
			}
			stop()
			b.ReportMetric(float64((<-slowest).Microseconds())/1000, "ms/slowest-write")
		})
	}
}

// write writes until ctx ends, then sends how long the slowest write took.
func write(ctx context.Context, d *db.DB, slowest chan<- time.Duration) {
	longest := time.Duration(0)
	for ctx.Err() == nil {
		began := time.Now()
		d.Write(context.Background(), func(tx *db.Tx) error {
			_, err := tx.Exec(`UPDATE account SET account_name = account_name`)
			return err
		})
		longest = max(longest, time.Since(began))
		time.Sleep(time.Millisecond)
	}
	slowest <- longest
}

// fill stores incidents of the last year, evenly.
func fill(s *apitest.Server, count int) {
	const body = `{"description":"The error rate of checkout has been above five percent for ten minutes.","ack_time":%d,"close_time":%d,"labels":{"check":"errors","service":"checkout","env":"prod","region":"eu"},"integration_ids":[7],"integration_types":["standard"]}`
	s.Write(func(tx *db.Tx) error {
		for n := range count {
			at := int64(start - 365*86400*n/count)
			id := fmt.Sprintf("%024x", n+1)
			person := int64(100 + n%50)
			statements := []struct {
				query string
				args  []any
			}{
				{`INSERT INTO incident (account_id, incident_id, title, channel_id, progress, severity, start_time, last_time, alert_cnt, body, title_folded, closed_at)
					VALUES ($1, $2, 'Error rate of checkout', $3, 'Closed', 'Critical', $4, $4, 1, $5, 'x', $4)`,
					[]any{apitest.AccountA, id, n % 40, at, fmt.Sprintf(body, at+120, at+1800)}},
				{`INSERT INTO incident_assignment (account_id, incident_id, position, person_id, assigned_at, removed_at, acknowledged_at) VALUES ($1, $2, 0, $3, $4, 0, $4)`,
					[]any{apitest.AccountA, id, person, at}},
				{`INSERT INTO alert (account_id, alert_id, channel_id, incident_id, integration_id, integration_name, integration_type, integration_ref_id, alert_key, title, title_rule, description,
					alert_severity, alert_status, start_time, last_time, end_time, event_cnt, ever_muted, responder_name, responder_email, labels, images, created_at, updated_at, deleted_at)
					VALUES ($1, $2, $3, $2, 0, '', '', '', 'k', 'Error rate of checkout', '', '', 'Critical', 'Ok', $4, $4, $4, 3, FALSE, '', '', '{"check":"errors","service":"checkout"}', '[]', $4, $4, 0)`,
					[]any{apitest.AccountA, id, n % 40, at}},
			}
			for _, st := range statements {
				if _, err := tx.Exec(st.query, st.args...); err != nil {
					return err
				}
			}
			notified := fmt.Sprintf(`{"rid":"663a1b2c3d4e5f6789abcdef","by":"sms","layer_idx":0,"escalate_rule_id":"5e5e5e5e5e5e5e5e5e5e5e01","escalate_rule_name":"Days","fire_type":"fire","persons":[{"person_id":%d,"failed_reason":""}]}`, person)
			assigned := fmt.Sprintf(`{"type":"escalate","to":[%[1]d],"person_ids":[%[1]d],"escalate_rule_id":"5e5e5e5e5e5e5e5e5e5e5e01","escalate_rule_name":"Days","layer_idx":0,"emails":null,"assigned_at":1,"id":"x"}`, person)
			for i, e := range []struct{ kind, detail string }{{"i_new", `{}`}, {"i_assign", assigned}, {"i_notify", notified}, {"i_notify", notified}, {"i_notify", notified},
				{"i_ack", `{}`}, {"i_comm", `{"comment":"on it"}`}, {"i_rslv", `{"from":"recovery"}`}, {"i_notify", notified}} {
				if _, err := tx.Exec(`INSERT INTO feed (account_id, ref_id, feed_id, created_at, type, person_id, detail) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
					apitest.AccountA, id, i+1, (at+int64(i)*60)*1000, e.kind, person, e.detail); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
