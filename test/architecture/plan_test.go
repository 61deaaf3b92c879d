package architecture

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// growing lists the tables whose rows come from events: no statement may read all of one, nor all rows of an account.
// The other tables hold configuration, of which an account has hundreds of rows and not millions.
var growing = []string{"alert", "alert_rule_change", "alert_rule_count", "alert_rule_deleted", "audit_channel", "audit_log", "audit_touched", "change", "escalation", "event", "event_waiting", "feed", "follow_up", "incident", "incident_assignment", "notice", "phone_answer", "notice_failing", "notice_send", "rule_transition",
	"rum_issue", "rum_fingerprint", "rum_sample", "rum_day", "rum_session", "sign_in_attempt", "sign_in_state", "source_map", "status_page_change", "untold", "verdict", "war_room", "webhook_count", "webhook_count_day", "webhook_delivery", "webhook_event", "webhook_exchange", "webhook_message"}

// configured lists the other tables, so that every new table must be put into one of the two lists.
var configured = []string{"account", "alert_rule", "alert_rule_counter", "rule_folder", "app_key", "audit_masking", "channel", "channel_star", "cover_request", "daily_job", "datasource", "datasource_counter", "edge", "edge_key", "edge_request", "edge_slot", "edge_taken", "handover", "heartbeat", "hold", "moved", "moved_key", "ical_feed", "integration_key", "node", "node_slot", "object", "page_change", "schema_floor", "own_alert", "refused", "unknown_severity", "event_bytes",
	"session", "password", "sign_in_link", "invitation", "identity", "second_factor", "recovery_code", "push_key", "push_subscription",
	"person", "person_absence", "person_role", "reference", "role", "rule_instance", "rule_watch", "watch_state", "rum_application", "schedule", "schedule_gap", "schedule_override", "seal_key", "silence_end", "team", "team_person", "webhook_endpoint", "webhook_replay", "rum_alert", "rum_alert_group", "rum_version"}

// outstanding lists the partial indexes that hold only rows with work left, so that all of one may be read.
var outstanding = []string{"alert_active", "alert_muted", "alert_muted_by", "alert_silent", "alert_unnamed", "escalation_due", "escalation_due_first", "escalation_gathering", "event_waiting_first", "event_waiting_of_account", "follow_up_due", "incident_by_group", "incident_open", "incident_snoozed",
	"incident_to_resolve", "incident_unsearched", "notice_due", "notice_queue", "rum_issue_incomplete", "untold_due", "untold_event", "untold_event_age", "untold_state", "webhook_event_waiting", "webhook_message_due", "webhook_message_age", "webhook_message_replayed"}

// weak lists the columns of which one value selects a large part of a table.
var weak = []string{"account_id", "channel_id", "integration_id", "person_id", "status", "kind", "shape", "type", "event_type", "error_type", "operation", "progress", "outcome"}

