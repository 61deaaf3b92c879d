// Package discord tells people in Discord, through a webhook of a channel.
//
// It must never mention anybody: what an alert's title says is not for it to call people with.
package discord

import (
	"context"
	"net/url"
	"time"

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

// reply has the message's id, or how many seconds to wait before the next.
type reply struct {
	ID         string  `json:"id"`
	RetryAfter float64 `json:"retry_after"`
}

func (r *reply) Err() *sender.Error {
	if r.RetryAfter <= 0 {
		return nil
	}
	after := time.Duration(min(r.RetryAfter, 3600) * float64(time.Second))
	return &sender.Error{Retry: true, After: after, Message: "it asked to wait"}
}

// Send posts to a channel's webhook and waits until the message is stored. Links get no preview, so that
// Discord does not fetch them.
func Send(ctx context.Context, out *egress.Client, chat sender.Chat, m sender.Message) (sender.Receipt, error) {
	body := message{sender.Fit(m.Text, maxText, sender.UTF16), mentions{[]string{}}, suppressEmbeds}
	address := sender.With(chat.Address("https://discord.com/api/webhooks/"), url.Values{"wait": {"true"}})
	var r reply
	receipt, err := sender.Call{URL: address, Body: body, Secrets: chat.Secrets()}.Do(ctx, out, &r)
	receipt.ID = r.ID
	return receipt, err
}
