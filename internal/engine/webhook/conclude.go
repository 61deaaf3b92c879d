package webhook

import (
	"slices"
	"time"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/delivery"
	"tocsin/internal/platform/egress"
)

// recording collects the results of some attempts of an account to be stored together: history, counts and endpoints are
// written once for many attempts. What it depends on is read at its beginning.
type recording struct {
	*Service
	account    int64
	sending    map[string]int64    // messages that are being sent, and how many attempts of them were begun
	endpoints  map[int64]*answered // by integration
	order      []*answered         // those with results
	deliveries []Delivery
	exchanges  []exchange // beside each of them
}

// answered is an endpoint with the results of some attempts.
type answered struct {
	trouble
	answers
	before    int64  // failures in a row before them
	url       string // without secrets
	cancelled bool
	gone      *delivery.Result[*attempt, outcome] // the answer that the endpoint is gone for good
}

// Record stores attempts, makes their messages due again or ends them, and updates the state of the endpoints.
func (s store) Record(tx *db.Tx, results []delivery.Result[*attempt, outcome]) error {
	b, err := s.newRecording(tx, results)
	if err != nil {
		return err
	}
	for i := range results {
		if err := b.add(tx, &results[i]); err != nil {
			return err
		}
	}
	now := results[len(results)-1].Ended
	for _, e := range b.order {
		if err := b.endpoint(tx, e, now); err != nil {
			return err
		}
	}
	return record(tx, b.account, b.deliveries, b.exchanges)
}

func (s store) newRecording(tx *db.Tx, results []delivery.Result[*attempt, outcome]) (*recording, error) {
	b := &recording{Service: s.Service, account: results[0].Row.account, sending: map[string]int64{}, endpoints: map[int64]*answered{}}
	ids := make([]string, len(results))
	for i := range results {
		ids[i] = results[i].Row.id
	}
	_, err := db.All(tx, func(scan db.Scan) (id string, err error) {
		e, attempts := &answered{}, int64(0)
		err = scan(&id, &attempts, &e.integration, &e.before, &e.since, &e.reported)
		e.account = b.account
		b.sending[id] = attempts
		if b.endpoints[e.integration] == nil {
			b.endpoints[e.integration] = e
		}
		return id, err
	}, beingSent, b.account, db.JSON(ids))
	return b, err
}

const beingSent = `SELECT m.message_id, m.attempts, m.integration_id, coalesce(e.failures, 0), coalesce(e.failing_since, 0),
		coalesce(e.reported, '')
	FROM webhook_message m LEFT JOIN webhook_endpoint e ON e.account_id = m.account_id AND e.integration_id = m.integration_id
	WHERE m.account_id = $1 AND m.message_id IN (SELECT value FROM json_each($2)) AND m.status = 'sending' AND m.settled_at = 0`

// endpoint updates the state of an endpoint after its attempts.
func (b *recording) endpoint(tx *db.Tx, e *answered, now time.Time) error {
	held, err := e.store(tx, now)
	if err != nil {
		return err
	}
	if err := b.attempted(tx, e.trouble, e.recovered, e.why, now); err != nil {
		return err
	}
	switch {
	case e.gone != nil:
		return b.disable(tx, e.gone.Row, e.gone.Outcome.why, now)
	case held:
		return b.giveUp(tx, e.endpointKey, e.url, now)
	}
	return nil
}

// add stores the result of one attempt.
func (b *recording) add(tx *db.Tx, res *delivery.Result[*attempt, outcome]) error {
	f, o := res.Row, res.Outcome
	held := b.sending[f.id] == f.attempts // else the attempt has lost its lease to another one, or the message has ended
	switch {
	case o.closed != nil: // the key may come back; other endpoints must not wait for it
		b.Log.Error("a webhook cannot be called", "integration_id", f.integration, "account_id", f.account, "error", o.closed)
		if !held {
			return nil
		}
		delete(b.sending, f.id)
		if err := f.unclaim(tx, res.Ended); err != nil {
			return err
		}
		return hold(tx, f.key(), res.Ended.Add(probe))
	case o.cancelled != "":
		return b.cancel(tx, f, o, held, res.Ended)
	case res.Err != nil:
		o.conclusion = classify(egress.Attempt{}, &egress.Failure{Phase: egress.Other, Why: sentence.Raw(res.Err.Error())}, res.Ended)
		o.exchange = exchange{messageID: f.id, requestHeaders: "{}", errorMessage: o.why, responseHeaders: "{}"}
	}
	if held {
		delete(b.sending, f.id)
		if err := b.conclude(tx, f, o.conclusion, res.Ended); err != nil {
			return err
		}
	}
	if f.attemptID == "" || !held { // else the id was promised by a replay; if the lease was lost, to the other attempt
		f.attemptID = attemptID(res.Began)
	}
	d := f.delivery(o.endpoint, res.Began)
	d.Duration, d.StatusCode = o.took.Milliseconds(), int64(o.statusCode)
	if o.status == delivered {
		d.Status = "success"
	}
	b.history(d, o.exchange)
	tx.OnCommit(func() { b.attemptRecorded(&f.message) })
	tx.OnCommit(b.attempts.WithLabelValues(d.WebhookType, d.Status).Inc)
	if held {
		b.answered(res, o)
	} else { // what the endpoint answers now is known by the other attempt
		b.runner.Late(tx)
	}
	log := b.Log.With("event_id", f.id, "event_type", f.eventType, "integration_id", f.integration, "attempt", f.attempts,
		"status_code", o.statusCode, "late", !held)
	tx.OnCommit(func() {
		if o.status == delivered {
			log.Info("webhook delivered")
		} else {
			log.Warn("webhook not delivered", "error", o.why.English())
		}
	})
	return nil
}

