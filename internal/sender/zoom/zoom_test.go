package zoom_test

import (
	"context"
	"strings"
	"testing"

	"tocsin/internal/core/render"
	"tocsin/internal/sender"
	"tocsin/internal/sender/sendertest"
	"tocsin/internal/sender/zoom"
)

func TestSend(t *testing.T) {
	s := sendertest.New(t)
	chat := sender.Chat{Token: s.URL + "/chat/webhooks/incomingwebhook/" + sendertest.Token, VerifyToken: sendertest.Secret}
	send := func(m sender.Message) (sender.Receipt, error) { return zoom.Send(context.Background(), s.Out, chat, m) }
	if receipt, err := send(sendertest.Message); err != nil || receipt.Status != 200 {
		t.Errorf("%+v %v", receipt, err)
	}
	s.Golden(t, "webhook")
	long := sendertest.Message
	long.Text = render.Markup(strings.Repeat("火", 5000))
	if _, err := send(long); err != nil || strings.Count(s.Body(), "火") != 3999 {
		t.Errorf("%d characters, %v", strings.Count(s.Body(), "火"), err)
	}
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) {
		return zoom.Send(ctx, s.Out, chat, sendertest.Message)
	})
	s.Table(t, func() (sender.Receipt, error) { return send(sendertest.Message) })
}
