package triage

import (
	"context"
	"hash/fnv"

	"tocsin/internal/core/event"
	"tocsin/internal/platform/db"
)

// Request identifies the request that events came with. The events are a part of the request.
type Request struct {
	Number int64 // the same for all events of the request, for no other request of the account; 0: a single event
	Last   bool  // no other part follows
}

// Accept stores events of an account in the transaction that stores what caused them. They then wait for their verdicts.
// bodies holds each event as JSON, in the same order. The caller raises the signal of the deciding job after the commit.
func Accept(tx *db.Tx, account int64, events []event.Event, bodies []string) error {
	stored, waiting := rows(account, Request{}, events, bodies)
	if err := tx.Insert(stored); err != nil {
		return err
	}
	return tx.Insert(waiting)
}

// Take is Accept for a part of a request, in a transaction of its own, which waits for no other.
func Take(ctx context.Context, d *db.DB, account int64, of Request, events []event.Event, bodies []string) error {
	stored, waiting := rows(account, of, events, bodies)
	return d.Append(ctx, stored, waiting)
}

// Ranks are the order in which events are decided: events sent as Critical come first (see next).
const (
	rankFirst = int64(0)
	rankUsual = int64(1)
)

// rows returns the rows of events. An event is stored once; that it waits is a row of its own, which is deleted when it is
// decided.
func rows(account int64, of Request, events []event.Event, bodies []string) (stored, waiting db.Rows) {
	columns := []string{"account_id", "event_id", "received_at", "integration_id", "body"}
	const common = 3 // the first columns, which both tables have
	stored = db.Rows{Table: "event", Columns: columns, Values: make([][]any, len(events))}
	waiting = db.Rows{
		Table:   "event_waiting",
		Columns: append(columns[:common:common], "rank", "chain", "request", "closes"),
		Values:  make([][]any, len(events)),
	}
	var owner any = account // a value of each row
	for i := range events {
		e := &events[i]
		row := []any{owner, e.ID, e.Received, e.Integration, bodies[i]}
		rank, closes := rankUsual, int64(0)
		if e.Status == event.Critical {
			rank = rankFirst
		}
		if of.Last && i == len(events)-1 {
			closes = 1
		}
		stored.Values[i] = row
		waiting.Values[i] = append(row[:common:common], rank, chainOf(e.AlertKey), of.Number, closes)
	}
	return stored, waiting
}

// chainOf returns the chain of an alert key: events of one chain are decided in the order of their arrival. Integrations
// share the alerts of a channel, so the key alone counts. Different keys may have one chain, which only means that they wait
// for each other. A chain is never 0, because events that an earlier program stored have chain 0.
func chainOf(key string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key)) // never fails
	return int64(h.Sum64()>>1) | 1
}
