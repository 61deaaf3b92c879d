// Package changeevent reads events of changes: something was planned, begun or done to a system.
//
// It must never guess: what is not as documented in docs/sources.md is refused, with the member's name.
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

// Event is what is said of a change at one moment.
type Event struct {
	Title       string            `json:"title"`
	Description string            `json:"description,omitzero"`
	Key         string            `json:"change_key"`
	Status      string            `json:"change_status"`
	Link        string            `json:"link"`
	Time        int64             `json:"event_time"` // Unix seconds
	Labels      map[string]string `json:"labels"`
}

// Statuses are those of a change, in the order in which it goes through them.
var Statuses = []string{"Planned", "Ready", "Processing", "Canceled", "Done"}

// maxLink is the bound of a link, in characters.
const maxLink = 1024

// Over tells whether a change ends with a status.
func Over(status string) bool { return status == "Canceled" || status == "Done" }

// Parse reads a body.
func Parse(body []byte, at time.Time) (e Event, err error) {
	if err := json.Unmarshal(body, &e); err != nil {
		return e, source.Unreadable(err)
	}
	e.Title, e.Key, e.Description, e.Link = source.Clean(e.Title), source.Clean(e.Key), event.Cut(source.Clean(e.Description), event.MaxDescription), source.Clean(e.Link)
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
	case e.Link != "" && (!source.IsURL(e.Link) || utf8.RuneCountInString(e.Link) > maxLink):
		return e, fault.Invalid("link", "must be an http or https URL of at most %d characters, got %.300q", maxLink, e.Link)
	case len(e.Labels) > event.MaxLabels:
		return e, fault.Invalid("labels", "must be at most %d, got %d", event.MaxLabels, len(e.Labels))
	}
	e.Status, e.Title, e.Labels = status, event.Cut(e.Title, event.MaxTitle), source.Labels(e.Labels)
	when := time.Time{}
	if e.Time > 0 {
		when = time.Unix(e.Time, 0)
	}
	e.Time = source.At(when, at)
	return e, nil
}
