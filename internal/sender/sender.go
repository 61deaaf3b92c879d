// Package sender holds what all senders share: the message, its receipt, and whether a failed attempt may be
// retried. Each service has a package below it.
//
// A sender must never keep state: when to send, how often to retry and whom to notify is decided elsewhere.
package sender

import (
	"context"
	"time"

	"tocsin/internal/core/render"
	"tocsin/internal/core/sentence"
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
	Channel  string // where the incident is; empty: the message is about no incident, or several
	Why      string // why this target is notified, likewise
	Link     string // to the incident; may be empty
	AckLink  string // acknowledges the incident, or answers a question about it; may be empty
	Asks     bool   // AckLink answers: the person still works on it, is to be asked again later or never, or hands it back
	Test     bool   // a drill
	Phone    *Phone // what calls and text messages need besides; nil: nothing can be answered
	Data     []byte // the incident as JSON, for programs
}

// AckWord names the purpose of AckLink.
func (m Message) AckWord() string {
	if m.Asks {
		return "answer"
	}
	return "acknowledge"
}

// Phone holds what a telephone service needs besides the text of a message.
type Phone struct {
	Callback string // URL at which digits and delivery states are taken
	Code     string // of a reply to a text message, which names the message that is answered
	Ack      bool   // digit 4 acknowledges
	Escalate bool   // digit 6 brings the next step of the escalation
	Asks     bool   // digit 4: the person still works on it; 5: ask again later; 7: ask never again; 9: the person hands it back
}

// The digits that a person may press, or send as a text message.
const (
	DigitAck      = "4"
	DigitLater    = "5"
	DigitEscalate = "6"
	DigitNever    = "7"
	DigitRepeat   = "8"
	DigitBack     = "9"
)

// Digits returns the digits that have an effect; empty when none has.
func (p *Phone) Digits() string {
	switch {
	case p == nil || !p.Ack:
		return ""
	case p.Asks:
		return DigitAck + DigitLater + DigitNever + DigitRepeat + DigitBack
	case p.Escalate:
		return DigitAck + DigitEscalate + DigitRepeat
	}
	return DigitAck + DigitRepeat
}

// Delivery is what a service reports about a message after it took it.
type Delivery struct {
	ID     string // the message's ID at the service
	State  string // in words, such as delivered or no answer
	Stage  int    // reports come out of order: one of an earlier stage never replaces one of a later
	Failed string // why the message will not reach the person; empty: it may, or has
}

// The stages of a delivery. The last one is final.
const (
	StageQueued = iota + 1
	StageSent
	StageEnded
)

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
	Message sentence.Value
}

// Error returns the message.
func (e *Error) Error() string { return e.Message.English() }

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
