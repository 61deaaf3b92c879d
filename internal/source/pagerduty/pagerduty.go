// Package pagerduty reads the Events API of PagerDuty, versions 1 and 2, so that what sends there can send
// here.
//
// It must never make an event of an acknowledgement: that is for people, in Tocsin.
package pagerduty

import (
	"cmp"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"tocsin/internal/event"
	"tocsin/internal/fault"
	"tocsin/internal/source"
)

// body has the members of both versions.
type body struct {
	RoutingKey  string  `json:"routing_key"`  // v2
	ServiceKey  string  `json:"service_key"`  // v1
	EventAction string  `json:"event_action"` // v2: trigger, acknowledge, resolve
	EventType   string  `json:"event_type"`   // v1: the same
	DedupKey    string  `json:"dedup_key"`
	IncidentKey string  `json:"incident_key"`
	Description string  `json:"description"` // v1
	Details     any     `json:"details"`     // v1
	Client      string  `json:"client"`
	ClientURL   string  `json:"client_url"`
	Payload     payload `json:"payload"`
	Images      []image `json:"images"`
}

type payload struct {
	Summary       string `json:"summary"`
	Source        string `json:"source"`
	Severity      string `json:"severity"`
	Timestamp     string `json:"timestamp"`
	Component     string `json:"component"`
	Group         string `json:"group"`
	Class         string `json:"class"`
	CustomDetails any    `json:"custom_details"`
}

type image struct {
	Src  string `json:"src"`
	Href string `json:"href"`
	Alt  string `json:"alt"`
}

// severities is the table of version 2 (docs/sources.md); version 1 has none and is Critical.
var severities = map[string]string{"critical": event.Critical, "error": event.Critical, "warning": event.Warning, "info": event.Info}

// Key is the integration key that clients of PagerDuty put into the body; empty: there is none.
func Key(text []byte) string {
	var b struct {
		RoutingKey string `json:"routing_key"`
		ServiceKey string `json:"service_key"`
	}
	if json.Unmarshal(text, &b) != nil {
		return ""
	}
	return cmp.Or(b.RoutingKey, b.ServiceKey)
}

// Parse reads a body.
func Parse(text []byte, at time.Time, _ url.Values) (out source.Batch, err error) {
	var b body
	if err := json.Unmarshal(text, &b); err != nil {
		return out, source.Unreadable(err)
	}
	action, field := b.EventAction, "event_action"
	if action == "" {
		action, field = b.EventType, "event_type"
	}
	switch action {
	case "acknowledge":
		return out, nil
	case "trigger", "resolve":
	default:
		return out, fault.Invalid(field, "must be trigger, acknowledge or resolve, got %.60q", action)
	}
	e, err := b.event(action == "resolve", at)
	if err == nil {
		out.Events = []event.Event{e}
	}
	return out, err
}

func (b *body) event(resolve bool, at time.Time) (e event.Event, err error) {
	key := source.Clean(cmp.Or(b.DedupKey, b.IncidentKey))
	title := source.Clean(cmp.Or(b.Payload.Summary, b.Description))
	switch {
	case key == "" && resolve:
		return e, fault.Invalid("dedup_key", "is required to resolve: it says which alert is over")
	case utf8.RuneCountInString(key) > event.MaxAlertKey:
		return e, fault.Invalid("dedup_key", "must be at most %d characters, got %d", event.MaxAlertKey, utf8.RuneCountInString(key))
	case strings.TrimSpace(title) == "" && !resolve:
		return e, fault.Invalid("payload.summary", "is required")
	}
	labels := map[string]string{}
	source.Flat("", b.Payload.CustomDetails, labels)
	source.Flat("", b.Details, labels)
	for name, value := range map[string]string{"source": b.Payload.Source, "component": b.Payload.Component, "group": b.Payload.Group, "class": b.Payload.Class, "client": b.Client, "client_url": b.ClientURL} {
		if value != "" {
			labels[name] = value
		}
	}
	delete(labels, "")
	kept := source.Labels(labels)
	severity, known := source.Severity(b.Payload.Severity, severities)
	if !known {
		severity = event.Critical
		if b.Payload.Severity != "" {
			severity = event.Warning
		}
	}
	if key == "" {
		key = event.KeyOf(nil, "pagerduty", title, b.Payload.Source)
	}
	when, err := time.Parse(time.RFC3339, b.Payload.Timestamp)
	if err != nil { // as many clients write it
		when, _ = time.Parse("2006-01-02T15:04:05.999-0700", b.Payload.Timestamp)
	}
	e = event.Event{AlertKey: key, TitleRule: event.Cut(title, event.MaxTitle), Title: event.Cut(title, event.MaxTitle), Status: severity, Severity: severity, Labels: kept, Time: source.At(when, at)}
	if resolve {
		e.Status = event.Ok
	}
	for _, i := range b.Images {
		if u, err := url.Parse(i.Src); err == nil && u.Host != "" && len(i.Src) <= 256 && len(i.Href) <= 256 && len(i.Alt) <= 128 && len(e.Images) < 20 {
			e.Images = append(e.Images, event.Image{Src: i.Src, Href: i.Href, Alt: i.Alt})
		}
	}
	return e, nil
}
