// Package grafana reads what Grafana posts: messages of unified alerting, which hold the alerts of Alertmanager,
// and of the legacy alerting before it.
//
// It must never treat an unknown state as the end of an alert.
package grafana

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"tocsin/internal/core/event"
	"tocsin/internal/platform/fault"
	"tocsin/internal/source"
	"tocsin/internal/source/prometheus"
)

type legacy struct {
	Title       string      `json:"title"`
	RuleName    string      `json:"ruleName"`
	RuleID      source.Text `json:"ruleId"`
	RuleURL     string      `json:"ruleUrl"`
	State       string      `json:"state"`
	Message     string      `json:"message"`
	ImageURL    string      `json:"imageUrl"`
	EvalMatches []match     `json:"evalMatches"`
	Tags        source.Tags `json:"tags"`
	OrgID       source.Text `json:"orgId"`
}

// match is a series for which the rule's condition was met, with its value.
type match struct {
	Metric source.Text `json:"metric"`
	Value  source.Text `json:"value"`
}

// states maps the states of legacy alerts to statuses (docs/sources.md).
var states = map[string]string{"alerting": event.Warning, "no_data": event.Critical, "ok": event.Ok}

// Parse returns the events of a body, or none for a paused or pending alert. The error is a fault that names the member.
func Parse(r source.Request) (b source.Batch, err error) {
	var m struct {
		Alerts source.List `json:"alerts"`
	}
	one := r
	one.MaxAlerts = 1 // whether there are any
	if err := one.ReadList(&m, &m.Alerts); err != nil {
		return b, err
	}
	if len(m.Alerts.Items) > 0 {
		return prometheus.Parse(r)
	}
	var l legacy
	if err := source.Read(r.Body, &l); err != nil {
		return b, source.Unreadable(err)
	}
	if l.State == "paused" || l.State == "pending" {
		return b, nil // in neither state an alert begins or ends
	}
	e, err := l.event(r.At)
	if err == nil {
		b.Events = []event.Event{e}
	}
	return b, err
}

func (l *legacy) event(at time.Time) (e event.Event, err error) {
	status, ok := states[l.State]
	if !ok {
		return e, fault.Invalid("state",
			"must be alerting, no_data, ok, paused or pending, or alerts must hold unified alerts, got %.60q", l.State)
	}
	name := strings.TrimSpace(source.Clean(cmp.Or(l.RuleName, l.Title)))
	if name == "" {
		return e, fault.Invalid("ruleName", "is required")
	}
	labels := source.Labels(source.NonEmpty(map[string]string{"rule_name": name, "rule_url": l.RuleURL}), l.Tags)
	rule := string(l.RuleID)
	if rule == "" || rule == "0" { // Grafana's test message has no rule
		rule = name
	}
	title := event.Cut(name, event.MaxTitle)
	e = event.Event{
		AlertKey:    event.KeyOf(nil, "grafana", string(l.OrgID), rule),
		TitleRule:   title,
		Title:       title,
		Description: event.Cut(l.describe(), event.MaxDescription),
		Status:      status,
		Severity:    status,
		Labels:      labels,
		Identifying: source.Identifying(labels, map[string]string{"rule_name": name}, l.Tags),
		Images:      source.Images([]event.Image{{Src: l.ImageURL, Alt: title}}),
		Time:        at.Unix(),
	}
	if status == event.Ok {
		e.Severity = event.Info // the message does not hold the severity before
	}
	return e, nil
}

// describe returns the message and the values that the rule evaluated, one a line.
func (l *legacy) describe() string {
	var lines []string
	if l.Message != "" {
		lines = append(lines, l.Message)
	}
	for _, m := range l.EvalMatches {
		lines = append(lines, fmt.Sprintf("%s: %s", m.Metric, cmp.Or(m.Value, "no value")))
	}
	return source.Clean(strings.Join(lines, "\n"))
}
