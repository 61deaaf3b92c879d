// Package sender is what all senders have in common: the message, what came of it, and whether trying again
// may help. There is one package below it for each service.
//
// A sender must never keep anything: when to send, how often to try and whom to tell is decided elsewhere.
package sender

import (
	"context"
	"time"

	"tocsin/internal/core/render"
	"tocsin/internal/platform/egress"
)

// Message is what somebody is told.
type Message struct {
	Key      string // the same for every attempt, so that receivers can drop duplicates
	Thread   string // what messages about the same thing have in common
	Subject  string // one line of plain text, which a sender escapes where the service reads markup
	Text     render.Markup
	HTML     render.Markup // empty: there is only text
	Severity string        // Critical, Warning, Info or Ok
	Event    string        // what happened, such as i_new
	Title    string
	Link     string // to the incident; may be empty
	AckLink  string // acknowledges it; may be empty
	Test     bool   // a drill
	Data     []byte // JSON of what it is about, for programs
}

// Receipt is what the service answered.
type Receipt struct {
	Status int    // HTTP status; 0 where there is none
	Reply  string // at most 1,000 characters
	ID     string // the message at the service; empty when it does not tell
}

// Error is a failed attempt. It never holds a secret.
type Error struct {
	Retry   bool          // trying again may help
	After   time.Duration // not before; 0: the service did not say
	Message string
}

func (e *Error) Error() string { return e.Message }

// Chat is where a chat is, as schedules and escalation rules hold it: the token is one, or a whole URL.
type Chat struct {
	Token       string
	URL         string
	Alias       string
	VerifyToken string
	SignSecret  string
	ChatIDs     []string
}

// Sender sends a message to a chat.
type Sender func(ctx context.Context, out *egress.Client, chat Chat, m Message) (Receipt, error)
