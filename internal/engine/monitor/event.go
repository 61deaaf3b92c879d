package monitor

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/core/event"
	"tocsin/internal/core/render"
	"tocsin/internal/platform/id"
)

// ownLabels is how many labels a rule adds to those of a row.
const ownLabels = 5

// labels returns the labels of the events of an instance: those of its row, of the rule, and what identifies them.
func labels(c *change) map[string]string {
	w := c.Watch
	all := map[string]string{}
	add := func(from map[string]string) {
		for _, name := range slices.Sorted(maps.Keys(from)) {
			_, has := all[name]
			if has || name != "" && len(all) < event.MaxLabels-ownLabels {
				all[event.Cut(name, event.MaxLabelKey)] = event.Cut(from[name], event.MaxLabelValue)
			}
		}
	}
	add(c.rule.Labels)
	add(c.Labels)
	all["rule_id"] = strconv.FormatUint(w.Key.Rule, 10)
	all["rule_name"] = c.rule.Name
	all["ds_name"] = w.Source.Name
	all["ds_type"] = w.Source.Type
	all["check"] = c.Check
	return all
}

// mostInTitle is how many labels a title shows.
const mostInTitle = 5

// title returns the name of a rule with the labels of an instance.
func title(rule string, labels map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if len(parts) < mostInTitle && labels[name] != "" {
			parts = append(parts, name+"="+labels[name])
		}
	}
	text := rule
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return event.Cut(render.OneLine(text), event.MaxTitle)
}

// write writes the events of a transition, one for each channel, or one for the integration's route.
func (r *Service) write(c *change, now time.Time) {
	i := &c.instance
	one := i.event(c.At, r.description(c), c.integration)
	one.Status = c.Severity
	if c.To.Ends() {
		one.Status = event.Ok
	}
	c.events = nil
	if !i.Unrouted || len(i.channels) > 0 {
		c.events = toChannels(one, i.channels, now)
	}
}

// event returns the event of an instance for the route of the integration.
func (i *instance) event(at time.Time, description string, integration int64) event.Event {
	return event.Event{
		Integration: integration, AlertKey: event.Cut(i.alertKey, event.MaxAlertKey), TitleRule: i.Title, Title: i.Title,
		Description: description,
		Severity:    i.severity, Status: i.severity, Labels: i.Event, Identifying: event.Identifying(i.Labels),
		GroupKey: "monit/" + strconv.FormatUint(i.key.Rule, 10), Time: at.Unix(),
	}
}

// toChannels returns the event for each channel; without channels the event itself.
func toChannels(one event.Event, channels []int64, now time.Time) (events []event.Event) {
	one.ID = id.Object(now)
	if len(channels) == 0 {
		return []event.Event{one}
	}
	for _, ch := range channels {
		e := one
		e.ID, e.OwnChannel = id.Object(now), ch
		events = append(events, e)
	}
	return events
}

// description returns the description of a transition: why, then the template of the rule.
func (r *Service) description(c *change) string {
	var why []string
	for i := range c.Why {
		why = append(why, c.Why[i].English())
	}
	parts := []string{}
	if len(why) > 0 {
		parts = append(parts, strings.Join(why, "; ")+".")
	}
	if c.rule.Description != "" {
		text, err := c.rendered()
		if err != nil {
			text = "The description of the rule cannot be filled in: " + err.Error()
		}
		parts = append(parts, text)
	}
	if r.PublicURL != "" {
		parts = append(parts, strings.TrimSuffix(r.PublicURL, "/")+"/rules/"+strconv.FormatUint(c.Watch.Key.Rule, 10))
	}
	return event.Cut(strings.Join(parts, "\n"), event.MaxDescription)
}

// variables are the variables of the public templates of rules.
const variables = `{{$labels := .Labels}}{{$severity := .Severity}}{{$status := .Event}}{{$value := .Fields.value}}` +
	`{{$values := .Fields.values}}{{$annotations := .Fields.annotations}}{{$relates := .Fields.relates}}` +
	`{{$dsName := .Fields.ds_name}}{{$dsType := .Fields.ds_type}}` +
	`{{$checkMode := .Fields.check}}{{$appendLabels := .Fields.append_labels}}`

// rendered fills in the template of the rule.
func (c *change) rendered() (string, error) {
	t, err := render.Parse(variables+c.rule.Description, render.Plain)
	if err != nil {
		return "", err
	}
	status := "firing"
	if c.To.Ends() {
		status = "recovered"
	}
	text, err := t.Render(render.Incident{
		Title: c.instance.Title, Severity: c.Severity, Event: status, Labels: c.instance.Event, Now: c.At.Unix(), TimeZone: c.rule.Timezone,
		Fields: c.fields(),
	})
	return strings.TrimSpace(string(text)), err
}

// fields returns what a template reads of a transition besides the labels.
func (c *change) fields() map[string]any {
	values := map[string]any{}
	annotations := map[string]any{}
	relates := map[string]any{}
	for name, text := range c.rule.Annotations {
		annotations[name] = text
	}
	for _, a := range c.Rows {
		for _, row := range a.Rows {
			for _, v := range row.Values {
				values[strings.TrimSuffix(a.Query+"."+v.Field, ".")] = number(v.Number)
			}
			for field, text := range row.Fields {
				annotations["$"+a.Query+"."+field] = text
			}
		}
	}
	for _, a := range c.Related[c.Check+"/"+c.Key] {
		relates[a.Query] = related(a)
	}
	extra := map[string]any{}
	for name, text := range c.rule.Labels {
		extra[name] = text
	}
	f := map[string]any{
		"values": values, "annotations": annotations, "relates": relates, "append_labels": extra, "value": "",
		"ds_name": c.Watch.Source.Name, "ds_type": c.Watch.Source.Type, "check": c.Check,
	}
	if c.Value != nil {
		f["value"] = number(*c.Value)
	}
	return f
}

// mostRelated is how many rows of a related query a description can show.
const mostRelated = 100

// related returns the rows of an answer as texts.
func related(a evaluate.Answer) []any {
	if a.Failed != nil {
		return []any{"no answer: " + a.Failed.Message}
	}
	rows := []any{}
	for _, row := range a.Rows[:min(len(a.Rows), mostRelated)] {
		parts := []string{}
		for _, from := range []map[string]string{row.Labels, row.Fields} {
			for _, name := range slices.Sorted(maps.Keys(from)) {
				parts = append(parts, name+"="+from[name])
			}
		}
		byField := func(a, b evaluate.Value) int { return strings.Compare(a.Field, b.Field) }
		for _, v := range slices.SortedFunc(slices.Values(row.Values), byField) {
			parts = append(parts, strings.TrimPrefix(fmt.Sprintf("%s=%s", v.Field, number(v.Number)), "="))
		}
		rows = append(rows, strings.Join(parts, ", "))
	}
	return rows
}

// number returns a value as a text of a few digits.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
