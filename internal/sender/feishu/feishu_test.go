package feishu_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/render"
	"tocsin/internal/sender"
	"tocsin/internal/sender/feishu"
	"tocsin/internal/sender/sendertest"
)

// TestSign compares with openssl: printf ” | openssl dgst -sha256 -mac HMAC -macopt hexkey:(of "1599360473\ndemo") -binary | base64.
func TestSign(t *testing.T) {
	if got, want := feishu.Sign("demo", "1599360473"), "l1N0gAcBjdwBvGm1xMjOF0XSyaLRpR7tuO5dHfhAYc8="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSend(t *testing.T) {
	s := sendertest.New(t)
	s.Answer.Body = `{"code":0,"msg":"success","data":{}}`
	chat := sender.Chat{Token: s.URL + "/open-apis/bot/v2/hook/" + sendertest.Token}
	bot := feishu.Sender{Now: func() time.Time { return time.Unix(1599360473, 0) }}
	send := func(m sender.Message) (sender.Receipt, error) { return bot.Send(context.Background(), s.Out, chat, m) }
	if receipt, err := send(sendertest.Message); err != nil || receipt.Status != 200 {
		t.Errorf("%+v %v", receipt, err)
	}
	chat.SignSecret = sendertest.Secret
	s.Answer.Body = `{"Extra":null,"StatusCode":0,"StatusMessage":"success"}`
	if _, err := send(sendertest.Message); err != nil {
		t.Error(err)
	}
	s.Golden(t, "bot")
	for _, costly := range []string{"火", "\n", "\"", "**b**", "[a](https://b)", "**", "[", "a\n"} {
		long := sendertest.Message
		long.Text = render.Markup(strings.Repeat(costly, 20_000))
		if _, err := send(long); err != nil || len(s.Body()) > 20_000 || !json.Valid([]byte(s.Body())) {
			t.Errorf("%q: %d bytes, %v", costly, len(s.Body()), err)
		}
	}
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) {
		return bot.Send(ctx, s.Out, chat, sendertest.Message)
	})
	s.Table(t, func() (sender.Receipt, error) { return send(sendertest.Message) },
		sendertest.Fails{Answer: sendertest.Answer{Body: "<html>a proxy</html>"}},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"code":19021,"msg":"sign match fail or timestamp is not within one hour from current time"}`}},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"code":19001,"msg":"param invalid: incoming webhook access token invalid"}`}},
		sendertest.Fails{Answer: sendertest.Answer{Status: 400, Body: `{"code":9499,"msg":"Bad Request"}`}},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"code":9499,"msg":"too many request"}`}, Retry: true},
		sendertest.Fails{Answer: sendertest.Answer{Status: 400, Body: `{"code":11232,"msg":"frequency limited"}`}, Retry: true})
}
