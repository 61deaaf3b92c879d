// Package discord sends messages in Discord, through a webhook of a channel.
//
// It must never mention a person: a title of an alert may contain what Discord reads as a mention.
package discord

import (
	"context"
	"net/url"
	"time"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

const (
	maxText        = 2000 // characters
	suppressEmbeds = 1 << 2
)

type message struct {
	Content  string   `json:"content"`
	Mentions mentions `json:"allowed_mentions"`
	Flags    int      `json:"flags"`
}

type mentions struct {
	Parse []string `json:"parse"`
}

// reply holds the message's ID, or the seconds to wait before the next attempt.
type reply struct {
	ID         string  `json:"id"`
	RetryAfter float64 `json:"retry_after"`
}

// Err returns the error that the reply reports, or nil.
func (r *reply) Err() *sender.Error {
	if r.RetryAfter <= 0 {
		return nil
	}
	after := time.Duration(min(r.RetryAfter, 3600) * float64(time.Second))
	return &sender.Error{Retry: true, After: after, Message: sentence.New("asked_to_wait")}
}

// Send sends to a channel's webhook and waits until the message is stored. Previews of links are suppressed, so that
// Discord does not fetch them: one link acknowledges.
func Send(ctx context.Context, out *egress.Client, chat sender.Chat, m sender.Message) (sender.Receipt, error) {
	body := message{sender.Fit(m.Text, maxText, sender.UTF16), mentions{[]string{}}, suppressEmbeds}
	address := sender.With(chat.Address("https://discord.com/api/webhooks/"), url.Values{"wait": {"true"}})
	var r reply
	receipt, err := sender.Call{URL: address, Body: body, Secrets: chat.Secrets()}.Do(ctx, out, &r)
	receipt.ID = r.ID
	return receipt, err
}
