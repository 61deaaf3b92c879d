package teams_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"tocsin/internal/core/render"
	"tocsin/internal/sender"
	"tocsin/internal/sender/sendertest"
	"tocsin/internal/sender/teams"
)

func TestSend(t *testing.T) {
	s := sendertest.New(t)
	s.Answer.Status = 202
	chat := sender.Chat{Token: s.URL + "/workflows/" + sendertest.Token + "/triggers/manual/paths/invoke?sp=%2Ftriggers&sig=" + sendertest.Secret}
	send := func(m sender.Message) (sender.Receipt, error) {
		return teams.Send(context.Background(), s.Out, chat, m)
	}
	if receipt, err := send(sendertest.Message); err != nil || receipt.Status != 202 {
		t.Errorf("%+v %v", receipt, err)
	}
	s.Golden(t, "workflow")
	long := sendertest.Message
	long.Text = render.Markup(strings.Repeat("火\n\"", 10_000))
	if _, err := send(long); err != nil || len(s.Body()) > 28_000 || len(s.Body()) < 20_000 || !json.Valid([]byte(s.Body())) {
		t.Errorf("%d bytes, %v", len(s.Body()), err)
	}
	if _, err := teams.Send(context.Background(), s.Out, sender.Chat{Token: sendertest.Token}, sendertest.Message); err == nil || sender.Retry(err) || strings.Contains(err.Error(), sendertest.Token) {
		t.Errorf("no URL: %v", err)
	}
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) {
		return teams.Send(ctx, s.Out, chat, sendertest.Message)
	})
	s.Table(t, func() (sender.Receipt, error) { return send(sendertest.Message) })
}
