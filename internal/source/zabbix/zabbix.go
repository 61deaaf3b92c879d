// Package zabbix reads what a webhook media type of Zabbix 3 to 7 sends, with the members that are named in
// docs/sources.md. Zabbix writes numbers as strings and tags in several forms; all are accepted.
//
// It must never treat a problem as recovered unless a member states it.
package zabbix

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/core/event"
	"tocsin/internal/platform/fault"
	"tocsin/internal/source"
)

// severities is the table of docs/sources.md. It has the numbers too, because the names can be changed in Zabbix.
var severities = map[string]string{
	"disaster":       event.Critical,
	"high":           event.Critical,
	"average":        event.Warning,
	"warning":        event.Warning,
	"information":    event.Info,
	"not classified": event.Info,

	"5": event.Critical,
	"4": event.Critical,
	"3": event.Warning,
	"2": event.Warning,
	"1": event.Info,
	"0": event.Info,
}

// Parse returns the event of a body. The error is a fault that names the member.
func Parse(r source.Request) (out source.Batch, err error) {
	var members map[string]jsontext.Value
	if err := source.Read(r.Body, &members); err != nil {
		return out, source.Unreadable(err)
	}
	f := fields{}
	f.collect("", members)
	e, err := f.event(r.At)
	if err == nil {
		out.Events = []event.Event{e}
	}
	return out, err
}

func (f fields) event(at time.Time) (e event.Event, err error) {
	name := f.text("eventname", "triggername", "name", "subject", "alertsubject")
	if name == "" {
		return e, fault.Invalid("event_name", "is required, or trigger_name or subject")
	}
	over, err := f.over()
	if err != nil {
		return e, err
	}
	labels := f.labels()
	rule := name
	if labels["host"] != "" {
		rule = "$host::" + name
	}
	rule = event.Cut(rule, event.MaxTitle)
	severity := f.severity()
	e = event.Event{
		AlertKey:    f.key(name, labels["host"]),
		TitleRule:   rule,
		Title:       source.Title(rule, labels),
		Description: event.Cut(f.text("message", "alertmessage", "eventopdata", "opdata"), event.MaxDescription),
		Status:      severity,
		Severity:    severity,
		Labels:      labels,
		Time:        f.time(over, at),
	}
	if over {
		e.Status = event.Ok
	}
	return e, nil
}

// over reports whether the problem is over, from the first member that states it.
func (f fields) over() (bool, error) {
	status, value := f.text("eventstatus", "triggerstatus", "status"), f.text("eventvalue", "triggervalue", "value")
	for _, word := range []string{status, value} {
		switch strings.ToUpper(word) {
		case "PROBLEM", "1":
			return false, nil
		case "RESOLVED", "OK", "0":
			return true, nil
		}
	}
	return false, fault.Invalid("event_status", "must be PROBLEM or RESOLVED, or event_value 1 or 0, got %.60q and %.60q", status, value)
}

// severity returns the severity by its number, else by its name, else Warning.
func (f fields) severity() string {
	number := f.text("eventnseverity", "triggernseverity", "nseverity")
	name := f.text("eventseverity", "triggerseverity", "severity")
	for _, word := range []string{number, name} {
		if severity, ok := source.Severity(word, severities); ok {
			return severity
		}
	}
	return event.Warning
}

// key returns the alert key. It is made of the trigger, so that a problem that comes and goes stays one alert. A
// problem and its recovery hold the same IDs.
func (f fields) key(name, host string) string {
	if trigger := f.text("triggerid"); trigger != "" {
		return event.KeyOf(nil, "zabbix trigger", trigger)
	}
	if problem := f.text("eventid"); problem != "" {
		return event.KeyOf(nil, "zabbix event", problem)
	}
	return event.KeyOf(nil, "zabbix", name, host)
}

// labels returns the labels. A tag must never replace a value of Zabbix itself.
func (f fields) labels() map[string]string {
	return source.Labels(source.NonEmpty(map[string]string{
		"host":       f.text("hostname", "host", "hosthost"),
		"host_ip":    f.text("hostip", "hostconn"),
		"item":       f.text("itemname", "item"),
		"item_value": f.text("itemvalue", "itemlastvalue"),
		"event_id":   f.text("eventid"),
		"trigger_id": f.text("triggerid"),
		"url":        f.text("url", "eventurl", "triggerurl", "alerturl", "zabbixurl"),
	}), f.tags())
}

// time returns the Unix seconds of the event. A recovery has its own timestamp; that of its event is when the
// problem began.
func (f fields) time(over bool, came time.Time) int64 {
	stamp := f.text("eventtimestamp", "timestamp")
	if over {
		stamp = f.text("eventrecoverytimestamp", "recoverytimestamp")
	}
	seconds, _ := source.Text(stamp).Number()
	return source.At(time.Unix(max(seconds, 0), 0), came)
}
