package console_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestEventRulesForm sets rules that change the events of an integration, tried on the newest event first.
func TestEventRulesForm(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	w.push(`{"title_rule": "Disk of db-1 is full", "event_status": "Info", "alert_key": "disk", "labels": {"env": "prod"}}`)
	w.settle()
	const rules = probePath + "/rules/pipeline"
	owner.get(probePath).shows(rules, probePath+"/rules/labels")
	owner.get(rules).shows("There is no rule yet", "Disk of db-1 is full", "Set the severity")
	owner.post(rules, "do", "add-rule:title_reset").shows("1. Set the title", "rule.0.title", "Rule 1 is not complete:", "must not be empty")
	fields := []string{"rule.0.kind", "severity_reset", "rule.0.severity", "Critical", "rule.0.0.0.key", "labels.env", "rule.0.0.0.oper", "IN",
		"rule.0.0.0.vals", "prod", "rule.1.kind", "title_reset", "rule.1.title", "{{.labels.env}}: {{.title}}"}
	owner.post(rules, append(fields, "do", "try")...).shows("prod: Disk of db-1 is full", `class="sev critical"`, "✓ matches")
	owner.get(rules).shows("There is no rule yet")
	owner.post(rules, append(fields, "do", "up-rule:1")...).shows("1. Set the title", "2. Set the severity")
	owner.post(rules, append(fields, "do", "save")...).shows("1. Set the severity", "2. Set the title", `value="{{.labels.env}}: {{.title}}"`)
	owner.post(rules, "rule.0.kind", "title_reset", "rule.0.title", "{{.nothing}}", "do", "save").showsWith(http.StatusBadRequest, "title", "{{.nothing}}")
	owner.post(rules, "rule.0.kind", "alert_drop", "seen", "older", "do", "save").showsWith(http.StatusBadRequest, "changed this meanwhile")
	owner.post(rules, "rule.0.kind", "alert_drop", "do", "try").shows("It would be discarded.")
	inhibit := []string{"rule.0.kind", "alert_inhibit", "rule.0.equals", "labels.env", "rule.0.source.0.0.key", "title", "rule.0.source.0.0.oper", "IN",
		"rule.0.source.0.0.vals", "*full*"}
	owner.post(rules, append(inhibit, "do", "save")...).shows("Mute it while another alert is active", "labels.env", "*full*", "It would be muted")
	stored := w.call(ownerKey, "/alert/pipeline/info", `{"integration_id": 7000000000051}`)
	if all := stored["rules"].([]any); len(all) != 1 {
		t.Error(all)
	}
	owner.post(rules, "do", "save").shows("There is no rule yet")

	const labels = probePath + "/rules/labels"
	set := []string{"rule.0.kind", "extraction", "rule.0.source_field", "title", "rule.0.pattern", "of (?P<result>[a-z0-9-]+)", "rule.0.result_label", "host",
		"rule.1.kind", "drop", "rule.1.drop_labels", "env, zone", "rule.2.kind", "composition", "rule.2.template", "{{.labels.host}}!",
		"rule.2.result_label", "loud", "rule.2.override", "1"}
	owner.post(labels, append(set, "do", "try")...).shows("host=db-1", "<del", "env=prod", "loud=db-1!")
	owner.post(labels, append(set, "do", "save")...).shows("1. Label from a text", "env, zone", `name="rule.2.override" value="1" checked`)
	w.push(`{"title_rule": "Disk of db-2 is full", "event_status": "Info", "alert_key": "disk2", "labels": {"env": "prod"}}`)
	w.settle()
	if page := owner.get(labels).body; !strings.Contains(page, "host=db-2") {
		t.Error("the stored rules changed no event")
	}
	owner.get(probePath + "/rules/other").showsWith(http.StatusNotFound)
}
