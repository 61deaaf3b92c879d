package webhook

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/delivery"
)

const (
	maxAloft = 256              // attempts under way at once at all endpoints, but for the first of each
	maxFirst = 4 * maxAloft     // attempts under way at once, whatever their endpoints
	timeout  = 2 * time.Second  // for one attempt
	grace    = 5 * time.Second  // for the attempts under way when the program stops
	lease    = 30 * time.Second // after which an attempt is taken for lost, with the process that made it
)

// flight is a message that is being attempted.
type flight struct {
	message
	integration.Settings // secrets in clear
}

// store is the messages as delivery sees them: a queue for each endpoint.
type store struct{ *Service }

// Queues lists the endpoints for which messages wait, those that fail least first.
func (s store) Queues(tx *db.Tx, _ time.Time) ([]delivery.Queue[endpointKey], error) {
	all, err := db.All(tx, scanEndpoint, queues)
	waiting := make([]delivery.Queue[endpointKey], 0, len(all))
	for _, e := range all {
		if e.due > 0 {
			waiting = append(waiting, delivery.Queue[endpointKey]{Key: e.endpointKey, Due: time.UnixMilli(max(e.due, e.held)), Slots: e.slots()})
		}
	}
	return waiting, err
}

const queues = `SELECT account_id, integration_id, failures, held_until,
		(SELECT coalesce(min(m.due_at), 0) FROM webhook_message m WHERE m.account_id = e.account_id AND m.integration_id = e.integration_id AND m.settled_at = 0)
	FROM webhook_endpoint e ORDER BY failures, account_id, integration_id`

func scanEndpoint(scan db.Scan) (e endpoint, err error) {
	return e, scan(&e.account, &e.integration, &e.failures, &e.held, &e.due)
}

const claim = `UPDATE webhook_message SET status = 'sending', attempts = attempts + 1, due_at = $5 WHERE account_id = $1 AND message_id IN (
		SELECT message_id FROM webhook_message WHERE account_id = $1 AND integration_id = $2 AND settled_at = 0 AND due_at <= $3 ORDER BY due_at, number LIMIT $4 + 0)
	RETURNING ` + messageColumns

// Claim claims messages. An endpoint that fails is held until the next probe, whatever comes of this one.
func (s store) Claim(tx *db.Tx, key endpointKey, n int, now time.Time) ([]*flight, error) {
	all, err := db.All(tx, func(scan db.Scan) (*flight, error) {
		m, err := scanMessage(scan)
		return &flight{message: m}, err
	}, claim, key.account, key.integration, now.UnixMilli(), n, now.Add(lease).UnixMilli())
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *flight) int { return cmp.Compare(a.number, b.number) }) // RETURNING has no order
	_, err = tx.Exec(`UPDATE webhook_endpoint SET held_until = $3 WHERE account_id = $1 AND integration_id = $2 AND failures >= $4`,
		key.account, key.integration, now.Add(probe).UnixMilli(), attemptTimeout)
	return all, err
}

// target is where the messages of an endpoint go.
type target struct {
	settings *integration.Settings // nil: it is not to be called
	why      string                // then: why
	gone     bool
	closed   error // its secrets cannot be opened; that may heal
}

// target returns the integration of an endpoint as it is now.
func (r *Service) target(tx *db.Tx, key endpointKey) (t target, err error) {
	i, found, err := integration.Kind.Find(tx, key.account, strconv.FormatInt(key.integration, 10))
	switch {
	case err != nil:
		return t, err
	case !found || !i.IsWebhook() || i.Settings == nil:
		return target{why: "the integration is gone", gone: true}, nil
	case i.Status != "enabled":
		return target{why: "the integration is disabled"}, nil
	}
	if t.closed = integration.Kind.Open(r.Keyring, key.account, &i); t.closed == nil {
		t.settings = i.Settings
	}
	return t, nil
}

// hold keeps an endpoint from being called for a while.
func hold(tx *db.Tx, e endpointKey, until time.Time) error {
	_, err := tx.Exec(`UPDATE webhook_endpoint SET held_until = $3 WHERE account_id = $1 AND integration_id = $2`, e.account, e.integration, until.UnixMilli())
	return err
}

// answers are how some attempts at an endpoint went, in their order.
type answers struct {
	healed   bool  // one of them succeeded
	failures int64 // that came after it
}

func (a *answers) add(took bool) {
	if a.failures++; took {
		*a = answers{healed: true}
	}
}

// store counts them; held reports whether the endpoint is held now.
func (a *answers) store(tx *db.Tx, e endpointKey, now time.Time) (held bool, err error) {
	failures, _, err := db.One(tx, db.Column[int64], `UPDATE webhook_endpoint SET failures = CASE WHEN $3 = 1 THEN 0 ELSE failures END + $4,
			held_until = CASE WHEN CASE WHEN $3 = 1 THEN 0 ELSE failures END + $4 >= $5 THEN $6 WHEN $3 = 1 THEN 0 ELSE held_until END
		WHERE account_id = $1 AND integration_id = $2 RETURNING failures`, e.account, e.integration, a.healed, a.failures, attemptTimeout, now.Add(probe).UnixMilli())
	return failures >= attemptTimeout, err
}
