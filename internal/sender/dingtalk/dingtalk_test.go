package dingtalk_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/render"
	"tocsin/internal/sender"
	"tocsin/internal/sender/dingtalk"
	"tocsin/internal/sender/sendertest"
)

// TestSign compares with openssl: printf '1577262236757\nSECabc' | openssl dgst -sha256 -hmac SECabc -binary | base64.
func TestSign(t *testing.T) {
	if got, want := dingtalk.Sign("SECabc", "1577262236757"), "I5TKCOTTj6fad4sJ4q9RsIffw0PAChVQZQGTdtRbNEQ="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSend(t *testing.T) {
	s := sendertest.New(t)
	s.Answer.Body = `{"errcode":0,"errmsg":"ok"}`
	chat := sender.Chat{Token: s.URL + "/robot/send?access_token=" + sendertest.Token}
	robot := dingtalk.Sender{Now: func() time.Time { return time.UnixMilli(1577262236757) }}
	send := func(m sender.Message) (sender.Receipt, error) {
		return robot.Send(context.Background(), s.Out, chat, m)
	}
	if receipt, err := send(sendertest.Message); err != nil || receipt.Status != 200 {
		t.Errorf("%+v %v", receipt, err)
	}
	chat.SignSecret = sendertest.Secret
	if _, err := send(sendertest.Message); err != nil {
		t.Error(err)
	}
	s.Golden(t, "robot")
	long := sendertest.Message
	long.Text = render.Markup(strings.Repeat("火\n\"", 10_000))
	if _, err := send(long); err != nil || len(s.Body()) > 20_000 || len(s.Body()) < 17_000 || !json.Valid([]byte(s.Body())) {
		t.Errorf("%d bytes, %v", len(s.Body()), err)
	}
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) {
		return robot.Send(ctx, s.Out, chat, sendertest.Message)
	})
	s.Table(t, func() (sender.Receipt, error) { return send(sendertest.Message) },
		sendertest.Fails{Answer: sendertest.Answer{Body: "<html>a proxy</html>"}},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"errcode":310000,"errmsg":"sign not match ` + sendertest.Secret + `"}`}},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"errcode":300001,"errmsg":"token is not exist"}`}},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"errcode":-1,"errmsg":"system busy"}`}, Retry: true},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"errcode":130101,"errmsg":"send too fast, exceed 20 times per minute"}`}, Retry: true})
}
