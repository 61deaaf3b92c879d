// Package telegram sends messages in Telegram, as a bot.
//
// It must never let Telegram read markup or fetch links: the text is plain, and one link acknowledges.
package telegram

import (
	"context"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

const maxText = 4096 // characters, as UTF-16 counts them

type message struct {
	ChatID  string  `json:"chat_id"`
	Text    string  `json:"text"`
	Preview preview `json:"link_preview_options"`
}

type preview struct {
	Disabled bool `json:"is_disabled"`
}

type reply struct {
	OK          bool   `json:"ok"`
	Code        int    `json:"error_code"`
	Description string `json:"description"`
	Parameters  struct {
		RetryAfter int `json:"retry_after"` // seconds
	} `json:"parameters"`
	Result struct {
		ID int64 `json:"message_id"`
	} `json:"result"`
}

// Err returns the error that the reply reports, or nil.
func (r *reply) Err() *sender.Error {
	switch {
	case r.OK:
		return nil
	case r.Code == 0:
		return sender.Unreadable()
	}
	err := sender.Refused(r.Code, r.Description, r.Code == 429 || r.Code >= 500)
	err.After = min(time.Duration(max(r.Parameters.RetryAfter, 0))*time.Second, time.Hour)
	return err
}

// Send sends to every chat of ChatIDs. The token is the bot's, or the URL of the deployment's own Bot API server up to
// and including the token, with or without /sendMessage.
func Send(ctx context.Context, out *egress.Client, chat sender.Chat, m sender.Message) (sender.Receipt, error) {
	address := strings.TrimSuffix(chat.Address("https://api.telegram.org/bot"), "/sendMessage") + "/sendMessage"
	text := sender.Fit(m.Text, maxText, sender.UTF16)
	return sender.Each(chat.ChatIDs, func(id string) (sender.Receipt, error) {
		var r reply
		receipt, err := sender.Call{URL: address, Body: message{id, text, preview{true}}, Secrets: chat.Secrets()}.Do(ctx, out, &r)
		if err == nil {
			receipt.ID = strconv.FormatInt(r.Result.ID, 10)
		}
		return receipt, err
	})
}