// conclude makes a message due again or ends it.
func (b *recording) conclude(tx *db.Tx, f *attempt, v conclusion, now time.Time) error {
	if due, ok := next(v, time.UnixMilli(f.started), now, b.spread()); ok {
		return f.wait(tx, due, v.why)
	}
	if v.status == waiting {
		v.status, v.why = failed, sentence.New("given_up", v.why)
	}
	tx.OnCommit(b.settled.WithLabelValues(f.webhookType, v.status).Inc)
	return f.settle(tx, v.status, v.why, now)
}

// history adds an attempt to the history.
func (b *recording) history(d Delivery, x exchange) {
	b.deliveries, b.exchanges = append(b.deliveries, d), append(b.exchanges, x)
}

// answered adds an attempt to the state of its endpoint.
func (b *recording) answered(res *delivery.Result[*attempt, outcome], o outcome) {
	e := b.endpoints[res.Row.integration]
	if !slices.Contains(b.order, e) {
		b.order = append(b.order, e)
	}
	e.add(o.why)
	if o.endpoint != "" {
		e.url = o.endpoint
	}
	if o.gone {
		e.gone = res
	}
}

// cancel cancels the messages of an endpoint that must not be called any more. Each gets a record in the history. If the
// webhook was enabled since the attempt read it, its message is sent after all.
func (b *recording) cancel(tx *db.Tx, f *attempt, o outcome, held bool, now time.Time) error {
	key := f.key()
	if !held || b.endpoints[f.integration].cancelled {
		return nil
	}
	if is, err := b.target(tx, key); err != nil || is.why == "" {
		if err == nil {
			delete(b.sending, f.id)
			err = f.unclaim(tx, now)
		}
		return err
	}
	b.endpoints[f.integration].cancelled = true
	all, err := cancelSome(tx, key, o.cancelled, now)
	if err != nil {
		return err
	}
	for i := range all {
		delete(b.sending, all[i].id)
		b.ended(&all[i], o.endpoint, sentence.New("not_sent", o.cancelled), now)
	}
	if len(all) == maxCancelled || !o.deleted { // the others are cancelled when they are claimed
		return nil
	}
	if err := b.report(tx, key, Failing, "", now); err != nil {
		return err
	}
	if err := b.report(tx, key, Gone, "", now); err != nil {
		return err
	}
	b.endpoints[key.integration].trouble = trouble{endpointKey: key}
	return tx.Do(`DELETE FROM webhook_endpoint WHERE account_id = $1 AND integration_id = $2`, key.account, key.integration)
}

// ended adds a message to the history that ended without another attempt, so that it is found and can be replayed.
func (b *recording) ended(m *message, endpoint string, why sentence.Value, now time.Time) {
	if m.attemptID == "" {
		m.attemptID = attemptID(now)
	}
	b.history(m.delivery(endpoint, now), exchange{messageID: m.id, requestHeaders: "{}", errorMessage: why, responseHeaders: "{}"})
}

// giveUp fails the messages to a held endpoint that are older than a day. Each gets a record in the history.
func (b *recording) giveUp(tx *db.Tx, e endpointKey, url string, now time.Time) error {
	old, err := db.All(tx, scanMessage, oldOnes, e.account, e.integration, now.Add(-maxAge).UnixMilli())
	if err != nil {
		return err
	}
	why := sentence.New("given_up", sentence.New("none_accepted"))
	for i := range old {
		m := &old[i]
		if err := m.settle(tx, failed, why, now); err != nil {
			return err
		}
		b.ended(m, url, why, now)
		tx.OnCommit(b.settled.WithLabelValues(m.webhookType, failed).Inc)
	}
	return nil
}

const oldOnes = `SELECT ` + messageColumns + ` FROM webhook_message
	WHERE account_id = $1 AND integration_id = $2 AND settled_at = 0 AND status = 'waiting' AND started_at <= $3 ORDER BY started_at LIMIT 100`
