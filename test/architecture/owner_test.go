package architecture

import (
	"go/ast"
	"go/constant"
	"maps"
	"slices"
	"testing"
)

// owners maps each table to the package that owns it. Only the owner's statements touch a table; others call its
// exported functions.
var owners = map[string]string{
	"account": "person", "person": "person",
	"app_key":  "auth",
	"session":  "session",
	"push_key": "push", "push_subscription": "push",
	"password": "credential", "sign_in_link": "credential", "invitation": "credential", "identity": "credential", "second_factor": "credential", "recovery_code": "credential",
	"role": "role", "person_role": "role",
	"team": "team", "team_person": "team",
	"audit_channel": "audit", "audit_log": "audit", "audit_masking": "audit", "audit_touched": "audit",
	"seal_key": "sealkey", "daily_job": "app", "page_change": "app", "schedule_gap": "schedule",
	"hold":         "platform/hold",
	"node":         "platform/node",
	"schema_floor": "platform/db",
	"object":       "configstore", "reference": "configstore",
	"sign_in_attempt": "signin", "sign_in_state": "signin",
	"moved": "platform/moved", "moved_key": "platform/moved",
	"schedule": "schedule", "schedule_override": "schedule", "cover_request": "schedule",
	"person_absence": "absence",
	"ical_feed":      "schedulefeed",
	"channel":        "channel", "channel_star": "channel",
	"integration_key": "integration", "refused": "integration", "unknown_severity": "integration", "event_bytes": "integration",
	"alert":    "alert",
	"incident": "incident", "incident_assignment": "incident",
	"feed":       "activity",
	"datasource": "datasource", "datasource_counter": "datasource",
	"edge": "edge", "edge_key": "edge",
	"rule_folder": "rulefolder",
	"alert_rule":  "alertrule", "alert_rule_change": "alertrule", "alert_rule_count": "alertrule", "alert_rule_counter": "alertrule", "alert_rule_deleted": "alertrule",
	"rum_application": "rum", "rum_issue": "rum", "rum_fingerprint": "rum", "rum_sample": "rum", "rum_day": "rum", "rum_session": "rum", "rum_version": "rum", "source_map": "sourcemap",
	"webhook_count": "engine/webhook", "webhook_count_day": "engine/webhook", "webhook_delivery": "engine/webhook", "webhook_endpoint": "engine/webhook", "webhook_event": "engine/webhook", "webhook_exchange": "engine/webhook", "webhook_message": "engine/webhook", "webhook_replay": "engine/webhook",
	"notice": "engine/notify", "notice_failing": "engine/notify", "notice_send": "engine/notify",
	"escalation": "engine/escalation", "follow_up": "engine/escalation",
	"phone_answer": "engine/phone",
	"handover":     "engine/shiftnotice",
	"silence_end":  "engine/silencewarning",
	"own_alert":    "engine/selfalert",
	"rum_alert":    "engine/rumintake", "rum_alert_group": "engine/rumintake",
	"rule_instance": "engine/monitor", "rule_watch": "engine/monitor", "rule_transition": "engine/monitor", "watch_state": "engine/monitor", "node_slot": "engine/monitor",
	"edge_slot": "engine/monitor", "edge_taken": "engine/monitor", "edge_request": "engine/monitor",
	"war_room": "warroom",
	"event":    "engine/triage", "event_waiting": "engine/triage", "verdict": "engine/triage",
	"change":    "changeevent",
	"heartbeat": "engine/ingest",
	"untold":    "engine/untold",

	"status_page_change": "statuspage",
}

// exception permits a package to touch a table of another, in this many texts that read it and that write it. The list
// only shrinks: the test fails as well when there are fewer texts.
type exception struct {
	table, pkg    string
	reads, writes int
	reason        string
}

