package story

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// metrics wants lines in what the server shows.
func (w *world) metrics(want ...string) {
	w.t.Helper()
	_, body := w.page("/metrics")
	for _, line := range want {
		if !strings.Contains("\n"+body, "\n"+line+"\n") {
			name, _, _ := strings.Cut(line, "{")
			name, _, _ = strings.Cut(name, " ")
			has := []string{}
			for _, l := range strings.Split(body, "\n") {
				if strings.HasPrefix(l, name) {
					has = append(has, l)
				}
			}
			w.t.Errorf("the metrics lack %q, have %q", line, has)
		}
	}
}

// The metrics follow incidents from their beginning to their end, and show what else an operator is asked about.
func TestMetricsFollowIncidents(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, heartbeats())
	w.push("one", "Critical")
	w.pass(time.Minute)
	w.push("two", "Warning", "title=Two")
	w.pass(time.Minute)
	w.metrics(
		fmt.Sprintf(`tocsin_open_incidents{channel="%d",severity="Critical"} 1`, shop),
		fmt.Sprintf(`tocsin_unacknowledged_incidents{channel="%d",severity="Warning"} 1`, shop),
		`tocsin_oldest_unacknowledged_incident_age_seconds{severity="Critical"} 120`,
		`tocsin_oldest_open_incident_age_seconds{severity="Warning"} 60`,
		`tocsin_heartbeats{status="up"} 1`, `tocsin_heartbeats{status="overdue"} 0`,
		`tocsin_schedules_uncovered{within="now"} 1`, `tocsin_schedules_uncovered{within="24h"} 1`,
		`tocsin_held 0`, `tocsin_notification_retries_waiting 0`, `tocsin_webhook_retries_waiting 0`,
	)
	if _, body := w.page("/metrics"); !strings.Contains(body, `tocsin_build_info{goversion="go`) || !strings.Contains(body, "\ntocsin_database_size_bytes ") ||
		!strings.Contains(body, "\ntocsin_database_wal_size_bytes ") {
		t.Error("the metrics lack the build or the size of the database")
	}
	w.ack(ownKey) // the Warning, which is the newest
	w.metrics(`tocsin_incident_acknowledge_seconds_sum{severity="Warning"} 60`, `tocsin_incident_acknowledge_seconds_count{severity="Warning"} 1`,
		fmt.Sprintf(`tocsin_open_incidents{channel="%d",severity="Warning"} 1`, shop))
	if _, body := w.page("/metrics"); strings.Contains(body, fmt.Sprintf(`tocsin_unacknowledged_incidents{channel="%d",severity="Warning"}`, shop)) {
		t.Error("an acknowledged incident counts as not acknowledged")
	}
	w.ack(annKey) // another person; the first acknowledgement counts
	w.fail("ann", later)
	w.push("one", "Ok")
	w.pass(2 * time.Second)
	w.metrics(`tocsin_incident_resolve_seconds_sum{severity="Critical"} 120`, `tocsin_incident_acknowledge_seconds_count{severity="Warning"} 1`,
		`tocsin_notification_retries_waiting 1`)
	w.pass(15 * time.Minute) // the heartbeat never comes
	w.metrics(`tocsin_heartbeats{status="up"} 0`, `tocsin_heartbeats{status="overdue"} 1`)
}

// However many channels there are, the metrics name a bounded number of them.
func TestMetricsNameBoundedNumberOfChannels(t *testing.T) {
	t.Parallel()
	w := begin(t)
	for n := range 150 {
		w.sql(fmt.Sprintf(`INSERT INTO incident (account_id, incident_id, title, channel_id, progress, severity, start_time) VALUES (%d, 'x%d', '', %d, 'Triggered', 'Critical', %d)`,
			account, n, n+1, w.clock.Now().Unix()))
	}
	for n := range 7 {
		w.sql(fmt.Sprintf(`INSERT INTO incident (account_id, incident_id, title, channel_id, progress, severity, start_time) VALUES (%d, 'y%d', '', 150, 'Triggered', 'Critical', %d)`,
			account, n, w.clock.Now().Unix()))
	}
	w.metrics(`tocsin_open_incidents{channel="150",severity="Critical"} 8`, `tocsin_open_incidents{channel="other",severity="Critical"} 50`)
	if _, body := w.page("/metrics"); strings.Count(body, "\ntocsin_open_incidents{") != 101 {
		t.Errorf("%d series", strings.Count(body, "\ntocsin_open_incidents{"))
	}
}

// The names, units and types of all metrics are as Prometheus wants them.
func TestMetricsFollowConventions(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.push("one", "Critical")
	w.ack(ownKey)
	w.push("one", "Ok")
	w.pass(time.Minute)
	_, body := w.page("/metrics")
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	w.must(err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}
