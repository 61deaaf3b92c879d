// Package pagerduty reads the Events API of PagerDuty, versions 1 and 2, so that clients of PagerDuty can send
// events to Tocsin.
//
// It must never make an event of an acknowledgement: in Tocsin only people acknowledge.
package pagerduty

import (
	"cmp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/core/event"
	"tocsin/internal/platform/fault"
	"tocsin/internal/source"
)

// body has the members of both versions.
type body struct {
	RoutingKey  string         `json:"routing_key"`  // v2
	ServiceKey  string         `json:"service_key"`  // v1
	EventAction source.Text    `json:"event_action"` // v2: trigger, acknowledge, resolve
	EventType   source.Text    `json:"event_type"`   // v1: the same
	DedupKey    source.Text    `json:"dedup_key"`    // v2
	IncidentKey source.Text    `json:"incident_key"` // v1
	Description source.Text    `json:"description"`  // v1
	Details     jsontext.Value `json:"details"`      // v1
	Client      source.Text    `json:"client"`
	ClientURL   source.Text    `json:"client_url"`
	Payload     payload        `json:"payload"` // v2
	Links       []link         `json:"links"`   // v2
	Images      []event.Image  `json:"images"`  // v2
}

type payload struct {
	Summary       source.Text    `json:"summary"`
	Source        source.Text    `json:"source"`
	Severity      source.Text    `json:"severity"`
	Timestamp     string         `json:"timestamp"`
	Component     source.Text    `json:"component"`
	Group         source.Text    `json:"group"`
	Class         source.Text    `json:"class"`
	CustomDetails jsontext.Value `json:"custom_details"`
}

type link struct {
	Href string `json:"href"`
	Text string `json:"text"`
}

// severities is the table of version 2 (docs/sources.md).
var severities = map[string]string{
	"critical": event.Critical,
	"error":    event.Critical,
	"warning":  event.Warning,
	"info":     event.Info,
}

// Key returns the integration key that clients of PagerDuty put into the body, or "" if there is none.
func Key(text []byte) string {
	var b body
	if source.Read(text, &b) != nil {
		return ""
	}
	return strings.TrimSpace(cmp.Or(b.RoutingKey, b.ServiceKey))
}

// DedupKey returns the alert key that a body names, or "" if it names none.
func DedupKey(text []byte) string {
	var b body
	if source.Read(text, &b) != nil {
		return ""
	}
	return source.Clean(string(cmp.Or(b.DedupKey, b.IncidentKey)))
}

// Parse returns the event of a body, or none for an acknowledgement. The error is a fault
// that names the member.
func Parse(r source.Request) (out source.Batch, err error) {
	var b body
	if err := source.Read(r.Body, &b); err != nil {
		return out, source.Unreadable(err)
	}
	action, field := b.EventAction, "event_action"
	if action == "" && b.EventType != "" {
		action, field = b.EventType, "event_type"
	}
	switch action {
	case "acknowledge":
		return out, nil
	case "trigger", "resolve":
	default:
		return out, fault.Invalid(field, "must be trigger, acknowledge or resolve, got %.60q", string(action))
	}
	e, err := b.event(action == "resolve", r.At)
	if err == nil {
		out.Events = []event.Event{e}
	}
	return out, err
}

func (b *body) event(resolve bool, at time.Time) (e event.Event, err error) {
	keyField, titleField := "dedup_key", "payload.summary"
	if b.EventAction == "" {
		keyField, titleField = "incident_key", "description"
	}
	key := source.Clean(string(cmp.Or(b.DedupKey, b.IncidentKey)))
	title := strings.TrimSpace(source.Clean(string(cmp.Or(b.Payload.Summary, b.Description))))
	switch {
	case key == "" && resolve:
		return e, fault.Invalid(keyField, "is required to resolve: it names the alert that is over")
	case utf8.RuneCountInString(key) > event.MaxAlertKey:
		return e, fault.Invalid(keyField, "must be at most %d characters, got %d", event.MaxAlertKey, utf8.RuneCountInString(key))
	case title == "" && !resolve:
		return e, fault.Invalid(titleField, "is required")
	}
	if key == "" {
		key = event.KeyOf(nil, "pagerduty", title, string(b.Payload.Source))
	}
	title = cmp.Or(title, key)
	short := event.Cut(title, event.MaxTitle)
	e = event.Event{
		AlertKey:    key,
		TitleRule:   short,
		Title:       short,
		Description: event.Cut(b.describe(title), event.MaxDescription),
		Status:      b.severity(resolve),
		Labels:      b.labels(),
		Images:      source.Images(b.Images),
		GroupKey:    source.GroupKey(string(b.Payload.Group)),
		Time:        b.time(at),
	}
	e.Severity = e.Status
	if resolve {
		e.Status = event.Ok
	}
	return e, nil
}

// severity returns the event's severity. An event of version 1, which has none, is Critical, because version 1
// was made for paging. A resolve carries none and is Info.
func (b *body) severity(resolve bool) string {
	severity, known := source.Severity(string(b.Payload.Severity), severities)
	switch {
	case known:
		return severity
	case resolve:
		return event.Info
	case b.Payload.Severity != "":
		return event.Warning
	}
	return event.Critical
}

// describe returns what has no field of its own: a title over the bound, details that are a string, links.
func (b *body) describe(title string) string {
	var lines []string
	if utf8.RuneCountInString(title) > event.MaxTitle {
		lines = append(lines, title)
	}
	for _, details := range []jsontext.Value{b.Payload.CustomDetails, b.Details} {
		var text string
		if details.Kind() == '"' && source.Read(details, &text) == nil {
			lines = append(lines, text)
		}
	}
	for _, l := range b.Links {
		if source.IsURL(l.Href) {
			lines = append(lines, strings.TrimSpace(l.Text+" "+l.Href))
		}
	}
	return source.Clean(strings.Join(lines, "\n"))
}

func (b *body) labels() map[string]string {
	p, details := b.Payload, map[string]string{}
	source.Flat(p.CustomDetails, details)
	source.Flat(b.Details, details)
	return source.Labels(source.NonEmpty(map[string]string{
		"source":     string(p.Source),
		"component":  string(p.Component),
		"group":      string(p.Group),
		"class":      string(p.Class),
		"client":     string(b.Client),
		"client_url": string(b.ClientURL),
	}), details)
}

func (b *body) time(came time.Time) int64 { return source.At(moment(b.Payload.Timestamp), came) }

// moment returns the time that a text states, or the zero time.
func moment(text string) time.Time {
	when, err := time.Parse(time.RFC3339, text)
	if err != nil { // many clients write the offset without a colon
		when, _ = time.Parse("2006-01-02T15:04:05-0700", text)
	}
	return when
}
