package webhook

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/core/sentence"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/delivery"
	"tocsin/internal/platform/redact"
)

const (
	maxRunning = 256              // attempts running at once at all endpoints, not counting the first of each
	maxFirst   = 4 * maxRunning   // attempts running at once, of all endpoints
	timeout    = 2 * time.Second  // for one attempt
	slack      = 3 * time.Second  // to begin an attempt and to record it
	grace      = 5 * time.Second  // for the running attempts when the program stops
	lease      = 30 * time.Second // after which an attempt counts as lost with its process
)

// attempt is one try to deliver a message.
type attempt struct {
	message
	integration.Settings // secrets in clear

	revision int64 // of the account's configuration when it was claimed
	lost     bool  // the attempt before it left no result within its lease
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

// queues finds the endpoints of the accounts for which messages wait.
var queues = db.Ahead(`FROM webhook_message WHERE settled_at = 0`) + `
	SELECT e.account_id, integration_id, failures, held_until,
		(SELECT coalesce(min(m.due_at), 0) FROM webhook_message m
		WHERE m.account_id = e.account_id AND m.integration_id = e.integration_id AND m.settled_at = 0)
	FROM ahead JOIN webhook_endpoint e ON e.account_id = ahead.account_id ORDER BY failures, e.account_id, integration_id`

func scanEndpoint(scan db.Scan) (e endpoint, err error) {
	return e, scan(&e.account, &e.integration, &e.failures, &e.held, &e.due)
}

const (
	underWay = `SELECT account_id, integration_id, count(*) FROM webhook_message WHERE status = 'sending' AND due_at > $1
		GROUP BY account_id, integration_id`

	underWayAt = `SELECT account_id, integration_id, count(*) FROM webhook_message
		WHERE status = 'sending' AND account_id = $2 AND due_at > $1 GROUP BY account_id, integration_id`
)

func scanUnderWay(scan db.Scan) (u delivery.UnderWay[endpointKey], err error) {
	return u, scan(&u.Key.account, &u.Key.integration, &u.Attempts)
}

// UnderWay counts the messages that are being sent. An attempt ends within its timeout; when it was claimed longer ago,
// its process has ended or is frozen.
func (s store) UnderWay(tx *db.Tx, now time.Time) ([]delivery.UnderWay[endpointKey], error) {
	return db.All(tx, scanUnderWay, underWay, begunAfter(now))
}

// UnderWayAt counts those of an account: accounts share no endpoint.
func (s store) UnderWayAt(tx *db.Tx, account int64, _ string, now time.Time) ([]delivery.UnderWay[endpointKey], error) {
	return db.All(tx, scanUnderWay, underWayAt, begunAfter(now), account)
}

// begunAfter returns after which moment the lease ends of an attempt that may be in progress, Unix milliseconds.
func begunAfter(now time.Time) int64 { return now.Add(lease - timeout - slack).UnixMilli() }

// Account returns whose endpoint it is.
func (s store) Account(queue endpointKey) int64 { return queue.account }

// Lost reports whether the message was being sent when it was claimed again.
func (s store) Lost(f *attempt) bool { return f.lost }

// Frees reports whether the endpoint may be called again before the result is recorded: one that fails is called less often.
func (s store) Frees(o outcome) bool { return o.status == delivered }

// noResult is the outcome of a message that is claimed again because the attempt before left none.
const noResult = "an attempt left no result"

// claim reads the endpoint again: another process may have got an answer since the queues were read, or probes it.
const claim = `UPDATE webhook_message SET status = 'sending', attempts = attempts + 1, due_at = $5,
		outcome = CASE WHEN status = 'sending' THEN $6 ELSE outcome END
	WHERE account_id = $1 AND message_id IN (
		SELECT message_id FROM webhook_message WHERE account_id = $1 AND integration_id = $2 AND settled_at = 0 AND due_at <= $3
		ORDER BY due_at, number LIMIT (
			SELECT coalesce(max(CASE WHEN held_until > $3 THEN 0 WHEN failures >= $7 THEN 1 ELSE $4 END), 0) FROM webhook_endpoint
			WHERE account_id = $1 AND integration_id = $2))
	RETURNING ` + messageColumns + `, outcome,
		(SELECT e.failures FROM webhook_endpoint e WHERE e.account_id = $1 AND e.integration_id = $2),
		(` + configstore.RevisionQuery + `)`

// Claim marks up to n messages of an endpoint as being sent and returns them: none while it is held, and one if it fails.
// An endpoint that fails is held until the next probe, whatever the result of this one.
func (s store) Claim(tx *db.Tx, key endpointKey, n int, now time.Time) (all []*attempt, err error) {
	failures := int64(0)
	all, err = db.All(tx, func(scan db.Scan) (_ *attempt, err error) {
		a, outcome := &attempt{}, ""
		a.message, err = scanMessage(func(dest ...any) error { return scan(append(dest, &outcome, &failures, &a.revision)...) })
		a.lost = outcome == noResult
		return a, err
	}, claim, key.account, key.integration, now.UnixMilli(), n, now.Add(lease).UnixMilli(), noResult, maxFailures)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *attempt) int { return cmp.Compare(a.number, b.number) }) // RETURNING has no order
	if failures >= maxFailures {
		err = hold(tx, key, now.Add(probe))
	}
	return all, err
}

