// Package teams sends messages in Microsoft Teams, through a workflow that a web request starts and that posts the
// adaptive card of the request.
//
// It must never guess an address: every workflow has a whole URL of its own.
package teams

import (
	"context"

	"tocsin/internal/core/render"
	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

// maxText is the highest number of bytes of a text in JSON: a message may have 28 KB in all.
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

// block is a line of text runs, in which Teams reads no Markdown.
type block struct {
	Type    string `json:"type"`
	Inlines []run  `json:"inlines"`
}

type run struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Weight string `json:"weight,omitzero"`
	Action *open  `json:"selectAction,omitzero"`
}

type open struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// Send sends a card with the text to a workflow.
func Send(ctx context.Context, out *egress.Client, chat sender.Chat, m sender.Message) (sender.Receipt, error) {
	c := card{
		Schema: "http://adaptivecards.io/schemas/adaptive-card.json", Type: "AdaptiveCard", Version: "1.4",
		Body: blocks(render.Markup(sender.Fit(m.Text, maxText, cost))), Teams: map[string]string{"width": "Full"},
	}
	body := message{"message", []attachment{{"application/vnd.microsoft.card.adaptive", c}}}
	return sender.Call{URL: chat.Address(""), Body: body, Secrets: chat.Secrets()}.Do(ctx, out, nil)
}

func blocks(text render.Markup) []block {
	all := []block{}
	for _, line := range render.Spans(text) {
		b := block{"RichTextBlock", []run{}}
		for _, span := range line {
			r := run{Type: "TextRun", Text: span.Text}
			switch {
			case span.URL != "":
				r.Action = &open{"Action.OpenUrl", span.URL}
			case span.Strong:
				r.Weight = "Bolder"
			}
			b.Inlines = append(b.Inlines, r)
		}
		if len(b.Inlines) > 0 {
			all = append(all, b)
		}
	}
	return all
}

// cost returns the highest number of bytes of a character in JSON, with the elements that it may begin.
func cost(r rune) int {
	switch r {
	case '\n':
		return 70
	case '*':
		return 48
	case '[':
		return 128
	}
	return sender.JSON(r)
}
