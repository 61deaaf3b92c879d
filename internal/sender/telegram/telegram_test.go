package telegram_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/render"
	"tocsin/internal/sender"
	"tocsin/internal/sender/sendertest"
	"tocsin/internal/sender/telegram"
)

func TestSend(t *testing.T) {
	s := sendertest.New(t)
	s.Answer.Body = `{"ok":true,"result":{"message_id":42}}`
	chat := sender.Chat{Token: s.URL + "/bot123:" + sendertest.Token, ChatIDs: []string{"-1001", "@ops"}, SignSecret: sendertest.Secret}
	send := func(m sender.Message) (sender.Receipt, error) {
		return telegram.Send(context.Background(), s.Out, chat, m)
	}
	if receipt, err := send(sendertest.Message); err != nil || receipt.ID != "42,42" {
		t.Errorf("%+v %v", receipt, err)
	}
	s.Golden(t, "chats")
	long := sendertest.Message
	long.Text = render.Markup(strings.Repeat("火", 5000))
	if _, err := send(long); err != nil || strings.Count(s.Body(), "火") != 4095 {
		t.Errorf("%d characters, %v", strings.Count(s.Body(), "火"), err)
	}
	s.Routes["/bot123:"+sendertest.Token+"/sendMessage"] = func(body string) sendertest.Answer {
		if strings.Contains(body, "-1001") {
			return sendertest.Answer{Status: 403, Body: `{"ok":false,"error_code":403,"description":"Forbidden: bot was kicked"}`}
		}
		return s.Answer
	}
	s.Answer.Body = `{"ok":true,"result":{"message_id":43}}`
	if receipt, err := send(sendertest.Message); err == nil || sender.Retry(err) || receipt.ID != "43" || !strings.Contains(err.Error(), "-1001") {
		t.Errorf("one chat of two: %+v %v", receipt, err)
	}
	if _, err := telegram.Send(context.Background(), s.Out, sender.Chat{Token: sendertest.Token}, sendertest.Message); err == nil || !strings.Contains(err.Error(), "chat_ids") {
		t.Errorf("no chat: %v", err)
	}
	clear(s.Routes)
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) {
		return telegram.Send(ctx, s.Out, chat, sendertest.Message)
	})
	s.Table(t, func() (sender.Receipt, error) { return send(sendertest.Message) },
		sendertest.Fails{Answer: sendertest.Answer{Body: "<html>"}},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"ok":false,"error_code":400,"description":"chat not found"}`}},
		sendertest.Fails{Answer: sendertest.Answer{Status: 401, Body: `{"ok":false,"error_code":401,"description":"Unauthorized"}`}},
		sendertest.Fails{Answer: sendertest.Answer{Status: 429, Body: `{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":11}}`}, Retry: true, After: 11 * time.Second})
}