// target is where the messages of an endpoint go.
type target struct {
	settings *integration.Settings // nil: the endpoint must not be called
	why      sentence.Value        // the reason
	endpoint string                // without secrets; empty: the integration was deleted
	deleted  bool
	closed   error // its secrets cannot be opened; the key may come back
}

// cachedTarget is the key of an integration, with its secrets sealed, in the account's cache.
type cachedTarget struct{ integration int64 }

// target returns the integration of an endpoint as it is now.
func (r *Service) target(tx *db.Tx, key endpointKey) (t target, err error) {
	i, found, err := configstore.Kept(tx, key.account, cachedTarget{key.integration}, func() (integration.Integration, bool, error) {
		return integration.Kind.Find(tx, key.account, strconv.FormatInt(key.integration, 10))
	})
	switch {
	case err != nil:
		return t, err
	case !found || !i.IsWebhook() || i.Settings == nil:
		return target{why: sentence.New("integration_deleted"), deleted: true}, nil
	case i.Status != "enabled":
		why, err := disabledBecause(tx, key)
		return target{why: why, endpoint: redact.URL(i.Settings.Endpoint)}, err
	}
	settings := *i.Settings // what is cached must not change
	settings.Headers, i.Settings = maps.Clone(settings.Headers), &settings
	t.closed = integration.Kind.Open(r.Keyring, key.account, &i)
	if t.closed == nil {
		t.settings = i.Settings
	}
	return t, nil
}

// disabledBecause returns why nothing is sent to the endpoint of a disabled webhook.
func disabledBecause(tx *db.Tx, key endpointKey) (sentence.Value, error) {
	reported, _, err := db.One(tx, db.Column[string], `SELECT reported FROM webhook_endpoint WHERE account_id = $1 AND integration_id = $2`,
		key.account, key.integration)
	if reported == Gone {
		return sentence.New("answered_gone"), err
	}
	return sentence.New("integration_disabled"), err
}

// hold stops attempts at an endpoint until a moment.
func hold(tx *db.Tx, e endpointKey, until time.Time) error {
	return tx.Do(`UPDATE webhook_endpoint SET held_until = $3 WHERE account_id = $1 AND integration_id = $2`,
		e.account, e.integration, until.UnixMilli())
}

// answers sums up the results of some attempts at an endpoint, in order.
type answers struct {
	recovered bool           // one of them succeeded
	failures  int64          // after that one
	why       sentence.Value // the last of these
}

// add adds the next result; why is empty if the message was delivered.
func (a *answers) add(why sentence.Value) {
	a.failures, a.why = a.failures+1, why
	if why == "" {
		*a = answers{recovered: true}
	}
}

// store updates the endpoint's number of failures in a row. held reports whether the endpoint is held now.
func (e *answered) store(tx *db.Tx, now time.Time) (held bool, err error) {
	failures := e.failures
	if !e.recovered {
		failures += e.before
	}
	switch {
	case e.failures == 0:
		e.since = 0
	case e.recovered || e.since == 0:
		e.since = now.UnixMilli()
	}
	held = failures >= maxFailures
	return held, tx.Do(`UPDATE webhook_endpoint SET failures = $3, failing_since = $4,
			held_until = CASE WHEN $5 THEN $6 WHEN $7 THEN 0 ELSE held_until END WHERE account_id = $1 AND integration_id = $2`,
		e.account, e.integration, failures, e.since, held, now.Add(probe).UnixMilli(), e.recovered)
}
