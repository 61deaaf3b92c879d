// Package teams tells people in Microsoft Teams, through a workflow that is started by a web request and posts
// the adaptive card it is given.
//
// It must never guess an address: every workflow has a whole URL of its own.
package teams

import (
	"context"
	"strings"

	"tocsin/internal/outbound"
	"tocsin/internal/sender"
)

// maxText is how long a text may be, in bytes of JSON: a message may have 28 KB in all.
const maxText = 24_000

type message struct {
	Type        string       `json:"type"`
	Attachments []attachment `json:"attachments"`
}

type attachment struct {
	ContentType string `json:"contentType"`
	Content     card   `json:"content"`
}

type card struct {
	Schema  string            `json:"$schema"`
	Type    string            `json:"type"`
	Version string            `json:"version"`
	Body    []block           `json:"body"`
	Teams   map[string]string `json:"msteams"`
}

type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
	Wrap bool   `json:"wrap"`
}

// Send posts a card with the text to a workflow. A single line break would be none in a card, so each
// becomes a paragraph.
func Send(ctx context.Context, out *outbound.Client, chat sender.Chat, m sender.Message) (sender.Receipt, error) {
	text := sender.Fit(strings.ReplaceAll(m.Text, "\n", "\n\n"), maxText, sender.JSON)
	c := card{
		Schema: "http://adaptivecards.io/schemas/adaptive-card.json", Type: "AdaptiveCard", Version: "1.4",
		Body: []block{{"TextBlock", text, true}}, Teams: map[string]string{"width": "Full"},
	}
	body := message{"message", []attachment{{"application/vnd.microsoft.card.adaptive", c}}}
	return sender.Call{URL: chat.Address(""), Body: body, Secrets: chat.Secrets()}.Do(ctx, out, nil)
}
