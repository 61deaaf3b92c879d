// Package sender holds what all senders share: the message, its receipt, and whether a failed attempt may be
// retried. Each service has a package below it.
//
// A sender must never keep state: when to send, how often to retry and whom to notify is decided elsewhere.
package sender

import (
	"context"
	"time"

	"tocsin/internal/core/render"
	"tocsin/internal/platform/egress"
)

// Message is the content of a notification, rendered for its method.
type Message struct {
	Key      string // the same for every attempt, so that receivers can drop duplicates
	Thread   string // shared by all messages about the same incident
	Subject  string // one line of plain text, which a sender escapes where the service reads markup
	Text     render.Markup
	HTML     render.Markup // empty: there is only text
	Severity string        // Critical, Warning, Info or Ok
	Event    string        // the domain event, such as i_new
	Title    string
	Link     string // to the incident; may be empty
	AckLink  string // acknowledges it; may be empty
	Test     bool   // a drill
	Data     []byte // the incident as JSON, for programs
}

// Receipt is the service's reply to one attempt.
type Receipt struct {
	Status int    // HTTP status; 0 where there is none
	Reply  string // at most 1,000 characters
	ID     string // the message's ID at the service; empty if it returns none
}

// Error is a failed attempt. It never holds a secret.
type Error struct {
	Retry   bool          // a retry may succeed
	After   time.Duration // the shortest pause before a retry; 0: the service asked for none
	Message string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Chat is the address of a chat as schedules and escalation rules store it. Token is a token or a whole URL.
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
