package wecom_test

import (
	"context"
	"strings"
	"testing"

	"tocsin/internal/core/render"
	"tocsin/internal/sender"
	"tocsin/internal/sender/sendertest"
	"tocsin/internal/sender/wecom"
)

func TestSend(t *testing.T) {
	s := sendertest.New(t)
	s.Answer.Body = `{"errcode":0,"errmsg":"ok"}`
	chat := sender.Chat{Token: s.URL + "/cgi-bin/webhook/send?key=" + sendertest.Token, SignSecret: sendertest.Secret}
	send := func(m sender.Message) (sender.Receipt, error) {
		return wecom.Send(context.Background(), s.Out, chat, m)
	}
	if receipt, err := send(sendertest.Message); err != nil || receipt.Status != 200 {
		t.Errorf("%+v %v", receipt, err)
	}
	s.Golden(t, "robot")
	long := sendertest.Message
	long.Text = render.Markup(strings.Repeat("火", 5000))
	if _, err := send(long); err != nil || strings.Count(s.Body(), "火") != (4096-3)/3 {
		t.Errorf("%d characters, %v", strings.Count(s.Body(), "火"), err)
	}
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) {
		return wecom.Send(ctx, s.Out, chat, sendertest.Message)
	})
	s.Table(t, func() (sender.Receipt, error) { return send(sendertest.Message) },
		sendertest.Fails{Answer: sendertest.Answer{Body: "<html>a proxy</html>"}},
		sendertest.Fails{Answer: sendertest.Answer{}},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"errcode":93000,"errmsg":"invalid webhook url ` + sendertest.Token + `"}`}},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"errcode":-1,"errmsg":"system busy"}`}, Retry: true},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"errcode":45009,"errmsg":"api freq out of limit"}`}, Retry: true})
}
