package app

import (
	"context"

	"tocsin/internal/notify"
	"tocsin/internal/sender"
)

// Senders is what the server sends with.
type Senders struct {
	Deliver notify.Deliver // in place of all others, for tests
}

// deliver sends a message over a way.
func (a *App) deliver(ctx context.Context, way string, to notify.Address, m sender.Message) (sender.Receipt, error) {
	if a.Senders.Deliver != nil {
		return a.Senders.Deliver(ctx, way, to, m)
	}
	return sender.Receipt{}, &sender.Error{Message: "this server cannot send " + way}
}

// can tells whether the server can send a way.
func (a *App) can(way string) bool { return true }
