package webhook

import (
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/delivery"
	"tocsin/internal/platform/egress"
)

// recording collects the results of some attempts to be stored together: history, counts and endpoints are written once
// for many attempts.
type recording struct {
	*Service
	deliveries map[int64][]Delivery // by account
	exchanges  map[int64][]exchange // beside each of them
	answers    map[endpointKey]*answers
	cancelled  map[endpointKey]bool
	gone       map[endpointKey]*delivery.Result[*attempt, outcome] // the answer that the endpoint is gone for good
	order      []endpointKey
	endpoints  map[endpointKey]string // without secrets
}

// Record stores attempts, makes their messages due again or ends them, and updates the state of the endpoints.
func (s store) Record(tx *db.Tx, results []delivery.Result[*attempt, outcome]) error {
	b := &recording{
		Service:    s.Service,
		deliveries: map[int64][]Delivery{},
		exchanges:  map[int64][]exchange{},
		answers:    map[endpointKey]*answers{},
		cancelled:  map[endpointKey]bool{},
		gone:       map[endpointKey]*delivery.Result[*attempt, outcome]{},
		endpoints:  map[endpointKey]string{},
	}
	for i := range results {
		if err := b.add(tx, &results[i]); err != nil {
			return err
		}
	}
	now := results[len(results)-1].Ended
	for _, key := range b.order {
		if err := b.endpoint(tx, key, now); err != nil {
			return err
		}
	}
	for account, deliveries := range b.deliveries {
		if err := record(tx, account, deliveries, b.exchanges[account]); err != nil {
			return err
		}
	}
	return nil
}

// endpoint updates the state of an endpoint after its attempts.
func (b *recording) endpoint(tx *db.Tx, key endpointKey, now time.Time) error {
	a := b.answers[key]
	t, held, err := a.store(tx, key, now)
	if err != nil {
		return err
	}
	if err := b.attempted(tx, t, a.recovered, a.why, now); err != nil {
		return err
	}
	if res := b.gone[key]; res != nil {
		return b.disable(tx, res.Row, res.Outcome.why, now)
	}
	if held {
		return b.giveUp(tx, key, b.endpoints[key], now)
	}
	return nil
}

// add stores the result of one attempt.
func (b *recording) add(tx *db.Tx, res *delivery.Result[*attempt, outcome]) error {
	f, o, key := res.Row, res.Outcome, res.Row.key()
	switch {
	case o.closed != nil: // the key may come back; other endpoints must not wait for it
		b.Log.Error("a webhook cannot be called", "integration_id", key.integration, "account_id", key.account, "error", o.closed)
		if err := hold(tx, key, res.Ended.Add(probe)); err != nil {
			return err
		}
		return f.unclaim(tx, res.Ended)
	case o.cancelled != "":
		return b.cancel(tx, key, o, res.Ended)
	case res.Err != nil:
		o.conclusion = classify(egress.Attempt{}, &egress.Failure{Phase: egress.Other, Message: res.Err.Error()}, res.Ended)
		o.exchange = exchange{messageID: f.id, requestHeaders: "{}", errorMessage: o.why, responseHeaders: "{}"}
	}
	held, err := b.conclude(tx, f, o.conclusion, res.Ended)
	if err != nil {
		return err
	}
	if f.attemptID == "" || !held { // else the id was promised by a replay; if the lease was lost, to the other attempt
		f.attemptID = attemptID(res.Began)
	}
	d := f.delivery(o.endpoint, res.Began)
	d.Duration, d.StatusCode = o.took.Milliseconds(), int64(o.statusCode)
	if o.status == delivered {
		d.Status = "success"
	}
	b.history(f.account, d, o.exchange)
	tx.OnCommit(func() { b.attemptRecorded(&f.message) })
	tx.OnCommit(b.attempts.WithLabelValues(d.WebhookType, d.Status).Inc)
	b.answered(key, o)
	if o.gone {
		b.gone[key] = res
	}
	log := b.Log.With("event_id", f.id, "event_type", f.eventType, "integration_id", key.integration, "attempt", f.attempts,
		"status_code", o.statusCode)
	tx.OnCommit(func() {
		if o.status == delivered {
			log.Info("webhook delivered")
		} else {
			log.Warn("webhook not delivered", "error", o.why)
		}
	})
	return nil
}

// conclude makes a message due again or ends it. held is false when the attempt had lost its lease.
func (b *recording) conclude(tx *db.Tx, f *attempt, v conclusion, now time.Time) (held bool, err error) {
	if due, ok := next(v, time.UnixMilli(f.started), now, b.spread()); ok {
		return f.wait(tx, due, v.why)
	}
	if v.status == waiting {
		v.status, v.why = failed, givenUp+v.why
	}
	held, err = f.settle(tx, v.status, v.why, now)
	if held {
		tx.OnCommit(b.settled.WithLabelValues(f.webhookType, v.status).Inc)
	}
	return held, err
}

// history adds an attempt to the history.
func (b *recording) history(account int64, d Delivery, x exchange) {
	b.deliveries[account] = append(b.deliveries[account], d)
	b.exchanges[account] = append(b.exchanges[account], x)
}

// answered adds an attempt to the state of its endpoint.
func (b *recording) answered(key endpointKey, o outcome) {
	if b.answers[key] == nil {
		b.answers[key] = &answers{}
		b.order = append(b.order, key)
	}
	b.answers[key].add(o.why)
	if o.endpoint != "" {
		b.endpoints[key] = o.endpoint
	}
}

// cancel cancels the messages of an endpoint that must not be called any more. Each gets a record in the history.
func (b *recording) cancel(tx *db.Tx, key endpointKey, o outcome, now time.Time) error {
	if b.cancelled[key] {
		return nil
	}
	b.cancelled[key] = true
	all, err := cancelSome(tx, key, o.cancelled, now)
	if err != nil {
		return err
	}
	for i := range all {
		b.ended(&all[i], o.endpoint, "it is not sent: "+o.cancelled, now)
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
	_, err = tx.Exec(`DELETE FROM webhook_endpoint WHERE account_id = $1 AND integration_id = $2`, key.account, key.integration)
	return err
}

// ended adds a message to the history that ended without another attempt, so that it is found and can be replayed.
func (b *recording) ended(m *message, endpoint, why string, now time.Time) {
	if m.attemptID == "" {
		m.attemptID = attemptID(now)
	}
	b.history(m.account, m.delivery(endpoint, now), exchange{messageID: m.id, requestHeaders: "{}", errorMessage: why, responseHeaders: "{}"})
}

// giveUp fails the messages to a held endpoint that are older than a day. Each gets a record in the history.
func (b *recording) giveUp(tx *db.Tx, e endpointKey, url string, now time.Time) error {
	old, err := db.All(tx, scanMessage, oldOnes, e.account, e.integration, now.Add(-maxAge).UnixMilli())
	if err != nil {
		return err
	}
	const why = givenUp + "the endpoint has accepted no message for a long time"
	for i := range old {
		m := &old[i]
		if _, err := m.settle(tx, failed, why, now); err != nil {
			return err
		}
		b.ended(m, url, why, now)
		tx.OnCommit(b.settled.WithLabelValues(m.webhookType, failed).Inc)
	}
	return nil
}

const oldOnes = `SELECT ` + messageColumns + ` FROM webhook_message
	WHERE account_id = $1 AND integration_id = $2 AND settled_at = 0 AND status = 'waiting' AND started_at <= $3 ORDER BY started_at LIMIT 100`

const givenUp = "given up after 24 hours: "
