package discord_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/render"
	"tocsin/internal/sender"
	"tocsin/internal/sender/discord"
	"tocsin/internal/sender/sendertest"
)

func TestSend(t *testing.T) {
	s := sendertest.New(t)
	s.Answer.Body = `{"id":"1166","content":"x"}`
	chat := sender.Chat{Token: s.URL + "/api/webhooks/1/" + sendertest.Token + "?thread_id=5", SignSecret: sendertest.Secret}
	send := func(m sender.Message) (sender.Receipt, error) {
		return discord.Send(context.Background(), s.Out, chat, m)
	}
	if receipt, err := send(sendertest.Message); err != nil || receipt.ID != "1166" {
		t.Errorf("%+v %v", receipt, err)
	}
	s.Golden(t, "webhook")
	long := sendertest.Message
	long.Text = render.Markup(strings.Repeat("🔥", 1500)) // two of what is counted each
	if _, err := send(long); err != nil || strings.Count(s.Body(), "🔥") != 999 {
		t.Errorf("%d characters, %v", strings.Count(s.Body(), "🔥"), err)
	}
	s.Answer.Body = "stored, says a relay"
	if receipt, err := send(sendertest.Message); err != nil || receipt.ID != "" {
		t.Errorf("a relay: %+v %v", receipt, err)
	}
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) {
		return discord.Send(ctx, s.Out, chat, sendertest.Message)
	})
	s.Table(t, func() (sender.Receipt, error) { return send(sendertest.Message) },
		sendertest.Fails{Answer: sendertest.Answer{Status: 404, Body: `{"message":"Unknown Webhook","code":10015}`}},
		sendertest.Fails{Answer: sendertest.Answer{Status: 429, Body: `{"message":"You are being rate limited.","retry_after":1.5,"global":false}`}, Retry: true, After: 1500 * time.Millisecond})
}