var exceptions = []exception{
	{"account", "auth", 4, 0, "one statement finds a key, or a person who signed in, with person and account on every call; auth stands below person"},
	{"account", "configstore", 13, 7, "its columns revision and revision_* are those of this package"},
	{"alert", "incident", 2, 0, "retention looks at both, so that an alert stays while its incident does"},
	{"alert", "route", 1, 0, "a preview reads one alert; route stands below alert"},
	{"escalation", "alert", 1, 0, "alerts that a silence or an escalation holds back are found by one join while an event is decided; alert stands below"},
	{"event", "engine/explain", 1, 0, "whether an event waits; triage stands above explain"},
	{"event_waiting", "engine/explain", 1, 0, "the same"},
	{"incident", "alert", 5, 0, "a list shows the incident of each alert in one statement instead of one for each row"},
	{"person", "auth", 4, 0, "likewise"},
	{"person", "team", 3, 0, "names and addresses of members; team stands below person"},
	{"person_role", "auth", 1, 0, "what a person may do is read when a key is; auth stands below role"},
	{"person_role", "person", 1, 0, "the filter of a page and of its exact total, in the statement that counts"},
	{"role", "auth", 1, 0, "what a person may do is read when a key is; auth stands below role"},
	{"team_person", "auth", 1, 0, "whether a caller is in a team; auth stands below team"},
	{"team_person", "channel", 2, 0, "the filter of a page and of its exact total, in the statement that counts"},
	{"team_person", "configstore", 1, 0, "the filter of a page and of its exact total, in the statement that counts"},
	{"team_person", "rum", 1, 0, "the filter of a page and of its exact total, in the statement that counts"},
	{"team_person", "schedule", 1, 0, "the filter of a page and of its exact total, in the statement that counts"},
	{"verdict", "alert", 3, 0, "the events of an alert are its verdicts, listed by page, and so is what each rule held back; triage stands above alert"},
	{"verdict", "engine/explain", 1, 0, "explaining reads what deciding wrote; triage stands above explain"},
}

func TestTablesHaveOwners(t *testing.T) {
	known := map[string]bool{}
	for _, table := range slices.Concat(growing, configured) {
		known[table] = true
		if owners[table] == "" {
			t.Errorf("table %s: say which package owns it", table)
		}
	}
	type pair struct{ table, pkg string }
	type count struct {
		reads, writes int
		places        []string
	}
	found := map[pair]count{}
	for _, s := range sources(t) {
		literals(s, func(n ast.Node, text string) {
			for _, touch := range touches(text, known) {
				if owners[touch.table] == s.name {
					continue
				}
				c := found[pair{touch.table, s.name}]
				c.places = append(c.places, s.at(n))
				if touch.write {
					c.writes++
				} else {
					c.reads++
				}
				found[pair{touch.table, s.name}] = c
			}
		})
	}
	for _, e := range exceptions {
		switch c := found[pair{e.table, e.pkg}]; {
		case e.reason == "":
			t.Errorf("%s in %s: say why", e.table, e.pkg)
		case c.reads > e.reads || c.writes > e.writes:
			t.Errorf("%s reads %s %d times and writes it %d times, allowed are %d and %d: call %s instead; at %v", e.pkg, e.table, c.reads, c.writes, e.reads, e.writes, owners[e.table], c.places)
		case c.reads < e.reads || c.writes < e.writes:
			t.Errorf("%s reads %s only %d times and writes it %d times: lower the exception", e.pkg, e.table, c.reads, c.writes)
		}
		delete(found, pair{e.table, e.pkg})
	}
	for _, p := range slices.SortedFunc(maps.Keys(found), func(a, b pair) int { return slices.Compare([]string{a.table, a.pkg}, []string{b.table, b.pkg}) }) {
		c := found[p]
		t.Errorf("%s touches %s, which belongs to %s (%d reads, %d writes): call that; at %v", p.pkg, p.table, owners[p.table], c.reads, c.writes, c.places)
	}
}

// literals visits the texts in the source of a package. A statement may consist of several; each table is in one.
func literals(s *source, visit func(n ast.Node, text string)) {
	for _, f := range s.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if x, ok := n.(*ast.BasicLit); ok {
				if v := s.info.Types[ast.Expr(x)].Value; v != nil && v.Kind() == constant.String {
					visit(x, constant.StringVal(v))
				}
			}
			return true
		})
	}
}
