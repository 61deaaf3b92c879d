package ntfy_test

import (
	"context"
	"mime"
	"strings"
	"testing"
	"unicode/utf8"

	"tocsin/internal/core/render"
	"tocsin/internal/sender"
	"tocsin/internal/sender/ntfy"
	"tocsin/internal/sender/sendertest"
)

func TestSend(t *testing.T) {
	s := sendertest.New(t)
	s.Answer.Body = `{"id":"sPs71M8A2T","event":"message"}`
	chat := sender.Chat{Token: s.URL + "/" + sendertest.Token, VerifyToken: sendertest.Secret}
	send := func(m sender.Message) (sender.Receipt, error) { return ntfy.Send(context.Background(), s.Out, chat, m) }
	if receipt, err := send(sendertest.Message); err != nil || receipt.ID != "sPs71M8A2T" {
		t.Errorf("%+v %v", receipt, err)
	}
	odd := sendertest.Message
	odd.Subject = "支付\r\nPriority: 1"
	odd.Severity = "Ok"
	odd.Test = true
	odd.Link = ""
	odd.AckLink = "https://tocsin.example/ack?a=1,2;3"
	if _, err := send(odd); err != nil {
		t.Error(err)
	}
	if title, err := new(mime.WordDecoder).DecodeHeader(s.Header("Title")); err != nil || title != "支付 Priority: 1" || s.Header("Priority") != "2" {
		t.Errorf("title %q, priority %s, %v", title, s.Header("Priority"), err)
	}
	s.Golden(t, "topic")
	odd.Text = render.Markup(strings.Repeat("火", 2000))
	odd.Severity = ""
	odd.Event = ""
	odd.AckLink = ""
	if _, err := send(odd); err != nil || len(s.Body()) > 4096 || len(s.Body()) < 4090 || !utf8.ValidString(s.Body()) || s.Header("Priority") != "3" || s.Header("Tags") != "drill" || s.Header("Actions") != "" {
		t.Errorf("%d bytes, %v", len(s.Body()), err)
	}
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) {
		return ntfy.Send(ctx, s.Out, chat, sendertest.Message)
	})
	s.Table(t, func() (sender.Receipt, error) { return send(sendertest.Message) },
		sendertest.Fails{Answer: sendertest.Answer{Status: 403, Body: `{"code":40301,"http":403,"error":"forbidden"}`}})
}
