package app

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"

	"tocsin/internal/engine/notify"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/egress"
	"tocsin/internal/platform/fault"
	"tocsin/internal/sender"
	"tocsin/internal/sender/dingtalk"
	"tocsin/internal/sender/discord"
	"tocsin/internal/sender/email"
	"tocsin/internal/sender/feishu"
	"tocsin/internal/sender/gateway"
	"tocsin/internal/sender/ntfy"
	"tocsin/internal/sender/slack"
	"tocsin/internal/sender/teams"
	"tocsin/internal/sender/telegram"
	"tocsin/internal/sender/webhook"
	"tocsin/internal/sender/wecom"
	"tocsin/internal/sender/zoom"
)

// Senders is what the server sends with. What is not set cannot be sent.
type Senders struct {
	Mail          email.Server
	Gateway       gateway.Gateway // voice calls and text messages
	Allow         []netip.Prefix  // addresses that may be called although they are internal
	RefusePrivate bool            // private networks must not be called
	AliveURL      string          // called every minute while everything that is due is done; empty: not
	Deliver       notify.Deliver  // in place of all others, for tests and the demo
	Closed        bool            // no webhook is called: those of the demo are nobody's
}

// chats are the ways that need nothing but the chat's own settings.
func (a *App) chats() map[string]sender.Sender {
	hook := webhook.Sender{Now: a.Clock.Now}
	return map[string]sender.Sender{
		"webhook": hook.Send, "slack": slack.Send, "teams": teams.Send, "feishu": feishu.Sender{Now: a.Clock.Now}.Send, "dingtalk": dingtalk.Sender{Now: a.Clock.Now}.Send,
		"wecom": wecom.Send, "telegram": telegram.Send, "discord": discord.Send, "ntfy": ntfy.Send, "zoom": zoom.Send,
	}
}

// deliverer makes the function that sends a message over a way.
func (a *App) deliverer() notify.Deliver {
	if a.Senders.Deliver != nil {
		return a.Senders.Deliver
	}
	out, chats := a.outside(), a.chats()
	// The mail server and the gateway are named by whoever runs the server, not by its users.
	own := egress.New(everywhere)
	return func(ctx context.Context, method string, to notify.Address, m sender.Message) (sender.Receipt, error) {
		if to.Direct != nil {
			return a.tell(ctx, out, to.Direct, m)
		}
		switch method {
		case "email":
			return a.Senders.Mail.Send(ctx, own, to.To, m, a.Clock.Now())
		case "sms", "voice":
			return a.Senders.Gateway.Send(ctx, own, method, to.To, m)
		}
		send, ok := chats[method]
		if !ok {
			return sender.Receipt{}, &sender.Error{Message: "this server cannot send " + method}
		}
		return send(ctx, out, chatOf(method, to), m)
	}
}

// chatOf is the chat at an address. What a person is reached by is its token, behind which Telegram has a slash and
// the chat's id.
func chatOf(method string, to notify.Address) sender.Chat {
	if to.Chat != nil {
		return *to.Chat
	}
	if end := strings.LastIndexByte(to.To, '/'); method == "telegram" && end >= 0 {
		return sender.Chat{Token: to.To[:end], ChatIDs: []string{to.To[end+1:]}}
	}
	return sender.Chat{Token: to.To}
}

// tell sends a message through an app as it is now; the transaction that reads it is over before the
// service is called.
func (a *App) tell(ctx context.Context, out *egress.Client, to *notify.Direct, m sender.Message) (sender.Receipt, error) {
	var app sender.App
	err := a.DB.Read(ctx, func(tx *db.Tx) (err error) {
		app, err = integration.Open(tx, a.Keyring, to.Account, to.Kind, to.Integration)
		return err
	})
	var refused *fault.Error
	switch {
	case errors.As(err, &refused) && refused.Kind == fault.Conflict:
		return sender.Receipt{}, &sender.Error{Message: refused.Message}
	case err != nil:
		a.Log.Error("the app of a message could not be read", "integration_id", to.Integration, "error", err)
		return sender.Receipt{}, &sender.Error{Retry: true, Message: "the integration could not be read; the server's log says why"}
	}
	if to.Chat != "" {
		return app.Post(ctx, out, to.Chat, m)
	}
	return app.SendDirect(ctx, out, to.Person, m)
}

// outside is the way to addresses that users enter.
func (a *App) outside() *egress.Client {
	return egress.New(egress.Policy{Allow: a.Senders.Allow, RefusePrivate: a.Senders.RefusePrivate})
}

// can tells whether the server can send a way.
func (a *App) can(method string) bool {
	switch {
	case a.Senders.Deliver != nil:
		return true
	case method == "email":
		return a.Senders.Mail.Host != ""
	case method == "sms" || method == "voice":
		return a.Senders.Gateway.URL != ""
	}
	return slices.Contains(a.methods(), method)
}

func (a *App) methods() (methods []string) {
	for method := range a.chats() {
		methods = append(methods, method)
	}
	return methods
}

// everywhere is the policy for what whoever runs the server has named.
var everywhere = egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}}
