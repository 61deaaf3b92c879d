// Package zabbix reads what a webhook media type of Zabbix 3 to 7 sends, with the members that are named in
// docs/sources.md. Zabbix writes numbers as texts and tags in several ways; all are taken.
//
// It must never take a problem for recovered without being told so.
package zabbix

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/event"
	"tocsin/internal/fault"
	"tocsin/internal/source"
)

type body struct {
	EventID     source.Text `json:"event_id"`
	TriggerID   source.Text `json:"trigger_id"`
	Name        source.Text `json:"event_name"`
	TriggerName source.Text `json:"trigger_name"`
	Subject     source.Text `json:"subject"`
	Message     source.Text `json:"message"`
	OpData      source.Text `json:"event_opdata"`
	Severity    source.Text `json:"event_severity"`
	TriggerSev  source.Text `json:"trigger_severity"`
	NSeverity   source.Text `json:"event_nseverity"`
	Status      source.Text `json:"event_status"`
	Value       source.Text `json:"event_value"`
	TriggerStat source.Text `json:"trigger_status"`
	Host        source.Text `json:"host_name"`
	HostAlt     source.Text `json:"host"`
	IP          source.Text `json:"host_ip"`
	Item        source.Text `json:"item_name"`
	ItemValue   source.Text `json:"item_value"`
	URL         source.Text `json:"zabbix_url"`
	Time        source.Text `json:"event_timestamp"`
	Tags        source.Tags `json:"event_tags"`
	TagsAlt     source.Tags `json:"tags"`
}

// severities is the table of names (docs/sources.md), and bySeverity that of numbers, 0 to 5.
var (
	severities = map[string]string{"disaster": event.Critical, "high": event.Critical, "average": event.Warning, "warning": event.Warning, "information": event.Info, "not classified": event.Info}
	byNumber   = []string{event.Info, event.Info, event.Warning, event.Warning, event.Critical, event.Critical}
)

// Parse reads a body.
func Parse(text []byte, at time.Time, _ url.Values) (out source.Batch, err error) {
	var b body
	if err := json.Unmarshal(text, &b); err != nil {
		return out, source.Unreadable(err)
	}
	e, err := b.event(at)
	if err == nil {
		out.Events = []event.Event{e}
	}
	return out, err
}

func (b *body) event(at time.Time) (e event.Event, err error) {
	name := source.Clean(string(cmp.Or(b.Name, b.TriggerName, b.Subject)))
	if strings.TrimSpace(name) == "" {
		return e, fault.Invalid("event_name", "is required, or trigger_name or subject")
	}
	over, err := b.over()
	if err != nil {
		return e, err
	}
	severity := b.severity()
	host := source.Clean(string(cmp.Or(b.Host, b.HostAlt)))
	labels := map[string]string{}
	for tag, value := range b.TagsAlt {
		labels[tag] = value
	}
	for tag, value := range b.Tags {
		labels[tag] = value
	}
	for label, value := range map[string]source.Text{"host": source.Text(host), "host_ip": b.IP, "item": b.Item, "item_value": b.ItemValue, "trigger_id": b.TriggerID, "zabbix_url": b.URL} {
		if value != "" {
			labels[label] = string(value)
		}
	}
	kept := source.Labels(labels)
	rule := name
	if host != "" {
		rule = "$host::" + name
	}
	key := event.KeyOf(nil, "zabbix", string(cmp.Or(b.TriggerID, source.Text(name))), host)
	if b.EventID != "" && b.TriggerID == "" {
		key = event.KeyOf(nil, "zabbix event", string(b.EventID))
	}
	seconds, _ := b.Time.Number()
	when := time.Time{}
	if seconds > 0 {
		when = time.Unix(seconds, 0)
	}
	e = event.Event{AlertKey: key, TitleRule: event.Cut(rule, event.MaxTitle), Title: event.Title(event.Cut(rule, event.MaxTitle), kept), Description: event.Cut(source.Clean(string(cmp.Or(b.Message, b.OpData))), event.MaxDescription),
		Status: severity, Severity: severity, Labels: kept, Time: source.At(when, at)}
	if over {
		e.Status = event.Ok
	}
	return e, nil
}

// over reads whether the problem is over, in whichever way it is said.
func (b *body) over() (bool, error) {
	said := strings.ToUpper(strings.TrimSpace(string(cmp.Or(b.Status, b.TriggerStat, b.Value))))
	switch said {
	case "PROBLEM", "1", "UPDATE", "TRUE":
		return false, nil
	case "RESOLVED", "OK", "0", "FALSE", "RECOVERY":
		return true, nil
	}
	return false, fault.Invalid("event_status", "must be PROBLEM or RESOLVED, or event_value 1 or 0, got %.60q", said)
}

func (b *body) severity() string {
	if n, err := strconv.Atoi(strings.TrimSpace(string(b.NSeverity))); err == nil && n >= 0 && n < len(byNumber) {
		return byNumber[n]
	}
	if severity, ok := source.Severity(string(cmp.Or(b.Severity, b.TriggerSev)), severities); ok {
		return severity
	}
	return event.Warning
}
