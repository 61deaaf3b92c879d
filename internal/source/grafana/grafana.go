// Package grafana reads what Grafana posts: unified alerting, which has the alerts of Alertmanager, and the
// legacy alerts before it.
//
// It must never take a state it does not know for the end of an alert.
package grafana

import (
	"cmp"
	"fmt"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/event"
	"tocsin/internal/fault"
	"tocsin/internal/source"
	"tocsin/internal/source/prometheus"
)

type legacy struct {
	Title    string      `json:"title"`
	RuleName string      `json:"ruleName"`
	RuleID   source.Text `json:"ruleId"`
	RuleURL  string      `json:"ruleUrl"`
	State    string      `json:"state"`
	Message  string      `json:"message"`
	ImageURL string      `json:"imageUrl"`
	Tags     source.Tags `json:"tags"`
	OrgID    source.Text `json:"orgId"`
}

// states are those of legacy alerts (docs/sources.md).
var states = map[string]string{"alerting": event.Warning, "no_data": event.Critical, "ok": event.Ok}

// Parse reads a body.
func Parse(body []byte, at time.Time, query url.Values) (b source.Batch, err error) {
	var m struct {
		Alerts []jsontext.Value `json:"alerts"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return b, source.Unreadable(err)
	}
	if len(m.Alerts) > 0 {
		return prometheus.Parse(body, at, query)
	}
	var l legacy
	if err := json.Unmarshal(body, &l); err != nil {
		return b, source.Unreadable(err)
	}
	e, taken, err := l.event(at)
	if err == nil && taken {
		b.Events = []event.Event{e}
	}
	return b, err
}

// event is that of a legacy alert; taken is false for states that say nothing about it (paused, pending).
func (l legacy) event(at time.Time) (e event.Event, taken bool, err error) {
	if l.State == "paused" || l.State == "pending" {
		return e, false, nil
	}
	status, ok := states[l.State]
	if !ok {
		return e, false, fault.Invalid("state", "must be alerting, no_data, ok, paused or pending, or alerts must hold unified alerts, got %.60q", l.State)
	}
	name := source.Clean(cmp.Or(l.RuleName, l.Title))
	if name == "" {
		return e, false, fault.Invalid("ruleName", "is required")
	}
	labels := map[string]string(l.Tags)
	if labels == nil {
		labels = map[string]string{}
	}
	labels["rule_name"] = name
	if l.RuleURL != "" {
		labels["rule_url"] = l.RuleURL
	}
	kept := source.Labels(labels)
	e = event.Event{
		AlertKey: event.KeyOf(nil, "grafana", string(l.OrgID), cmp.Or(string(l.RuleID), name)), TitleRule: event.Cut(name, event.MaxTitle), Title: event.Cut(name, event.MaxTitle),
		Description: event.Cut(source.Clean(l.Message), event.MaxDescription), Status: status, Severity: status, Labels: kept, Time: at.Unix(),
	}
	if status == event.Ok {
		e.Severity = event.Info
	}
	if u, err := url.Parse(l.ImageURL); err == nil && u.Host != "" && len(l.ImageURL) <= 256 {
		e.Images = []event.Image{{Src: l.ImageURL, Alt: fmt.Sprintf("%.100s", name)}}
	}
	return e, true, nil
}
