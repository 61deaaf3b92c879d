// Package change reads change events: a change of a system was planned, begun or done.
//
// It must never guess: a member that is not as documented in docs/sources.md is refused by name.
package change

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/event"
	"tocsin/internal/platform/fault"
	"tocsin/internal/source"
)

// Event is the state of a change at one moment, as its sender reported it.
type Event struct {
	Title       string            `json:"title"`
	Description string            `json:"description,omitzero"`
	Key         string            `json:"change_key"`
	Status      string            `json:"change_status"`
	Link        string            `json:"link"`
	Time        int64             `json:"event_time"` // Unix seconds
	Labels      map[string]string `json:"labels"`
}

// Statuses are the statuses of a change, in the order in which a change passes through them.
var Statuses = []string{"Planned", "Ready", "Processing", "Canceled", "Done"}

// MaxLink is the bound of a link, in characters.
const MaxLink = 1024

// Over reports whether a status ends a change.
func Over(status string) bool { return status == "Canceled" || status == "Done" }

// Parse returns the event of a body that came at a moment. The error is a fault that names the member.
func Parse(body []byte, at time.Time) (e Event, err error) {
	if err := json.Unmarshal(body, &e); err != nil {
		return e, source.Unreadable(err)
	}
	e.Title = source.Clean(e.Title)
	e.Key = source.Clean(e.Key)
	e.Link = source.Clean(e.Link)
	e.Description = event.Cut(source.Clean(e.Description), event.MaxDescription)
	status := ""
	for _, known := range Statuses {
		if strings.EqualFold(known, e.Status) {
			status = known
		}
	}
	switch {
	case strings.TrimSpace(e.Title) == "":
		return e, fault.Invalid("title", "is required")
	case status == "":
		return e, fault.Invalid("change_status", "must be Planned, Ready, Processing, Canceled or Done, got %.60q", e.Status)
	case e.Key == "" || utf8.RuneCountInString(e.Key) > event.MaxAlertKey:
		return e, fault.Invalid("change_key", "must have 1 to %d characters, got %d", event.MaxAlertKey, utf8.RuneCountInString(e.Key))
	case e.Link != "" && (!source.IsURL(e.Link) || utf8.RuneCountInString(e.Link) > MaxLink):
		return e, fault.Invalid("link", "must be an http or https URL of at most %d characters, got %.300q", MaxLink, e.Link)
	case len(e.Labels) > event.MaxLabels:
		return e, fault.Invalid("labels", "must be at most %d, got %d", event.MaxLabels, len(e.Labels))
	}
	e.Status = status
	e.Title = event.Cut(e.Title, event.MaxTitle)
	e.Labels = source.Labels(e.Labels)
	when := time.Time{}
	if e.Time > 0 {
		when = time.Unix(e.Time, 0)
	}
	e.Time = source.At(when, at)
	return e, nil
}
