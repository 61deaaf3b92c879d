// Package ntfy publishes to a topic of ntfy, at ntfy.sh or at the deployment's own server.
//
// It must never put text of people into a header without encoding it.
package ntfy

import (
	"context"
	"mime"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

const (
	maxText  = 4096 // bytes; ntfy makes an attachment of a longer text
	maxTitle = 250  // characters
)

// priority is ntfy's priority, 1 to 5, for each severity; without one ntfy uses 3.
var priority = map[string]string{"Critical": "5", "Warning": "4", "Info": "3", "Ok": "2"}

type action struct {
	Action string `json:"action"`
	Label  string `json:"label"`
	URL    string `json:"url"`
	Clear  bool   `json:"clear"` // the notification is cleared when it is tapped
}

type reply struct {
	ID string `json:"id"`
}

// Err returns nil: ntfy reports failures by the HTTP status.
func (r *reply) Err() *sender.Error { return nil }

// Send publishes to a topic: the token is its name or its URL. VerifyToken, if set, is the access token.
func Send(ctx context.Context, out *egress.Client, chat sender.Chat, m sender.Message) (sender.Receipt, error) {
	var r reply
	header, err := header(chat, m)
	if err != nil {
		return sender.Receipt{}, &sender.Error{Message: sentence.Raw(err.Error())}
	}
	request := egress.Request{URL: chat.Address("https://ntfy.sh/"), Header: header, Body: []byte(sender.Fit(m.Text, maxText, sender.Bytes))}
	receipt, err := sender.Judge(&r, chat.Secrets())(out.Do(ctx, request))
	receipt.ID = r.ID
	return receipt, err
}

func header(chat sender.Chat, m sender.Message) (http.Header, error) {
	h := http.Header{
		"Content-Type": {"text/plain; charset=utf-8"}, "Priority": {"3"},
		"Title": {mime.BEncoding.Encode("utf-8", sender.Line(m.Subject, maxTitle))},
	}
	if p := priority[m.Severity]; p != "" {
		h["Priority"] = []string{p}
	}
	tags := []string{}
	for _, tag := range []string{strings.ToLower(m.Severity), m.Event} {
		if tag != "" {
			tags = append(tags, tag)
		}
	}
	if m.Test {
		tags = append(tags, "drill")
	}
	h["Tags"] = []string{mime.BEncoding.Encode("utf-8", strings.Join(tags, ","))}
	actions := []action{}
	if m.Link != "" {
		actions = append(actions, action{"view", "Open", m.Link, false})
	}
	if m.AckLink != "" {
		word := "Acknowledge"
		if m.Asks {
			word = "Answer"
		}
		actions = append(actions, action{"view", word, m.AckLink, true})
	}
	if len(actions) > 0 {
		b, err := json.Marshal(actions)
		if err != nil {
			return nil, err
		}
		h["Actions"] = []string{string(b)}
	}
	if chat.VerifyToken != "" {
		h["Authorization"] = []string{"Bearer " + chat.VerifyToken}
	}
	return h, nil
}
