package webhook

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/core/sentence"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/delivery"
	"tocsin/internal/platform/redact"
)

const (
	maxAloft = 256              // attempts running at once at all endpoints, not counting the first of each
	maxFirst = 4 * maxAloft     // attempts running at once, of all endpoints
	timeout  = 2 * time.Second  // for one attempt
	grace    = 5 * time.Second  // for the running attempts when the program stops
	lease    = 30 * time.Second // after which an attempt counts as lost with its process
)

// attempt is one try to deliver a message.
type attempt struct {
	message
	integration.Settings // secrets in clear
}

// store implements delivery's store of rows: a queue for each endpoint.
type store struct{ *Service }

// Queues returns the endpoints for which messages wait, those with the fewest failures first.
func (s store) Queues(tx *db.Tx, _ time.Time) ([]delivery.Queue[endpointKey], error) {
	all, err := db.All(tx, scanEndpoint, queues)
	waiting := make([]delivery.Queue[endpointKey], 0, len(all))
	for _, e := range all {
		if e.due > 0 {
			due := time.UnixMilli(max(e.due, e.held))
			waiting = append(waiting, delivery.Queue[endpointKey]{Key: e.endpointKey, Due: due, Slots: e.slots()})
		}
	}
	return waiting, err
}

const queues = `SELECT account_id, integration_id, failures, held_until,
		(SELECT coalesce(min(m.due_at), 0) FROM webhook_message m
		WHERE m.account_id = e.account_id AND m.integration_id = e.integration_id AND m.settled_at = 0)
	FROM webhook_endpoint e ORDER BY failures, account_id, integration_id`

func scanEndpoint(scan db.Scan) (e endpoint, err error) {
	return e, scan(&e.account, &e.integration, &e.failures, &e.held, &e.due)
}

const claim = `UPDATE webhook_message SET status = 'sending', attempts = attempts + 1, due_at = $5 WHERE account_id = $1 AND message_id IN (
		SELECT message_id FROM webhook_message WHERE account_id = $1 AND integration_id = $2 AND settled_at = 0 AND due_at <= $3
		ORDER BY due_at, number LIMIT $4 + 0)
	RETURNING ` + messageColumns

// Claim marks up to n messages of an endpoint as being sent and returns them. An endpoint that fails is held until the
// next probe, whatever the result of this one.
func (s store) Claim(tx *db.Tx, key endpointKey, n int, now time.Time) ([]*attempt, error) {
	all, err := db.All(tx, func(scan db.Scan) (*attempt, error) {
		m, err := scanMessage(scan)
		return &attempt{message: m}, err
	}, claim, key.account, key.integration, now.UnixMilli(), n, now.Add(lease).UnixMilli())
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *attempt) int { return cmp.Compare(a.number, b.number) }) // RETURNING has no order
	_, err = tx.Exec(`UPDATE webhook_endpoint SET held_until = $3 WHERE account_id = $1 AND integration_id = $2 AND failures >= $4`,
		key.account, key.integration, now.Add(probe).UnixMilli(), maxFailures)
	return all, err
}

// target is where the messages of an endpoint go.
type target struct {
	settings *integration.Settings // nil: the endpoint must not be called
	why      string                // the reason
	endpoint string                // without secrets; empty: the integration was deleted
	deleted  bool
	closed   error // its secrets cannot be opened; the key may come back
}

// target returns the integration of an endpoint as it is now.
func (r *Service) target(tx *db.Tx, key endpointKey) (t target, err error) {
	i, found, err := integration.Kind.Find(tx, key.account, strconv.FormatInt(key.integration, 10))
	switch {
	case err != nil:
		return t, err
	case !found || !i.IsWebhook() || i.Settings == nil:
		return target{why: sentence.Of("integration_deleted"), deleted: true}, nil
	case i.Status != "enabled":
		why, err := disabledBecause(tx, key)
		return target{why: why, endpoint: redact.URL(i.Settings.Endpoint)}, err
	}
	if t.closed = integration.Kind.Open(r.Keyring, key.account, &i); t.closed == nil {
		t.settings = i.Settings
	}
	return t, nil
}

// disabledBecause returns why nothing is sent to the endpoint of a disabled webhook.
func disabledBecause(tx *db.Tx, key endpointKey) (string, error) {
	reported, _, err := db.One(tx, db.Column[string], `SELECT reported FROM webhook_endpoint WHERE account_id = $1 AND integration_id = $2`,
		key.account, key.integration)
	if reported == Gone {
		return sentence.Of("answered_gone"), err
	}
	return sentence.Of("integration_disabled"), err
}

// hold stops attempts at an endpoint until a moment.
func hold(tx *db.Tx, e endpointKey, until time.Time) error {
	_, err := tx.Exec(`UPDATE webhook_endpoint SET held_until = $3 WHERE account_id = $1 AND integration_id = $2`,
		e.account, e.integration, until.UnixMilli())
	return err
}

// answers sums up the results of some attempts at an endpoint, in order.
type answers struct {
	recovered bool   // one of them succeeded
	failures  int64  // after that one
	why       string // the last of these
}

// add adds the next result; why is empty if the message was delivered.
func (a *answers) add(why string) {
	if a.failures, a.why = a.failures+1, why; why == "" {
		*a = answers{recovered: true}
	}
}

// store updates the endpoint's number of failures in a row. held reports whether the endpoint is held now.
func (a *answers) store(tx *db.Tx, e endpointKey, now time.Time) (t trouble, held bool, err error) {
	var failures int64
	t, _, err = db.One(tx, func(scan db.Scan) (t trouble, err error) {
		t.endpointKey = e
		return t, scan(&failures, &t.since, &t.reported)
	}, `UPDATE webhook_endpoint SET failures = CASE WHEN $3 = 1 THEN 0 ELSE failures END + $4,
			held_until = CASE WHEN CASE WHEN $3 = 1 THEN 0 ELSE failures END + $4 >= $5 THEN $6 WHEN $3 = 1 THEN 0 ELSE held_until END,
			failing_since = CASE WHEN $4 = 0 THEN 0 WHEN $3 = 1 OR failing_since = 0 THEN $7 ELSE failing_since END
		WHERE account_id = $1 AND integration_id = $2 RETURNING failures, failing_since, reported`,
		e.account, e.integration, a.recovered, a.failures, maxFailures, now.Add(probe).UnixMilli(), now.UnixMilli())
	return t, failures >= maxFailures, err
}
