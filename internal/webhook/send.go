package webhook

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"tocsin/internal/db"
	"tocsin/internal/integration"
)

const (
	idle     = time.Second
	maxAloft = 256              // attempts at the same time at all endpoints; those that do not fail go first
	timeout  = 2 * time.Second  // for one attempt
	lease    = 30 * time.Second // after which an attempt is taken for lost, with the process that made it
)

// flight is an attempt that is about to be made.
type flight struct {
	message
	integration.Settings // secrets in clear
}

// send begins the attempts that are due, each on a goroutine of its own. It is woken when one has ended.
func (r *Room) send(ctx context.Context, now time.Time) (again time.Time, err error) {
	var ready []endpoint
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		ready, err = r.ready(tx, now)
		return err
	})
	if err != nil || len(ready) == 0 {
		return again, err
	}
	var flights []*flight
	err = r.DB.Write(ctx, func(tx *db.Tx) (err error) {
		flights, err = r.take(tx, ready, now)
		return err
	})
	if err != nil {
		return again, err
	}
	for _, f := range flights {
		r.count(f.key(), 1)
		r.flights.Go(func() {
			defer r.wake()
			defer r.count(f.key(), -1)
			r.fly(f)
		})
	}
	return again, nil
}

// count keeps how many attempts are being made.
func (r *Room) count(e endpointKey, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.aloft += n
	if r.flying[e] += n; r.flying[e] == 0 {
		delete(r.flying, e)
	}
}

// ready lists the endpoints for which something is due and that may be called, those that fail least first.
func (r *Room) ready(tx *db.Tx, now time.Time) ([]endpoint, error) {
	all, err := db.All(tx, func(scan db.Scan) (e endpoint, err error) {
		return e, scan(&e.account, &e.integration, &e.failures, &e.held, &e.due)
	}, `SELECT account_id, integration_id, failures, held_until,
			(SELECT coalesce(min(m.due_at), 0) FROM webhook_message m WHERE m.account_id = e.account_id AND m.integration_id = e.integration_id AND m.settled_at = 0)
		FROM webhook_endpoint e ORDER BY failures, account_id, integration_id`)
	ready := all[:0]
	for _, e := range all {
		if e.due > 0 && r.room(&e, now) > 0 {
			ready = append(ready, e)
		}
	}
	return ready, err
}

// room is how many attempts may begin at an endpoint.
func (r *Room) room(e *endpoint, now time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return min(e.room(now.UnixMilli(), r.flying[e.endpointKey]), maxAloft-r.aloft)
}

// take marks messages that are due as being sent.
func (r *Room) take(tx *db.Tx, ready []endpoint, now time.Time) (flights []*flight, err error) {
	for i := range ready {
		e := &ready[i]
		var settings *integration.Settings
		failed, err := tx.Try(func() (err error) {
			settings, err = r.settings(tx, e, now)
			return err
		})
		if err == nil && failed != nil { // it may heal, and others must not wait for it
			r.Log.Error("a webhook cannot be called", "integration_id", e.integration, "account_id", e.account, "error", failed)
			settings, err = nil, e.hold(tx, now.Add(probe))
		}
		if err != nil {
			return nil, err
		}
		n := min(r.room(e, now), maxAloft-len(flights))
		if settings == nil || n <= 0 {
			continue
		}
		due, err := db.All(tx, scanMessage, `SELECT `+messageColumns+` FROM webhook_message
			WHERE account_id = $1 AND integration_id = $2 AND settled_at = 0 AND due_at <= $3 ORDER BY due_at, number LIMIT $4 + 0`, e.account, e.integration, now.UnixMilli(), n)
		if err != nil {
			return nil, err
		}
		if e.failures >= patience {
			if err := e.hold(tx, now.Add(probe)); err != nil {
				return nil, err
			}
		}
		for _, m := range due {
			if err := m.begin(tx, now); err != nil {
				return nil, err
			}
			flights = append(flights, &flight{m, *settings})
		}
	}
	return flights, nil
}

// settings are those of an endpoint's integration as they are now; nil when it is not to be called. Then what
// waits for it is cancelled.
func (r *Room) settings(tx *db.Tx, e *endpoint, now time.Time) (*integration.Settings, error) {
	i, found, err := integration.Kind.Find(tx, e.account, strconv.FormatInt(e.integration, 10))
	if err != nil {
		return nil, err
	}
	why := ""
	switch {
	case !found || !i.IsWebhook() || i.Settings == nil:
		why = "the integration is gone"
		if _, err := tx.Exec(`DELETE FROM webhook_endpoint WHERE account_id = $1 AND integration_id = $2`, e.account, e.integration); err != nil {
			return nil, err
		}
	case i.Status != "enabled":
		why = "the integration is disabled"
	}
	if why != "" {
		return nil, cancelAll(tx, e.endpointKey, why, now)
	}
	if err := integration.Kind.Open(r.Box, e.account, &i); err != nil { // it may heal, and others must not wait for it
		r.Log.Error("the secrets of a webhook cannot be opened", "integration_id", e.integration, "error", err)
		return nil, e.hold(tx, now.Add(probe))
	}
	return i.Settings, nil
}

// hold keeps an endpoint from being called for a while.
func (e *endpoint) hold(tx *db.Tx, until time.Time) error {
	_, err := tx.Exec(`UPDATE webhook_endpoint SET held_until = $3 WHERE account_id = $1 AND integration_id = $2`, e.account, e.integration, until.UnixMilli())
	return err
}

// answered notes down whether an endpoint took an attempt; held tells whether it is held now.
func answered(tx *db.Tx, e endpointKey, took bool, now time.Time) (held bool, err error) {
	if took {
		_, err := tx.Exec(`UPDATE webhook_endpoint SET failures = 0, held_until = 0 WHERE account_id = $1 AND integration_id = $2`, e.account, e.integration)
		return false, err
	}
	failures, _, err := db.One(tx, db.Column[int64], fmt.Sprintf(`UPDATE webhook_endpoint SET failures = failures + 1, held_until = CASE WHEN failures + 1 >= %d THEN $3 ELSE held_until END
		WHERE account_id = $1 AND integration_id = $2 RETURNING failures`, patience), e.account, e.integration, now.Add(probe).UnixMilli())
	return failures >= patience, err
}
