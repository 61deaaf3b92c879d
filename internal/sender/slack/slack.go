// Package slack sends messages in Slack: through an incoming webhook, or as an app that can also open channels.
//
// It must never let Slack fetch the links of a message, because one of them acknowledges, nor detect links and
// mentions in it.
package slack

import (
	"context"

	"tocsin/internal/core/render"
	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

// maxText is the highest number of characters of a section's text.
const maxText = 3000

type message struct {
	Channel     string  `json:"channel,omitzero"`
	Text        string  `json:"text"` // shown in notifications
	Blocks      []block `json:"blocks"`
	UnfurlLinks bool    `json:"unfurl_links"`
	UnfurlMedia bool    `json:"unfurl_media"`
	Parse       string  `json:"parse"` // none: Slack detects no links and mentions
	LinkNames   bool    `json:"link_names"`
}

type block struct {
	Type string `json:"type"`
	Text text   `json:"text"`
}

type text struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Verbatim bool   `json:"verbatim"` // as Parse, for this text
}

func compose(channel string, m sender.Message) message {
	body := text{"mrkdwn", sender.Fit(m.Text, maxText, sender.UTF16), true}
	return message{
		Channel: channel,
		Text:    string(render.Slack.Escape(sender.Line(m.Subject, 300))),
		Blocks:  []block{{"section", body}},
		Parse:   "none",
	}
}

// Send sends to an incoming webhook. The text is in Slack's own markup (mrkdwn), as the template wrote it.
func Send(ctx context.Context, out *egress.Client, chat sender.Chat, m sender.Message) (sender.Receipt, error) {
	call := sender.Call{URL: chat.Address("https://hooks.slack.com/services/"), Body: compose("", m), Secrets: chat.Secrets()}
	return call.Do(ctx, out, nil)
}
