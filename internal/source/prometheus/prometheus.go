// Package prometheus reads what Alertmanager posts to its webhook receivers, version 4.
//
// It must never lose an alert because its severity is unknown: such an alert is a Warning.
package prometheus

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/core/event"
	"tocsin/internal/platform/fault"
	"tocsin/internal/source"
)

// Alert is one alert of the message; Grafana's unified alerting has the same.
type Alert struct {
	Status      string            `json:"status"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    string            `json:"startsAt"`
	EndsAt      string            `json:"endsAt"`
	Fingerprint string            `json:"fingerprint"`

	GeneratorURL source.Text `json:"generatorURL"` // the graph, or Grafana's rule
	DashboardURL source.Text `json:"dashboardURL"` // this and the next three are Grafana's
	PanelURL     source.Text `json:"panelURL"`
	SilenceURL   source.Text `json:"silenceURL"`
	ImageURL     source.Text `json:"imageURL"` // Grafana's picture of the panel
	ExternalURL  source.Text `json:"-"`        // of the message: Alertmanager or Grafana
}

type message struct {
	Alerts          source.List `json:"alerts"`
	GroupKey        source.Text `json:"groupKey"`
	GroupLabels     source.Tags `json:"groupLabels"`
	TruncatedAlerts source.Text `json:"truncatedAlerts"` // how many max_alerts left out
	ExternalURL     source.Text `json:"externalURL"`
}

// Parse returns the events of a body. A malformed alert is refused alone; an error is a fault of the whole body.
func Parse(r source.Request) (b source.Batch, err error) {
	var m message
	if err := r.ReadList(&m, &m.Alerts); err != nil {
		return b, err
	}
	if len(m.Alerts.Items) == 0 {
		return b, r.Empty("alerts")
	}
	group := m.group()
	for i, item := range m.Alerts.Items {
		var a Alert
		if err := source.Read(item, &a); err != nil {
			b.Refuse(i, fmt.Sprintf("alerts[%d]", i), source.Unreadable(err))
			continue
		}
		a.ExternalURL = m.ExternalURL
		e, err := a.event(r)
		if err != nil {
			b.Refuse(i, fmt.Sprintf("alerts[%d]", i), err)
			continue
		}
		e.GroupKey = group
		b.Events = append(b.Events, e)
	}
	b.RefuseRest(r, &m.Alerts, "alerts")
	if n, ok := m.TruncatedAlerts.Number(); ok {
		b.Truncated = max(n, 0)
	}
	return b, nil
}

// group returns the group key, or one made of the labels by which the alerts are grouped.
func (m *message) group() string {
	if m.GroupKey == "" && len(m.GroupLabels) > 0 {
		return event.KeyOf(m.GroupLabels, "prometheus group")
	}
	return source.GroupKey(string(m.GroupKey))
}

// event converts an alert of a request to an event. The error is a fault that names the member.
func (a Alert) event(r source.Request) (e event.Event, err error) {
	if len(a.Labels) == 0 {
		return e, fault.Invalid("labels", "is required")
	}
	if a.Status != "firing" && a.Status != "resolved" {
		return e, fault.Invalid("status", "must be firing or resolved, got %.100q", a.Status)
	}
	labels := source.Labels(a.Labels, a.Annotations, a.links())
	rating := r.Severities.Rate(a.Labels)
	e = event.Event{
		AlertKey:    a.Fingerprint,
		TitleRule:   titleRule(labels),
		Description: event.Cut(source.Clean(describe(a.Annotations)), event.MaxDescription),
		Status:      rating.Severity,
		Severity:    rating.Severity,
		Word:        rating.Word,
		UnknownWord: rating.Unknown,
		Labels:      labels,
		Identifying: source.Identifying(labels, a.Labels),
		Time:        a.time(r.At),
	}
	// Without a fingerprint the labels identify the alert, as they do in Alertmanager.
	e.AlertKey = event.Cut(source.Clean(e.AlertKey), event.MaxAlertKey)
	if e.AlertKey == "" {
		e.AlertKey = event.KeyOf(source.Labels(a.Labels))
	}
	e.Title = source.Title(e.TitleRule, labels)
	e.Images = source.Images([]event.Image{{Src: string(a.ImageURL), Alt: e.Title}})
	if a.Status == "resolved" {
		e.Status = event.Ok
	}
	if e.Severity == event.Ok { // a label may be "ok", but Ok is a status and no severity
		e.Severity = event.Info
	}
	return e, nil
}

// links returns the links of the alert as labels, which count after all others.
func (a Alert) links() map[string]string {
	return source.NonEmpty(map[string]string{
		"generator_url": string(a.GeneratorURL), "dashboard_url": string(a.DashboardURL), "panel_url": string(a.PanelURL),
		"silence_url": string(a.SilenceURL), "external_url": string(a.ExternalURL),
	})
}

// titleRule returns a rule with the alert's name and, where known, its service and instance. Grafana's own alerts about rules
// that have no data or fail have one name for all rules, and the rule's in a label.
func titleRule(labels map[string]string) string {
	names := []string{"alertname", "service", "instance"}
	if name := labels["alertname"]; name == "DatasourceNoData" || name == "DatasourceError" {
		names = slices.Insert(names, 1, "rulename")
	}
	var parts []string
	for _, name := range names {
		if labels[name] != "" {
			parts = append(parts, "$"+name)
		}
	}
	if len(parts) == 0 {
		return "Alert of Prometheus"
	}
	return strings.Join(parts, "::")
}

func describe(annotations map[string]string) string {
	return cmp.Or(annotations["description"], annotations["message"], annotations["summary"])
}

// time returns the Unix seconds of the annotation timestamp, itself Unix seconds or RFC 3339, else those of the
// alert's start or end.
func (a Alert) time(came time.Time) int64 {
	if stamp := a.Annotations["timestamp"]; stamp != "" {
		if seconds, err := strconv.ParseInt(stamp, 10, 64); err == nil {
			return source.At(time.Unix(seconds, 0), came)
		}
		if t, err := time.Parse(time.RFC3339, stamp); err == nil {
			return source.At(t, came)
		}
	}
	when := a.StartsAt
	if a.Status == "resolved" {
		when = a.EndsAt
	}
	t, _ := time.Parse(time.RFC3339, when)
	return source.At(t, came)
}
