package triage_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/event"
	"tocsin/internal/incident"
)

// inhibitFile is the account with a rule by which a Critical alert inhibits Warnings of its cluster.
var inhibitFile = strings.TrimSuffix(file, "}") + fmt.Sprintf(`,
	"inhibit_rules": [{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e11", "channel_id": %d, "rule_name": "hosts", "equals": ["labels.cluster"],
		"source_filters": [[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]], "target_filters": [[{"key": "severity", "oper": "IN", "vals": ["Warning"]}]]}]}`, shop)

// A source that ends between the decision about its target and the storing of it inhibits nothing: the target would wait
// for an end that is past.
func TestSourceThatEndsMeanwhileInhibitsNothing(t *testing.T) {
	t.Parallel()
	for _, ends := range []bool{false, true} {
		r := newFixtureOf(t, inhibitFile)
		r.take(sink, "switch", "source", event.Critical, map[string]string{"cluster": "eu"})
		r.runs()
		target := r.take(sink, "host", "target", event.Warning, map[string]string{"cluster": "eu"})
		want := "inhibited"
		if ends {
			want = "opened"
			r.once(func() {
				r.writer("source", func(d incident.Writer, i *incident.Incident) error { return d.Resolve(i, "", "") })
			})
		}
		r.runs()
		r.wants(target, want)
	}
}

// Of 5,000 sources the one that matters is found, however old it is, and a batch does not depend on the others.
func TestThousandsOfSources(t *testing.T) {
	t.Parallel()
	r := newFixtureOf(t, inhibitFile)
	r.take(sink, "switch", "source", event.Critical, map[string]string{"cluster": "eu"})
	r.runs()
	r.exec(`INSERT INTO alert (account_id, alert_id, channel_id, integration_id, incident_id, alert_key, title_rule, title, description, alert_severity,
			alert_status, labels, images, start_time, last_time, end_time, event_cnt, ever_muted, created_at, updated_at, deleted_at, integration_name,
			integration_type, integration_ref_id, responder_name, responder_email)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
		SELECT account_id, '000000000000000' || substr(CAST(1000000000 + i AS TEXT), 2), channel_id, integration_id, '', 'k' || i, title_rule, title, description, 'Critical',
			'Critical', '{"cluster":"c' || i || '"}', '[]', start_time + 60, last_time + 60, 0, 1, ever_muted, created_at, updated_at, 0, integration_name,
			integration_type, integration_ref_id, '', ''
		FROM alert, n WHERE alert_key = 'source'`)
	r.now = r.now.Add(time.Hour)
	for i := range 120 {
		r.take(sink, "host", fmt.Sprint("target", i), event.Warning, map[string]string{"cluster": "eu"})
	}
	began := time.Now()
	r.runs()
	t.Logf("120 targets of 5,000 sources took %s", time.Since(began).Round(time.Millisecond))
	if n := r.count(`SELECT count(*) FROM verdict WHERE outcome = 'inhibited'`); n != 120 {
		t.Errorf("%d of 120 are inhibited", n)
	}
}
