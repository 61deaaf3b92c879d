package slack_test

import (
	"context"
	"strings"
	"testing"

	"tocsin/internal/core/render"
	"tocsin/internal/sender"
	"tocsin/internal/sender/sendertest"
	"tocsin/internal/sender/slack"
)

func TestSend(t *testing.T) {
	s := sendertest.New(t)
	s.Answer.Body = "ok"
	chat := sender.Chat{Token: s.URL + "/services/T0/B0/" + sendertest.Token, SignSecret: sendertest.Secret}
	send := func(m sender.Message) (sender.Receipt, error) {
		return slack.Send(context.Background(), s.Out, chat, m)
	}
	if receipt, err := send(sendertest.Message); err != nil || receipt.Status != 200 || receipt.Reply != "ok" {
		t.Errorf("%+v %v", receipt, err)
	}
	s.Golden(t, "webhook")
	long := sendertest.Message
	long.Text = render.Markup(strings.Repeat("火", 4000))
	if _, err := send(long); err != nil || strings.Count(s.Body(), "火") != 2999 {
		t.Errorf("%d characters, %v", strings.Count(s.Body(), "火"), err)
	}
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) {
		return slack.Send(ctx, s.Out, chat, sendertest.Message)
	})
	s.Table(t, func() (sender.Receipt, error) { return send(sendertest.Message) },
		sendertest.Fails{Answer: sendertest.Answer{Status: 404, Body: "no_service"}},
		sendertest.Fails{Answer: sendertest.Answer{Status: 410, Body: "channel_is_archived"}})
}
