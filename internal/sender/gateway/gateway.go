// Package gateway passes voice calls and text messages to the deployment's own gateway: any program that accepts an
// HTTP request and calls or texts a person.
//
// It must never depend on a vendor: the gateway is one request, documented in docs/senders.md.
package gateway

import (
	"context"
	"net/http"
	"slices"

	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

// Gateway is the address of the gateway.
type Gateway struct {
	URL      string
	Token    string      // sent as bearer token when it is not empty
	Header   http.Header // sent besides, such as a key in a header of its own; its values are secrets
	Insecure bool        // accept any certificate
}

type request struct {
	Kind     string `json:"kind"` // voice or sms
	To       string `json:"to"`
	Text     string `json:"text"`
	Key      string `json:"key"` // the same for every attempt
	Severity string `json:"severity"`
	AckLink  string `json:"ack_link,omitzero"`
	Callback string `json:"callback,omitzero"` // URL to post digits and delivery states to
	Digits   string `json:"digits,omitzero"`   // those that have an effect
	Test     bool   `json:"test,omitzero"`
}

// maxText is the highest number of characters of a text: two or three text messages.
const maxText = 480

// Send passes on a voice call or a text message (kind voice or sms) to a phone number.
func (g Gateway) Send(ctx context.Context, out *egress.Client, kind, to string, m sender.Message) (sender.Receipt, error) {
	body := request{
		Kind: kind, To: to, Text: sender.Cut(string(m.Text), maxText), Key: m.Key, Severity: m.Severity, AckLink: m.AckLink,
		Digits: m.Phone.Digits(), Test: m.Test,
	}
	call := sender.Call{
		URL: g.URL, Header: http.Header{"Idempotency-Key": {m.Key}}, Insecure: g.Insecure, Secrets: []string{g.URL, g.Token},
	}
	if m.Phone != nil {
		body.Callback = m.Phone.Callback
		call.Secrets = append(call.Secrets, m.Phone.Callback)
	}
	call.Body = body
	for name, values := range g.Header {
		call.Header[http.CanonicalHeaderKey(name)] = values
		call.Secrets = slices.Concat(call.Secrets, values)
	}
	if g.Token != "" {
		call.Header.Set("Authorization", "Bearer "+g.Token)
	}
	return call.Do(ctx, out, nil)
}
