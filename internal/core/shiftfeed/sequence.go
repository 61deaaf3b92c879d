package shiftfeed

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// Event is one event of a feed.
type Event struct {
	UID                  string
	Start, End           int64 // Unix seconds
	Summary, Description string
}

// History is what a feed has sent: the number of its last change, and each event of it by a digest of the UID.
type History struct {
	Change int              `json:"change"`
	Events map[string]Known `json:"events"`
}

// Known is an event that was sent.
type Known struct {
	Digest   string `json:"d"` // of its content
	Sequence int    `json:"s"`
	At       int64  `json:"t"` // when it was new or changed, Unix seconds
}

// Next returns the history after events are sent at a moment (Unix seconds), and whether it differs. An event that is new
// or has changed gets the number of the change as its sequence number. So the sequence number of an event never goes
// down, even if the event was away for a while.
func (h History) Next(events []Event, now int64) (next History, changed bool) {
	next = History{h.Change + 1, make(map[string]Known, len(events))}
	for i := range events {
		key, digest := digest(events[i].UID), events[i].digest()
		known, found := h.Events[key]
		if !found || known.Digest != digest {
			known, changed = Known{digest, next.Change, now}, true
		}
		next.Events[key] = known
	}
	if !changed && len(next.Events) == len(h.Events) {
		return h, false
	}
	return next, true
}

// Of returns how an event was sent.
func (h History) Of(e *Event) Known { return h.Events[digest(e.UID)] }

func (e *Event) digest() string {
	return digest(fmt.Sprintf("%d\x00%d\x00%s\x00%s", e.Start, e.End, e.Summary, e.Description))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}
