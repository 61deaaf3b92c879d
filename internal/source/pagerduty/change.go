package pagerduty

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"tocsin/internal/core/event"
	"tocsin/internal/platform/fault"
	"tocsin/internal/source"
	"tocsin/internal/source/change"
)

// ParseChange returns the change of a change event that came at a moment. PagerDuty has neither keys nor statuses of
// changes: each is done, and one of its own unless all its members are those of another. The error is a fault that names the
// member.
func ParseChange(text []byte, at time.Time) (change.Event, error) {
	var b body
	if err := source.Read(text, &b); err != nil {
		return change.Event{}, source.Unreadable(err)
	}
	title := strings.TrimSpace(source.Clean(string(b.Payload.Summary)))
	if title == "" {
		return change.Event{}, fault.Invalid("payload.summary", "is required")
	}
	labels := b.labels()
	e := change.Event{
		Title:  event.Cut(title, event.MaxTitle),
		Status: "Done",
		Labels: labels,
		Time:   b.time(at),
	}
	e.Key = event.KeyOf(labels, "pagerduty change", title, strconv.FormatInt(e.Time, 10))
	for i, l := range b.Links {
		if source.IsURL(l.Href) && utf8.RuneCountInString(l.Href) <= change.MaxLink {
			e.Link = l.Href
			b.Links = append(b.Links[:i:i], b.Links[i+1:]...) // the others are in the description
			break
		}
	}
	e.Description = event.Cut(b.describe(title), event.MaxDescription)
	return e, nil
}
