package story

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// publicTemplate is a text for Slack as clients of the public template language write them.
const publicTemplate = `{{fireReason .}}INC <{{.DetailUrl}}|#{{.Num}}> {{toHtml .Title}}
-----
Channel: {{.ChannelName}} {{.ChannelID}} of {{.AccountName}} ({{.AccountTimeZone}})
Severity: {{.IncidentSeverity}}, {{.IncidentStatus}}, {{.Progress}}
Began: {{date "2006-01-02 15:04" .StartTime}}, {{ago .StartTime}} ago
Alerts: {{.ActiveAlertCnt}} of {{.AlertCnt}}, {{.AlertEventCnt}} events, hosts {{len (alertLabels . "host")}}: {{joinAlertLabels . "host" "," | trunc 17}}
Assigned: {{range .Responders}}@{{.PersonName}} {{.PersonID}} {{.Email}}{{if .AcknowledgedAt}} acknowledged{{end}} {{end}}
Rule: {{.AssignedTo.EscalateRuleName}}, {{.AssignedTo.Type}}, {{.GroupMethod}}, {{.FireType}} {{.FireTimes}}, flapping {{.IsFlapping}} {{.Flapping.MaxChanges}}, storm {{.IsInStorm}}
People: {{.Creator.PersonName}}|{{.Closer.PersonName}}|{{if .Owner}}{{.Owner.PersonName}}{{end}}|{{.CloserID}}
{{if .RootCause}}Cause: {{.RootCause}}{{end}}{{if .CloseTime}}, closed {{date "15:04" .CloseTime}}, ended {{.EndTime}}{{end}}
<br><{{.DetailUrl}}?ack=1|Acknowledge>`

// A template of the public language is filled in with what the program knows, from the page to the end.
func TestTemplateOfPublicLanguage(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(publicTemplate)
	if err != nil {
		t.Fatal(err)
	}
	config := strings.Replace(grouping(fmt.Sprintf(`{"target": {"person_ids": [%d], %s, %s}}`, ann, by, slackChat)), "000000000000000000000001", "7e7e7e7e7e7e7e7e7e7e7e01", 1)
	w := begin(t, strings.Replace(config, "{", fmt.Sprintf(`{"templates": [{"template_id": "7e7e7e7e7e7e7e7e7e7e7e01", "template_name": "public", "slack": %s}],`, text), 1))
	inChat := func() (text string) {
		for _, p := range w.newPages() {
			if p.method == "slack" {
				text = p.text
			}
		}
		return text
	}
	w.outage(1, "firing")
	w.outage(12, "firing")
	w.pass(5 * time.Minute)
	link := regexp.MustCompile(`https://tocsin\.example\.com/ack/[\w-]{20,}`)
	num := strings.ToUpper(w.incident()[18:])
	page := "\n" + link.ReplaceAllString(inChat(), "LINK")
	for _, want := range []string{
		"\nINC <LINK|#" + num + "> HighErrorRate", "\nChannel: Payments 7000000000043 of ", "\nSeverity: Critical, Critical, Triggered\n", "\nBegan: 20", " hosts 1: web00\n",
		"\nAssigned: @Ann Day 7000000000012 ann@example.com \n", "\nRule: on call, escalate, p, fire 1, flapping false 4, storm false\n", "\nPeople: |||0\n", "\n<LINK?ack=1|Acknowledge>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in\n%s", want, page)
		}
	}
	w.ack(annKey)
	w.do("/incident/reset", `{"incident_id": %q, "root_cause": "a *slow* query"}`, w.incident())
	if got := link.ReplaceAllString(inChat(), "LINK"); !strings.HasPrefix(got, "[ACKNOWLEDGED] INC <LINK|#") || !strings.Contains(got, "Alerts: 12 of 12, 12 events, hosts 12: web00,web01,web02\n") ||
		!strings.Contains(got, "ann@example.com acknowledged \n") {
		t.Error(got)
	}
	w.as(annKey, "/incident/resolve", `{"incident_ids": [%q]}`, w.incident())
	if got := link.ReplaceAllString(inChat(), "LINK"); !strings.HasPrefix(got, "[RESOLVED] INC <LINK|#") || !strings.Contains(got, "\nPeople: |Ann Day||7000000000012\nCause: a ∗slow∗ query, closed ") ||
		!strings.Contains(got, "Critical, Ok, Closed\n") || !strings.Contains(got, ", ended 17") {
		t.Error(got)
	}
}
