// Package sentry reads the webhooks of Sentry: issue alerts (event_alert) and changes of issues.
//
// It must never treat an ignored issue as resolved.
package sentry

import (
	"cmp"
	"strings"
	"time"

	"tocsin/internal/core/event"
	"tocsin/internal/platform/fault"
	"tocsin/internal/source"
)

type body struct {
	Action string `json:"action"` // triggered, created, resolved, unresolved, assigned, ignored, archived
	Data   struct {
		Issue *issue `json:"issue"`
		Event *alert `json:"event"`
		Rule  string `json:"triggered_rule"`
	} `json:"data"`
}

type issue struct {
	ID      source.Text `json:"id"`
	ShortID string      `json:"shortId"`
	Title   string      `json:"title"`
	Culprit string      `json:"culprit"`
	Level   string      `json:"level"`
	Status  string      `json:"status"`
	URL     string      `json:"web_url"`
	Project struct {
		Slug string `json:"slug"`
	} `json:"project"`
}

type alert struct {
	EventID     string      `json:"event_id"`
	IssueID     source.Text `json:"issue_id"`
	Title       string      `json:"title"`
	Message     string      `json:"message"`
	Culprit     string      `json:"culprit"`
	Level       string      `json:"level"`
	Environment string      `json:"environment"`
	Release     source.Text `json:"release"`
	URL         string      `json:"web_url"`
	Tags        source.Tags `json:"tags"`
	Project     source.Text `json:"project"`
	Datetime    string      `json:"datetime"`
}

// levels is the table of docs/sources.md.
var levels = map[string]string{
	"fatal":   event.Critical,
	"error":   event.Critical,
	"warning": event.Warning,
	"info":    event.Info,
	"debug":   event.Info,
}

// Parse returns the event of a body, or none where the issue neither begins nor ends. The
// error is a fault that names the member.
func Parse(r source.Request) (out source.Batch, err error) {
	var b body
	if err := source.Read(r.Body, &b); err != nil {
		return out, source.Unreadable(err)
	}
	var e event.Event
	switch {
	case b.Data.Event != nil:
		e, err = b.ofAlert(r.At)
	case b.Data.Issue != nil:
		if b.Action != "created" && b.Action != "resolved" && b.Action != "unresolved" {
			return out, nil // assigned, ignored and the like are for people
		}
		e, err = b.ofIssue(r.At)
	default:
		return out, fault.Invalid("data", "must hold an event or an issue")
	}
	if err == nil {
		out.Events = []event.Event{e}
	}
	return out, err
}

func (b *body) ofAlert(at time.Time) (event.Event, error) {
	a := b.Data.Event
	labels := source.Labels(source.NonEmpty(map[string]string{
		"culprit":     a.Culprit,
		"environment": a.Environment,
		"release":     string(a.Release),
		"project":     string(a.Project),
		"url":         a.URL,
		"rule":        b.Data.Rule,
	}), a.Tags)
	when, _ := time.Parse(time.RFC3339, a.Datetime)
	return newEvent("data.event", string(a.IssueID), cmp.Or(a.Title, a.Message), a.Message, a.Level, labels, source.At(when, at))
}

func (b *body) ofIssue(at time.Time) (event.Event, error) {
	i := b.Data.Issue
	labels := source.Labels(source.NonEmpty(map[string]string{
		"culprit":  i.Culprit,
		"project":  i.Project.Slug,
		"url":      i.URL,
		"short_id": i.ShortID,
	}))
	e, err := newEvent("data.issue", string(i.ID), i.Title, i.Culprit, i.Level, labels, at.Unix())
	if b.Action == "resolved" {
		e.Status = event.Ok
	}
	return e, err
}

// newEvent returns an event whose alert key is made of the issue's ID, so that a change of an issue applies to the
// alert of its events. where is the path of the object, for faults.
func newEvent(where, id, title, description, level string, labels map[string]string, when int64) (e event.Event, err error) {
	title = event.Cut(strings.TrimSpace(source.Clean(title)), event.MaxTitle)
	switch {
	case title == "":
		return e, fault.Invalid(where+".title", "is required")
	case id == "" && where == "data.issue":
		return e, fault.Invalid(where+".id", "is required: it identifies the issue")
	case id == "":
		id = title
	}
	severity, ok := source.Severity(level, levels)
	if !ok {
		severity = event.Warning
	}
	return event.Event{
		AlertKey:    event.KeyOf(nil, "sentry", id),
		TitleRule:   title,
		Title:       title,
		Description: event.Cut(source.Clean(description), event.MaxDescription),
		Status:      severity,
		Severity:    severity,
		Labels:      labels,
		Time:        when,
	}, nil
}
