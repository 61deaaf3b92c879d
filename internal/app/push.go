package app

import (
	"context"
	"net/http"
	"net/mail"
	"strings"

	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/egress"
	"tocsin/internal/push"
	"tocsin/internal/sender"
	"tocsin/internal/sender/webpush"
)

// sendPush sends a message to a browser. The subscription is read for each message, so that a browser that was removed
// gets none. One that its push service does not know any more is removed at once.
func (a *App) sendPush(ctx context.Context, out *egress.Client, to *notify.Browser, m sender.Message) (sender.Receipt, error) {
	var s push.Subscription
	var key push.Key
	found := false
	err := a.DB.Read(ctx, func(tx *db.Tx) (err error) {
		s, found, err = push.Find(tx, to.Account, to.Subscription)
		if err == nil {
			key, err = push.OpenKey(tx, a.Keyring)
		}
		return err
	})
	switch {
	case err != nil:
		a.Log.Error("a browser or the key for push could not be read", "subscription_id", to.Subscription, "error", err)
		return sender.Receipt{}, &sender.Error{Retry: true, Message: sentence.New("browser_not_read")}
	case !found:
		return sender.Receipt{}, &sender.Error{Message: sentence.New("browser_removed")}
	}
	target, err := s.Open(a.Keyring)
	if err != nil {
		return sender.Receipt{}, &sender.Error{Message: sentence.New("browser_address")}
	}
	receipt, err := webpush.Send(ctx, out, webpush.Server{PublicKey: key.Public, PrivateKey: key.Private, Contact: a.contact()},
		webpush.Browser{Endpoint: target.Endpoint, P256dh: target.P256dh, Auth: target.Auth}, m)
	if receipt.Status == http.StatusNotFound || receipt.Status == http.StatusGone {
		err = &sender.Error{Message: sentence.Raw("the browser " + s.Name + " does not receive any more and was removed")}
	}
	a.noteTried(ctx, s, receipt, err)
	return receipt, err
}

// noteTried stores what came of a message to a browser. A failure to do so must not count as one to send.
func (a *App) noteTried(ctx context.Context, s push.Subscription, receipt sender.Receipt, failed error) {
	problem, now := "", a.Clock.Now()
	if failed != nil {
		problem = failed.Error()
	}
	gone := receipt.Status == http.StatusNotFound || receipt.Status == http.StatusGone
	if !gone && !s.News(problem, now) {
		return
	}
	err := a.DB.WriteOf(context.WithoutCancel(ctx), s.AccountID, func(tx *db.Tx) error {
		if gone {
			return push.Remove(tx, s.AccountID, s.ID)
		}
		return push.Tried(tx, s, problem, now)
	})
	if err != nil {
		a.Log.Error("what came of a push message could not be stored", "subscription_id", s.ID, "error", err)
	}
}

// contact returns where push services find the operator of the server, as RFC 8292 asks for: its address, or its mail.
func (a *App) contact() string {
	if strings.HasPrefix(a.PublicURL, "https:") {
		return a.PublicURL
	}
	if from, err := mail.ParseAddress(a.Senders.Mail.From); err == nil {
		return from.Address
	}
	return "operator@localhost"
}
