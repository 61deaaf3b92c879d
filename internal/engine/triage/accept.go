package triage

import (
	"context"

	"tocsin/internal/core/event"
	"tocsin/internal/platform/db"
)

// Accept stores events of an account in the transaction that stores what caused them. They then wait for their verdicts.
// bodies holds each event as JSON, in the same order. The caller raises the signal of the deciding job after the commit.
func Accept(tx *db.Tx, account int64, events []event.Event, bodies []string) error {
	stored, waiting := rows(account, events, bodies)
	if err := tx.Insert(stored); err != nil {
		return err
	}
	return tx.Insert(waiting)
}

// Take is Accept in a transaction of its own, which waits for no other.
func Take(ctx context.Context, d *db.DB, account int64, events []event.Event, bodies []string) error {
	stored, waiting := rows(account, events, bodies)
	return d.Append(ctx, stored, waiting)
}

// rows returns the rows of events. An event is stored once; that it waits is a row of its own, which is deleted when it is
// decided.
func rows(account int64, events []event.Event, bodies []string) (stored, waiting db.Rows) {
	columns := []string{"account_id", "event_id", "received_at", "integration_id", "body"}
	const common = 3 // the first columns, which both tables have
	stored = db.Rows{Table: "event", Columns: columns, Values: make([][]any, len(events))}
	waiting = db.Rows{Table: "event_waiting", Columns: columns[:common], Values: make([][]any, len(events))}
	var owner any = account // a value of each row
	for i := range events {
		e := &events[i]
		row := []any{owner, e.ID, e.Received, e.Integration, bodies[i]}
		stored.Values[i], waiting.Values[i] = row, row[:common]
	}
	return stored, waiting
}
