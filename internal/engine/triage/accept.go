package triage

import (
	"tocsin/internal/core/event"
	"tocsin/internal/platform/db"
)

// Accept stores events of an account, which then wait for their verdicts. bodies holds each event as JSON, in the same
// order. The caller raises the signal of the deciding job after the commit.
func Accept(tx *db.Tx, account int64, events []event.Event, bodies []string) error {
	for i := range events {
		e := &events[i]
		if _, err := tx.Exec(`INSERT INTO event (account_id, event_id, received_at, integration_id, decided_at, attempts, body)
			VALUES ($1, $2, $3, $4, 0, 0, $5)`, account, e.ID, e.Received, e.Integration, bodies[i]); err != nil {
			return err
		}
	}
	return nil
}
