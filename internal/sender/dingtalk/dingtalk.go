// Package dingtalk sends messages in DingTalk: through a robot of a group, or as an app that can also open groups.
//
// It must never treat HTTP 200 as success: DingTalk reports failures in the reply.
package dingtalk

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/core/render"
	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

const (
	maxText  = 18_000 // bytes of JSON: a request may have 20,000 in all
	maxTitle = 100    // characters
)

type message struct {
	Type     string   `json:"msgtype"`
	Markdown markdown `json:"markdown"`
}

// post is a message of a robot, which mentions no one.
type post struct {
	message
	At at `json:"at"`
}

type at struct {
	All     bool     `json:"isAtAll"`
	Mobiles []string `json:"atMobiles"`
	Users   []string `json:"atUserIds"`
}

type markdown struct {
	Title string `json:"title"` // shown in notifications
	Text  string `json:"text"`
}

func compose(m sender.Message) message {
	return message{"markdown", markdown{sender.Line(m.Subject, maxTitle), sender.Fit(paragraphs(m.Text), maxText, sender.JSON)}}
}

// paragraphs makes a paragraph of each line, because DingTalk's Markdown ignores a single line break.
func paragraphs(text render.Markup) string { return strings.ReplaceAll(string(text), "\n", "\n\n") }

// A work notification may have 2,048 bytes in all.
const (
	maxNote      = 1650 // bytes of JSON
	maxNoteTitle = 300  // likewise
)

// note is compose for a work notification. A text that is cut keeps the links. A mark made of the key follows the
// text: DingTalk does not show a person the same text twice a day, and a repeated notification has the same text.
func note(m sender.Message) message {
	sum := sha256.Sum256([]byte(m.Key))
	end := "\n\n(" + hex.EncodeToString(sum[:3]) + ")"
	text := paragraphs(m.Text)
	if whole := sender.Fit(text, maxNote-len(end)-2, sender.JSON); whole != text {
		end = links(m) + end
		text = sender.Fit(text, max(maxNote-len(end)-8, 3), sender.JSON)
	}
	return message{"markdown", markdown{sender.Fit(render.OneLine(m.Subject), maxNoteTitle, sender.JSON), text + end}}
}

func links(m sender.Message) (text string) {
	for _, l := range []struct{ word, url string }{{"open", m.Link}, {m.AckWord(), m.AckLink}} {
		if l.url != "" {
			text += "\n\n" + string(render.Loose.Link(l.word, l.url))
		}
	}
	return text
}

// Status is the part that all replies share.
type Status struct {
	Code *int   `json:"errcode"`
	Text string `json:"errmsg"`
}

// passing are the codes that a retry may clear: busy, or too many requests.
var passing = []int{-1, 88, 90002, 90018, 130101, 410100}

// Err returns the error that the reply reports, or nil.
func (s *Status) Err() *sender.Error {
	switch {
	case s.Code == nil:
		return sender.Unreadable()
	case *s.Code == 0:
		return nil
	}
	return sender.Refused(*s.Code, s.Text, slices.Contains(passing, *s.Code))
}

// Sender sends to robots. Now returns the moment of a signature.
type Sender struct{ Now func() time.Time }

// Send sends to a group's robot: the token is its access token, or its whole URL. The request is signed if there is
// a SignSecret.
func (s Sender) Send(ctx context.Context, out *egress.Client, chat sender.Chat, m sender.Message) (sender.Receipt, error) {
	address := chat.Address("https://oapi.dingtalk.com/robot/send?access_token=")
	if chat.SignSecret != "" {
		stamp := strconv.FormatInt(s.Now().UnixMilli(), 10)
		address = sender.With(address, url.Values{"timestamp": {stamp}, "sign": {Sign(chat.SignSecret, stamp)}})
	}
	return sender.Call{
		URL:     address,
		Body:    post{compose(m), at{false, []string{}, []string{}}},
		Secrets: chat.Secrets(),
	}.Do(ctx, out, &Status{})
}

// Sign returns the signature at a moment (Unix milliseconds): HMAC-SHA256 of the moment, a line break and the
// secret, keyed with the secret, in base64.
func Sign(secret, moment string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(moment + "\n" + secret))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
