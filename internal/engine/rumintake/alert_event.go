package rumintake

import (
	"fmt"
	"slices"
	"strings"

	"tocsin/internal/core/event"
	"tocsin/internal/core/rumerror"
	"tocsin/internal/core/stack"
)

// maxMessage is how much of the message of an error an alert has, in characters.
const maxMessage = 500

// event returns the event of an issue. Its texts come from a browser.
func (r *Service) event(n *news, severity string) event.Event {
	issue, e := n.issue, n.alerted
	message := event.Cut(rumerror.Scrub(e.Title()), maxMessage)
	page := rumerror.Scrub(withoutQuery(e.URL))
	title := event.Cut(fmt.Sprintf("%s: %s", issue.ApplicationName, n.title), event.MaxTitle)
	labels := map[string]string{
		"source": "rum", "application": issue.ApplicationName, "application_id": issue.ApplicationID, "issue_id": issue.IssueID,
		"view_url": page, "error_message": message, "suspected_cause": issue.SuspectedCause.Value,
	}
	for name, value := range map[string]string{
		"service": issue.Service, "env": e.Env, "version": e.Version, "error_type": issue.Error.Type, "browser_name": e.Browser.Name,
	} {
		labels[name] = rumerror.Scrub(value)
	}
	var text []string
	if n.other {
		text = append(text, "Errors of kinds beyond the bounds of new issues count here. The last one:")
	}
	text = append(text, message)
	if place := placeOf(e); place != "" {
		text = append(text, "In "+rumerror.Scrub(place))
	}
	text = append(text, fmt.Sprintf("%s in %s.", number(issue.ErrorCount, "error"), number(issue.SessionCount, "session")))
	if back := issue.Regression; back != nil {
		labels["regression"] = "true"
		in := ""
		if back.RegressedAtVersion != "" {
			in = " in version " + back.RegressedAtVersion
		}
		text = append(text, "It was resolved and has come back"+in+".")
	}
	if page != "" {
		text = append(text, "Page: "+page)
	}
	if r.PublicURL != "" {
		text = append(text, strings.TrimSuffix(r.PublicURL, "/")+"/rum/issues/"+issue.IssueID)
	}
	for name, value := range labels {
		if value == "" {
			delete(labels, name)
		}
	}
	return event.Event{
		AlertKey: issue.IssueID, TitleRule: title, Title: title, Description: event.Cut(strings.Join(text, "\n"), event.MaxDescription),
		Status: severity, Severity: severity, Labels: labels, Time: n.now.Unix(),
	}
}

// shared returns the event of the alert that the issues of a group share, from the event of one issue.
func shared(e event.Event, g *alertGroup) event.Event {
	e.AlertKey = g.key
	e.Status = g.severity
	e.Severity = g.severity
	e.TitleRule = e.GroupTitle
	e.Title = e.GroupTitle
	e.Description = e.GroupText
	e.Labels = map[string]string{
		"source": "rum", "application": e.Labels["application"], "application_id": g.application, "issues": fmt.Sprint(g.issues),
	}
	return e
}

// withoutQuery returns an address without its query and fragment: they may hold secrets, and alerts go to chats.
func withoutQuery(address string) string {
	address, _, _ = strings.Cut(address, "?")
	address, _, _ = strings.Cut(address, "#")
	return address
}

// placeOf returns where an error was thrown: the innermost frame of the application with its function. The place is empty if
// the error has no stack.
func placeOf(e *rumerror.Error) string {
	if len(e.Frames) == 0 {
		return ""
	}
	at := max(0, slices.IndexFunc(e.Frames, func(f stack.Frame) bool { return !f.Library() }))
	f := e.Frames[at]
	place := withoutQuery(f.File)
	if f.Line > 0 {
		place += fmt.Sprintf(":%d:%d", f.Line, f.Column)
	}
	return strings.TrimPrefix(f.Function+", "+place, ", ")
}
