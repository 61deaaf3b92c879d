package app

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"

	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	hooks "tocsin/internal/engine/webhook"
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
	"tocsin/internal/sender/twilio"
	"tocsin/internal/sender/webhook"
	"tocsin/internal/sender/wecom"
	"tocsin/internal/sender/zoom"
)

// Senders configures how the server sends. A method whose field is empty cannot be used.
type Senders struct {
	Mail          email.Server
	Gateway       gateway.Gateway // voice calls and text messages
	Twilio        twilio.Account  // the same, in place of a gateway
	Allow         []netip.Prefix  // internal addresses that may be called nevertheless
	RefusePrivate bool            // private networks may not be called
	AliveURL      string          // called every minute while no background work is overdue; empty: never
	Deliver       notify.Deliver  // replaces all other senders, for tests and the demo
	Closed        bool            // no webhook is called
	Webhooks      hooks.Caller    // answers in place of all webhooks: the demo's belong to strangers
}

// chats returns the methods that need only the chat's own settings.
func (a *App) chats() map[string]sender.Sender {
	hook := webhook.Sender{Now: a.Clock.Now}
	return map[string]sender.Sender{
		"webhook": hook.Send, "slack": slack.Send, "teams": teams.Send,
		"feishu": feishu.Sender{Now: a.Clock.Now}.Send, "dingtalk": dingtalk.Sender{Now: a.Clock.Now}.Send,
		"wecom": wecom.Send, "telegram": telegram.Send, "discord": discord.Send, "ntfy": ntfy.Send, "zoom": zoom.Send,
	}
}

// deliverer returns the function that sends a message by a method.
func (a *App) deliverer() notify.Deliver {
	if a.Senders.Deliver != nil {
		return a.Senders.Deliver
	}
	out, chats := a.outside(), a.chats()
	// The operator of the server configures the mail server and the telephone service, not its users: any address is allowed.
	own := a.everywhere()
	// Any person can add the endpoint of a browser, and push services are public.
	browsers := egress.New(egress.Policy{Allow: a.Senders.Allow, RefusePrivate: true, Held: a.Gate.Reason})
	return func(ctx context.Context, method string, to notify.Address, m sender.Message) (sender.Receipt, error) {
		if to.Direct != nil {
			return a.sendByApp(ctx, out, to.Direct, m)
		}
		if to.Push != nil {
			return a.sendPush(ctx, browsers, to.Push, m)
		}
		switch method {
		case "email":
			return a.Senders.Mail.Send(ctx, own, to.To, m, a.Clock.Now())
		case "sms", "voice":
			if a.Senders.Twilio.SID != "" {
				return a.Senders.Twilio.Send(ctx, own, method, to.To, m)
			}
			return a.Senders.Gateway.Send(ctx, own, method, to.To, m)
		}
		send, ok := chats[method]
		if !ok {
			return sender.Receipt{}, &sender.Error{Message: sentence.New("not_sendable", method)}
		}
		return send(ctx, out, chatOf(method, to), m)
	}
}

// chatOf returns the chat at an address. A person's address is its token. For Telegram a slash and the chat's id follow
// the token.
func chatOf(method string, to notify.Address) sender.Chat {
	if to.Chat != nil {
		return *to.Chat
	}
	if end := strings.LastIndexByte(to.To, '/'); method == "telegram" && end >= 0 {
		return sender.Chat{Token: to.To[:end], ChatIDs: []string{to.To[end+1:]}}
	}
	return sender.Chat{Token: to.To}
}

// sendByApp sends a message through the chat app of an integration. The app is read for each message, so that changes
// take effect at once. The transaction ends before the service is called, because a call may take long.
func (a *App) sendByApp(ctx context.Context, out *egress.Client, to *notify.Direct, m sender.Message) (sender.Receipt, error) {
	var app sender.App
	err := a.DB.Read(ctx, func(tx *db.Tx) (err error) {
		app, err = integration.Open(tx, a.Keyring, to.Account, to.Kind, to.Integration)
		return err
	})
	var refused *fault.Error
	switch {
	case errors.As(err, &refused) && refused.Kind == fault.Conflict:
		return sender.Receipt{}, &sender.Error{Message: sentence.Raw(refused.Message)}
	case err != nil:
		a.Log.Error("the app of a message could not be read", "integration_id", to.Integration, "error", err)
		return sender.Receipt{}, &sender.Error{Retry: true, Message: sentence.New("integration_not_read")}
	}
	if to.Chat != "" {
		return app.Post(ctx, out, to.Chat, m)
	}
	return app.SendDirect(ctx, out, to.Person, m)
}

// webhooks returns what calls the webhooks.
func (a *App) webhooks() hooks.Caller {
	if a.Senders.Webhooks != nil {
		return a.Senders.Webhooks
	}
	return a.outside()
}

// outside returns a client for addresses that users enter.
func (a *App) outside() *egress.Client {
	return egress.New(egress.Policy{Allow: a.Senders.Allow, RefusePrivate: a.Senders.RefusePrivate, Held: a.Gate.Reason})
}

// can reports whether the server can send by a method.
func (a *App) can(method string) bool {
	switch {
	case a.Senders.Deliver != nil:
		return true
	case method == "push":
		return true // its key is made at the first start
	case method == "email":
		return a.Senders.Mail.Host != ""
	case method == "sms" || method == "voice":
		return a.Senders.Gateway.URL != "" || a.Senders.Twilio.SID != ""
	}
	return slices.Contains(a.methods(), method)
}

func (a *App) methods() (methods []string) {
	for method := range a.chats() {
		methods = append(methods, method)
	}
	return methods
}

// everywhere returns a client for addresses that the operator of the server configures.
func (a *App) everywhere() *egress.Client {
	all := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	return egress.New(egress.Policy{Allow: all, Held: a.Gate.Reason})
}
