package audit_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// TestEarlierEntriesFindTheirChannels runs the statements of the migration that fill in the channels of existing
// entries.
func TestEarlierEntriesFindTheirChannels(t *testing.T) {
	s := start(t)
	text, err := os.ReadFile("../platform/db/migrations/0030_audit_channel.sql")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"channel": 4242, "incident": 51, "alert": 52, "silence_rule": 53, "integration": 54, "route": 55}
	s.Exec(`INSERT INTO alert (account_id, alert_id, channel_id, incident_id, integration_id, integration_name, integration_type, integration_ref_id, alert_key, title, title_rule, description,
		alert_severity, alert_status, start_time, last_time, end_time, event_cnt, ever_muted, responder_name, responder_email, labels, images, created_at, updated_at, deleted_at)
		VALUES ($1, 'alert', 52, '', 0, '', '', '', 'k', 't', '', '', 'Info', 'Info', 1, 1, 0, 1, FALSE, '', '', '{}', '[]', 1, 1, 0)`, apitest.AccountA)
	s.Exec(`INSERT INTO incident (account_id, incident_id, title, channel_id, progress) VALUES ($1, 'incident', 't', 51, 'Triggered')`, apitest.AccountA)
	s.Exec(`INSERT INTO object (account_id, kind, id, parent, rank, name_folded, team_id, creator_id, created_at, updated_at, body) VALUES ($1, 'silence_rule', 'silence_rule', '53', 0, '', 0, 0, 0, 0, '{}')`, apitest.AccountA)
	for kind, channel := range map[string]string{"integration": "54", "route": "55"} {
		s.Exec(`INSERT INTO reference (account_id, to_kind, to_id, from_kind, from_id, from_name) VALUES ($1, 'channel', $2, $3, $3, '')`, apitest.AccountA, channel, kind)
	}
	for kind := range want {
		id := kind
		if kind == "channel" {
			id = "4242"
		}
		e := entry(0)
		e.Touched = []fault.Ref{{Kind: kind, ID: id}, {Kind: "schedule", ID: "1"}}
		record(t, s, e, e)
	}
	record(t, s, entry(0))
	s.Exec(`DELETE FROM audit_channel`)
	for _, statement := range strings.Split(string(text), ";\n") {
		if strings.Contains(statement, "INSERT INTO") {
			s.Exec(statement[strings.Index(statement, "INSERT INTO"):])
		}
	}
	s.Read(func(tx *db.Tx) error {
		for kind, channel := range want {
			got, err := db.All(tx, db.Column[int64], `SELECT c.channel_id FROM audit_channel c JOIN audit_touched t ON t.account_id = c.account_id AND t.audit_id = c.audit_id WHERE t.kind = $1`, kind)
			if err != nil || !slices.Equal(got, []int64{channel, channel}) {
				t.Errorf("%s: %v %v, want %d twice", kind, got, err, channel)
			}
		}
		return nil
	})
}
