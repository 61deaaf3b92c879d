package render

import (
	"fmt"
	"slices"
	"strings"

	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
)

// Places are the labels that name where something is wrong, the most telling first.
var Places = []string{
	"host", "hostname", "instance", "node", "server", "machine", "pod", "container", "device", "resource", "database",
	"queue", "service", "cluster", "region",
}

const (
	maxHeadline = 200 // characters
	maxPlace    = 60
)

// Headline returns what is wrong, on one line: the annotation summary of an alert whose title is made of its name, which
// is written for rules and not for readers. Any other title, and one that a person set, stays.
func Headline(title string, labels map[string]string, byHand bool) string {
	name, summary := OneLine(labels["alertname"]), OneLine(labels["summary"])
	title = OneLine(title)
	if byHand || summary == "" || name == "" || !strings.HasPrefix(title, name) {
		return title
	}
	return event.Cut(summary, maxHeadline)
}

// Where returns the places of an incident's alerts for its headline, such as "web1, +49 hosts". A place that the headline
// names is left out. partial: more alerts exist than are counted, as in "+49 hosts so far".
func Where(headline string, alerts int64, partial bool, shared map[string]string, differ []Difference) string {
	name, value, more := place(shared, differ)
	var parts []string
	if value != "" && !strings.Contains(strings.ToLower(headline), strings.ToLower(value)) {
		parts = append(parts, value)
	}
	switch {
	case more > 0:
		parts = append(parts, fmt.Sprintf("+%d %s", more, plural(name, more)))
	case alerts > 1:
		parts = append(parts, fmt.Sprintf("%d alerts", alerts))
	}
	if partial && alerts > 1 {
		parts[len(parts)-1] += " so far"
	}
	return strings.Join(parts, ", ")
}

// Placed returns the headline of an incident or alert with the place of one alert in brackets: "rack1 is down (db)".
func Placed(headline string, labels map[string]string) string {
	if where := Where(headline, 1, false, labels, nil); where != "" {
		return headline + " (" + where + ")"
	}
	return headline
}

// AlertName returns what messages and the console call an alert, and an incident of this alert: what is wrong, and where.
func AlertName(title string, labels map[string]string) string {
	return Placed(Headline(title, labels, false), labels)
}

// place returns the label that names the place, one of its values, and how many other values it has. A label that differs
// is preferred to one that all alerts share.
func place(shared map[string]string, differ []Difference) (name, value string, more int) {
	for _, name := range Places {
		at := slices.IndexFunc(differ, func(d Difference) bool { return d.Name == name && d.Count > 1 })
		if at >= 0 {
			return name, event.Cut(OneLine(differ[at].Values[0]), maxPlace), differ[at].Count - 1
		}
	}
	for _, name := range Places {
		if value := OneLine(shared[name]); value != "" {
			return name, event.Cut(value, maxPlace), 0
		}
	}
	return "", "", 0
}

func plural(name string, n int) string {
	switch name = strings.TrimSuffix(name, "name"); { // hostname
	case n == 1:
		return name
	case strings.HasSuffix(name, "y"):
		return strings.TrimSuffix(name, "y") + "ies"
	}
	return name + "s"
}

// State returns the state of an incident for the beginning of a subject. The state is the severity while the incident is
// open, then Resolved. A merged incident and a message about a merge have the state Merged.
func (i Incident) State() string {
	switch {
	case i.MergedInto != "":
		return "Merged"
	case i.Progress == "Closed":
		return "Resolved"
	case i.Event == "i_merge":
		return "Merged"
	case i.Event == "i_ack":
		return "Acknowledged"
	case i.Event == "i_r_severity":
		return "Now " + i.Severity
	case i.Event == "i_flap":
		return i.Severity + ", fires again"
	case i.Event == "i_join":
		return i.Severity + ", more alerts"
	case i.Event == "i_remind":
		return i.Severity + ", still open"
	case i.Event == "i_wake":
		return i.Severity + ", snooze is over"
	case i.Reopened:
		return i.Severity + ", open again"
	}
	return i.Severity
}

// Why returns the line about the reason of the message; empty: there is none, or all messages to the chat have it.
func (i Incident) Why() string {
	switch {
	case i.Reason == "" || i.InChat && i.Reason == sentence.Of("chat_named"):
		return ""
	case i.InChat:
		return "Why here: " + i.Reason
	}
	return "Why you: " + i.Reason
}

// Subject returns the subject of a message about the incident, on one line:
// "[Critical] Error rate of checkout is 9 % (web1, +49 hosts)".
func (i Incident) Subject() string {
	text := "[" + OneLine(i.State()) + "] "
	if i.MergedFrom != "" && i.Progress != "Closed" {
		text += OneLine(i.MergedFrom) + " into "
	}
	text += i.Problem()
	if i.Test {
		text = "[Drill] " + text
	}
	return text
}

// Problem returns what is wrong and where, on one line.
func (i Incident) Problem() string {
	text := OneLine(i.Headline)
	if text == "" {
		text = OneLine(i.Title)
	}
	if where := OneLine(i.Where); where != "" {
		text += " (" + where + ")"
	}
	return text
}

// Look returns the severity that sets the message's colour and symbol; Ok when the incident is resolved. A merge is not an end.
func (i Incident) Look() string {
	if i.Progress == "Closed" && i.MergedInto == "" {
		return event.Ok
	}
	return i.Severity
}
