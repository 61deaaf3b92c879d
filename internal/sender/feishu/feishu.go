// Package feishu sends messages in Feishu and Lark: through a custom bot of a group, or as an app that can also open
// groups.
//
// It must never treat HTTP 200 as success: Feishu reports failures in the reply.
package feishu

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

type message struct {
	Timestamp string  `json:"timestamp,omitzero"` // seconds
	Sign      string  `json:"sign,omitzero"`
	Type      string  `json:"msg_type"`
	Content   content `json:"content"`
}

type content struct {
	Post locales `json:"post"`
}

// Status is the part that all replies share. Bots of an older kind write StatusCode on success.
type Status struct {
	Code *int   `json:"code"`
	Old  *int   `json:"StatusCode"`
	Text string `json:"msg"`
}

// passing are the codes that a retry may clear: busy, or too many requests.
var passing = []int{11232, 11233, 11247, 99991400, 230020, 2200, 1000005}

// Err returns the error that the reply reports, or nil. Code 9499 is both a bad request and too many requests.
func (s *Status) Err() *sender.Error {
	code := s.Code
	if code == nil {
		code = s.Old
	}
	switch {
	case code == nil:
		return sender.Unreadable()
	case *code == 0:
		return nil
	}
	often := *code == 9499 && strings.Contains(strings.ToLower(s.Text), "too many")
	return sender.Refused(*code, s.Text, often || slices.Contains(passing, *code))
}

// Sender sends to custom bots. Now returns the moment of a signature.
type Sender struct{ Now func() time.Time }

// Send sends to a group's custom bot: the token is the end of its address at Feishu, or its whole URL, as it must be
// for Lark (open.larksuite.com). The request is signed if there is a SignSecret.
func (s Sender) Send(ctx context.Context, out *egress.Client, chat sender.Chat, m sender.Message) (sender.Receipt, error) {
	body := message{Type: "post", Content: content{post(m.Text, maxBot)}}
	if chat.SignSecret != "" {
		body.Timestamp = strconv.FormatInt(s.Now().Unix(), 10)
		body.Sign = Sign(chat.SignSecret, body.Timestamp)
	}
	call := sender.Call{URL: chat.Address("https://open.feishu.cn/open-apis/bot/v2/hook/"), Body: body, Secrets: chat.Secrets()}
	return call.Do(ctx, out, &Status{})
}

// Sign returns the signature at a moment (Unix seconds): HMAC-SHA256 of the empty text, keyed with the moment, a
// line break and the secret, in base64.
func Sign(secret, moment string) string {
	mac := hmac.New(sha256.New, []byte(moment+"\n"+secret))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