// wide lists the statements that may read, or sort, more than a few rows of a growing table, as the package and a part
// of the text, with the reason. The test fails when one of them is no longer needed.
var wide = map[string]string{
	"alert: FROM alert WHERE account_id = $1 ORDER BY alert_id":                                              "the export of an account writes all of them",
	"alert: SELECT DISTINCT incident_id FROM alert WHERE account_id = $1":                                    "reads an index that has only the alerts which change too often",
	"incident: FROM incident WHERE account_id = $1 ORDER BY incident_id":                                     "the export of an account writes all of them",
	"rum: FROM rum_issue WHERE account_id = $1 ORDER BY issue_id":                                            "the export of an account writes all of them",
	"statuspage: FROM status_page_change WHERE account_id = $1 ORDER BY change_id":                           "the export of an account writes all of them",
	"statuspage: AND page_id = $2 AND closes_at > $3":                                                        "sorts the open changes, of which an account has at most 1,000",
	"statuspage: ($2 = 0 OR page_id = $2) AND closes_at > $3":                                                "sorts the open changes, of which an account has at most 1,000",
	"engine/escalation: FROM escalation WHERE rule <> ''":                                                    "a new sealing key seals every secret again, once",
	"engine/webhook: FROM webhook_delivery WHERE account_id = $1 ORDER BY event_id":                          "the export of an account writes all of them",
	"engine/webhook: SELECT event_time FROM webhook_delivery WHERE account_id = $1 AND status = $2 ORDER BY": "the last entry of the index is read",
	"engine/notify: WHERE status = 'sending' AND due_at > $1 GROUP BY":                                       "counts the attempts in progress in an index that has only these",
	"engine/webhook: WHERE status = 'sending' AND due_at > $1 GROUP BY":                                      "counts the attempts in progress in an index that has only these",
	"engine/webhook: WHERE status = 'sending' AND account_id = $2 AND due_at > $1 GROUP BY":                  "counts the attempts in progress in an index that has only these",
	"engine/notify: FROM notice WHERE target <> ''":                                                          "a new sealing key seals every secret again, once",
	"sourcemap: ORDER BY updated_at":                                                                         "sorts the maps of a year, of which an account has at most 65,536",
	"sourcemap: sum(stored), 0) FROM source_map WHERE account_id = $1":                                       "sums an index of at most 65,536 entries, when a map is uploaded",
	"rum: ORDER BY updated_at":                                                                               "sorts at most 183 days of issues, of which an application has at most 100 new ones an hour",
	"engine/untold: FROM untold WHERE account_id = $1 AND NOT":                                               "the list and its exact total: open incidents that no rule notified a person of, and at most 1,000 alert keys",
	"rum: ORDER BY session_count":                                                                            "sorts at most 183 days of issues, of which an application has at most 100 new ones an hour",
	"engine/webhook: coalesce(max(number), 0) FROM webhook_event":                                            "max of a key's last column reads one row",
	"engine/webhook: SELECT min(account_id) FROM webhook_event":                                              "steps from account to account in the key: one row of each",
	"engine/webhook: FROM webhook_event WHERE account_id = $1 ORDER BY number LIMIT":                         "reads a batch from the beginning of the key",
	"rum: SELECT min(account_id) FROM rum_issue":                                                             "steps from account to account in the index: one row of each",
	"alertrule: SELECT min(account_id) FROM alert_rule_deleted":                                              "steps from account to account in the index: one row of each",
	"rum: ORDER BY error_count":                                                                              "sorts at most 183 days of issues, of which an application has at most 100 new ones an hour",
	"engine/webhook: origin, count(*) FROM webhook_message":                                                  "counts a window of 30 days at most of one webhook, in an index that has all columns",
	"engine/webhook: SELECT DISTINCT integration_id FROM webhook_count_day":                                  "reads one row for each webhook and day of the history",
	"engine/webhook: SELECT DISTINCT event_type FROM webhook_count_day":                                      "reads one row for each event type and day of one webhook",
	"engine/webhook: FROM webhook_count WHERE hour >=":                                                       "runs on PostgreSQL only, when a part of a week is dropped",
	"engine/webhook: FROM webhook_count_day WHERE day >=":                                                    "runs on PostgreSQL only, when a part of a week is dropped",
	"engine/triage: FROM event_waiting WHERE received_at <= $1":                                              "counts what waits; the table holds nothing else",
}

func TestPlans(t *testing.T) {
	plansHold(t, wide, judge)
}

// plansHold reports the statements in whose plan on the embedded engine judge finds faults, but for exceptions: by the package
// and a part of the text, with the reason. It fails when one of them is no longer needed.
func plansHold(t *testing.T, exceptions map[string]string, judge func(steps []string, tables []touch) (faults []string)) {
	t.Helper()
	d, err := db.Open(t.Context(), dbtest.Migrated(t))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	known, plans := schema(t, d), dbtest.Plans(t)
	needed := map[string]bool{}
	for _, s := range statements(t) {
		if s.only() == "postgres" {
			continue
		}
		query := numbered(s.text)
		steps, err := plans(query)
		if err != nil {
			t.Errorf("%s: %v", s.at, err)
			continue
		}
		faults := judge(steps, touches(query, known))
		if len(faults) == 0 {
			continue
		}
		short := strings.Join(strings.Fields(s.text), " ")
		excused := false
		for exception := range exceptions {
			if pkg, part, _ := strings.Cut(exception, ": "); pkg == s.pkg && strings.Contains(short, part) {
				excused, needed[exception] = true, true
			}
		}
		if !excused {
			t.Errorf("%s: %s\n\t%s", s.at, strings.Join(faults, "; "), short)
		}
	}
	for exception := range exceptions {
		if !needed[exception] {
			t.Errorf("no statement needs this exception any more: %s", exception)
		}
	}
}

