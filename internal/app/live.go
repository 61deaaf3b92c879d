package app

import (
	"context"
	"fmt"

	"tocsin/internal/activity"
	"tocsin/internal/configstore"
	"tocsin/internal/engine/webhook"
	"tocsin/internal/platform/db"
)

// pagesChange notifies the console's pages of what happens to alerts and incidents, once it is on disk.
func (a *App) pagesChange(tx *db.Tx, item activity.Item) error {
	tx.OnCommit(func() {
		a.live.Changed(item.Account)
		a.pages.add(item.Account)
	})
	return nil
}

// accountMark returns a text that differs when something in an account has changed that is no domain event of this
// process: its configuration, a delivery, or anything that another process has written.
func (a *App) accountMark(ctx context.Context, account int64) (mark string, err error) {
	others, err := a.pages.others(ctx, account)
	if err != nil {
		return "", err
	}
	state, err := a.accountState(ctx, account)
	return fmt.Sprint(others, " ", state), err
}

// accountState returns what accountMark reads of this database's own tables: the configuration and the last delivery.
func (a *App) accountState(ctx context.Context, account int64) (state string, err error) {
	err = a.DB.Snapshot(ctx, func(tx *db.Tx) error {
		revision, err := configstore.Revision(tx, account)
		if err != nil {
			return err
		}
		delivered, err := webhook.LastDelivery(tx, account)
		state = fmt.Sprint(revision, " ", delivered)
		return err
	})
	return state, err
}

// StopStreams ends the streams of the console's pages, for which a server that stops would wait.
func (a *App) StopStreams() { a.live.Stop() }
