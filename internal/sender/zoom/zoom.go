// Package zoom sends messages in Zoom Team Chat, through the Incoming Webhook app.
//
// It must never write markup: the text is plain.
package zoom

import (
	"context"
	"net/http"
	"net/url"

	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

const (
	maxHead = 200  // characters
	maxText = 4000 // characters
)

type message struct {
	Head head   `json:"head"`
	Body []part `json:"body"`
}

type head struct {
	Text string `json:"text"`
}

type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Send sends to a connection: the token is its name or its endpoint. VerifyToken is its verification token.
func Send(ctx context.Context, out *egress.Client, chat sender.Chat, m sender.Message) (sender.Receipt, error) {
	body := message{head{sender.Line(m.Subject, maxHead)}, []part{{"message", sender.Fit(m.Text, maxText, sender.UTF16)}}}
	call := sender.Call{
		URL:    sender.With(chat.Address("https://integrations.zoom.us/chat/webhooks/incomingwebhook/"), url.Values{"format": {"full"}}),
		Header: http.Header{"Authorization": {chat.VerifyToken}}, Body: body, Secrets: chat.Secrets(),
	}
	return call.Do(ctx, out, nil)
}