// schema returns the tables of a database, each of which must be in one of the two lists.
func schema(t *testing.T, d *db.DB) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	err := d.Read(t.Context(), func(tx *db.Tx) error {
		names, err := dbtest.Tables(tx)
		for _, name := range names {
			known[name] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	both := slices.Concat(growing, configured)
	for name := range known {
		if !slices.Contains(both, name) {
			t.Errorf("table %s: say whether it grows", name)
		}
	}
	for _, name := range both {
		if !known[name] {
			t.Errorf("there is no table %s", name)
		}
	}
	return known
}

var step = regexp.MustCompile(`^(SEARCH|SCAN) (\S+)(?: USING (?:INTEGER PRIMARY KEY|(?:AUTOMATIC )?(?:PARTIAL )?(?:COVERING )?INDEX (\S+)))?(?: \((.*)\))?`)

// judge returns the steps of a plan that read, or sort, more than a few rows of a growing table.
func judge(steps []string, tables []touch) (faults []string) {
	ranged, sorted := "", ""
	for _, s := range steps {
		if strings.HasPrefix(s, "USE TEMP B-TREE FOR") && !strings.Contains(s, "LAST TERM") {
			sorted = s
		}
		m := step.FindStringSubmatch(s)
		if m == nil || !grows(m[2], tables) {
			continue
		}
		equal, bounded := strength(m[4])
		switch {
		case slices.Contains(outstanding, m[3]):
		case !bounded:
			faults = append(faults, s)
		case !equal:
			ranged = s
		}
	}
	if sorted != "" && ranged != "" {
		faults = append(faults, sorted+" of "+ranged)
	}
	return faults
}

func grows(name string, tables []touch) bool {
	for _, t := range tables {
		if t.alias == name || t.table == name {
			return slices.Contains(growing, t.table)
		}
	}
	return false
}

// strength reports whether the columns that a step searches by select few rows (equal), or at most those of a range
// that the caller chose (bounded).
func strength(columns string) (equal, bounded bool) {
	for _, c := range strings.Split(columns, " AND ") {
		name := strings.TrimLeft(strings.FieldsFunc(c+" ", func(r rune) bool { return strings.ContainsRune("=<>,", r) })[0], "(")
		if columns == "" || slices.Contains(weak, name) {
			continue
		}
		bounded = true
		equal = equal || strings.Contains(c, "=?")
	}
	return equal, bounded
}

// numbered replaces each ? by the next of $1, $2, ..., as webhook does when it starts.
func numbered(query string) string {
	parts := strings.Split(query, "?")
	for i := 1; i < len(parts); i++ {
		parts[i] = "$" + strconv.Itoa(i) + parts[i]
	}
	return strings.Join(parts, "")
}

func TestJudge(t *testing.T) {
	tables := []touch{{"verdict", "v", false}, {"incident", "incident", false}, {"person", "person", false}}
	for _, c := range []struct {
		steps string
		fault bool
	}{
		{"SCAN v", true},
		{"SCAN incident USING COVERING INDEX incident_by_time", true},
		{"SCAN person", false},
		{"SCAN incident USING INDEX incident_snoozed", false},
		{"SEARCH v USING INDEX sqlite_autoindex_verdict_1 (account_id=?)", true},
		{"SEARCH incident USING INDEX incident_by_group (account_id=? AND channel_id=?)", false},
		{"SEARCH incident USING INDEX x (account_id=? AND channel_id=? AND status=?)", true},
		{"SEARCH v USING INDEX verdict_of_event (account_id=? AND event_id=?)", false},
		{"SEARCH v USING INDEX verdict_of_event (account_id=? AND event_id=?)\nUSE TEMP B-TREE FOR ORDER BY", false},
		{"SEARCH v USING INDEX verdict_by_time (account_id=? AND event_time>? AND event_time<?)", false},
		{"SEARCH v USING INDEX verdict_by_time (account_id=? AND event_time>? AND event_time<?)\nUSE TEMP B-TREE FOR ORDER BY", true},
		{"SEARCH v USING INDEX verdict_by_time (account_id=? AND (event_time,verdict_id)<(?,?))\nUSE TEMP B-TREE FOR LAST TERM OF ORDER BY", false},
		{"SEARCH v USING INTEGER PRIMARY KEY (rowid=?)", false},
	} {
		if faults := judge(strings.Split(c.steps, "\n"), tables); (len(faults) > 0) != c.fault {
			t.Errorf("%s: %q", c.steps, faults)
		}
	}
}
