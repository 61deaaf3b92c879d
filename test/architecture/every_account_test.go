package architecture

import (
	"slices"
	"testing"
)

// few lists the configured tables with few rows however many accounts there are.
var few = []string{"daily_job", "hold", "moved", "moved_key", "node", "node_slot", "push_key", "schema_floor", "seal_key"}

// ofTrouble lists the partial indexes of configured tables that hold only rows with something to do.
var ofTrouble = []string{"account_behind_applied", "account_behind_gaps", "account_behind_handover", "account_behind_heartbeat",
	"account_behind_silence", "channel_unsearched", "heartbeat_missed", "person_unsearched", "rule_instance_close", "rum_application_unsearched", "schedule_gap_open",
	"team_unsearched", "webhook_endpoint_trouble", "webhook_replay_running"}

// everyAccount lists the statements that read a table of configuration from end to end, as the package and a part of the
// text, with the reason: what they cost grows with the accounts. The test fails when one of them is no longer needed.
var everyAccount = map[string]string{
	"auth: FROM app_key WHERE key_id = $1":                          "the command line revokes a key",
	"configstore: SELECT DISTINCT account_id FROM object":           "a new sealing key seals every secret again, once",
	"configstore: FROM account ORDER BY account_id":                 "retention deletes account by account, once a day",
	"credential: DELETE FROM invitation WHERE attempt >= 0":         "a restored database is released, once",
	"credential: SELECT account_id, person_id, secret FROM second_": "a new sealing key seals every secret again, once",
	"datasource: updated_at FROM datasource":                        "a new sealing key seals every secret again, once",
	"datasource: SELECT DISTINCT account_id, edge_cluster_name":     "datasources of edges, in an index that has only these",
	"push: FROM push_subscription":                                  "a new sealing key seals every secret again, once",
	"rum: FROM rum_application WHERE client_":                       "a new sealing key seals every secret again, once",
	"schedule: FROM schedule WHERE notify <> ''":                    "each start seals what a very old program stored in clear, and a new sealing key seals all",
	"session: DELETE FROM session WHERE secret_hash IN":             "retention, once a day",
	"person: time_zone, owner_id FROM account ORDER BY":             "the command line lists the accounts",
	"integration: FROM refused WHERE minute > $1 GROUP BY":          "what was refused within a day, of sources that had some",
	"person: FROM account ORDER BY created_at, account_id LIMIT 1":  "the first entry of the index is read",
	"person: AND phone <> '' AND replace(":                          "the command line and a call from outside look for a person of a number",
	"person: AND email <> '' AND lower(email)":                      "somebody signs in with an address",
	"engine/rumintake: SELECT DISTINCT account_id FROM rum_alert":   "alerts that are open, once an hour",
	"audit: FROM audit_masking":                                     "the accounts whose log is not done after an upgrade; a day later it is empty",
}

// A statement that reads a whole table of configuration costs more with each account, although nothing happens in it.
func TestNoStatementReadsEveryAccount(t *testing.T) {
	plansHold(t, everyAccount, scans)
}

// scans returns the first step of a plan that reads a table of configuration from end to end.
func scans(steps []string, tables []touch) []string {
	for _, s := range steps {
		m := step.FindStringSubmatch(s)
		if m == nil || m[1] != "SCAN" || slices.Contains(ofTrouble, m[3]) {
			continue
		}
		name := m[2]
		for _, t := range tables {
			if t.alias == name {
				name = t.table
			}
		}
		if slices.Contains(configured, name) && !slices.Contains(few, name) {
			return []string{s}
		}
	}
	return nil
}
