// Package wecom sends messages in WeCom: through a robot of a group, or as an app that can also open groups.
//
// It must never treat HTTP 200 as success: WeCom reports failures in the reply.
package wecom

import (
	"context"
	"slices"

	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

const maxText = 4096 // bytes

type message struct {
	ChatID   string   `json:"chatid,omitzero"`
	Type     string   `json:"msgtype"`
	Markdown markdown `json:"markdown"`
}

type markdown struct {
	Content string `json:"content"`
}

func compose(chatID string, m sender.Message) message {
	return message{chatID, "markdown", markdown{sender.Fit(m.Text, maxText, sender.Bytes)}}
}

// Status is the part that all replies share.
type Status struct {
	Code *int   `json:"errcode"`
	Text string `json:"errmsg"`
}

// passing are the codes that a retry may clear: busy, too many requests, or a token that has just expired.
var passing = []int{-1, 6000, 42001, 45009, 45033}

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

// Send sends to a group's robot: the token is its key, or its whole URL.
func Send(ctx context.Context, out *egress.Client, chat sender.Chat, m sender.Message) (sender.Receipt, error) {
	call := sender.Call{
		URL:     chat.Address("https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key="),
		Body:    compose("", m),
		Secrets: chat.Secrets(),
	}
	return call.Do(ctx, out, &Status{})
}
