package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/activity"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/delivery"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/sender"
)

const (
	maxFlying   = 64               // attempts running at once, not counting the first of each queue
	maxPerQueue = 8                // of them in one queue, so that one that hangs leaves slots for others
	maxFirst    = 4 * maxFlying    // attempts running at once, of all queues
	timeout     = 15 * time.Second // for one attempt
	lease       = 2 * time.Minute  // after which an attempt counts as lost with its process
	maxAttempts = 10               // after which a notification has failed for good
)

// backoff bounds the time between two attempts; it doubles with each.
var backoff = jobs.Backoff{Min: 4 * time.Second, Max: 10 * time.Minute}

// retryDelay returns how long to wait after an attempt that failed, with jitter.
func retryDelay(attempts int64) time.Duration {
	return backoff.Wait(2*time.Second<<min(attempts, 10), rand.Float64())
}

// attempt is one try to send a notification.
type attempt struct {
	Notification
	target, detail string // as they are stored
}

// outcome is the result of an attempt that returned no error, or why none was made.
type outcome struct {
	receipt   sender.Receipt
	cancelled string // why the notification is stale
	failed    string // why it cannot be sent at all
	unmade    error  // why its message cannot be built
}

// store implements delivery's store of rows: a queue for each value of the column lane.
type store struct{ *Service }

// queues steps from queue to queue along the index, so that it does not read the rows that wait in them.
const queues = `WITH RECURSIVE waiting(lane) AS (
		SELECT min(lane) FROM notice WHERE settled_at = 0
		UNION ALL SELECT (SELECT min(n.lane) FROM notice n WHERE n.settled_at = 0 AND n.lane > waiting.lane)
		FROM waiting WHERE waiting.lane IS NOT NULL)
	SELECT lane, due FROM (
		SELECT lane, (SELECT min(n.due_at) FROM notice n WHERE n.settled_at = 0 AND n.lane = waiting.lane) AS due
		FROM waiting WHERE lane IS NOT NULL) AS q
	ORDER BY due`

// Queues returns the queues with waiting notifications, the one that is due first at the front.
func (s store) Queues(tx *db.Tx, _ time.Time) ([]delivery.Queue[string], error) {
	return db.All(tx, func(scan db.Scan) (q delivery.Queue[string], err error) {
		var due int64
		err = scan(&q.Key, &due)
		q.Due, q.Slots = time.UnixMilli(due), maxPerQueue
		return q, err
	}, queues)
}

const claim = `UPDATE notice SET status = 'sending', attempts = attempts + 1, due_at = $4 WHERE (account_id, notice_id) IN (
		SELECT account_id, notice_id FROM notice WHERE settled_at = 0 AND lane = $1 AND due_at <= $2 ORDER BY due_at LIMIT $3 + 0)
	RETURNING account_id, ` + columns

// Claim marks up to n notifications of a queue as being sent and returns them. Its lease passes: if the process ends,
// they are due again.
func (s store) Claim(tx *db.Tx, queue string, n int, now time.Time) ([]*attempt, error) {
	all, err := db.All(tx, func(scan db.Scan) (*attempt, error) {
		f := &attempt{}
		var err error
		f.Notification, f.target, f.detail, err = scanStored(scan)
		return f, err
	}, claim, queue, now.UnixMilli(), n, now.Add(lease).UnixMilli())
	slices.SortFunc(all, func(a, b *attempt) int { return cmp.Compare(a.ID, b.ID) }) // RETURNING has no order
	return all, err
}

// Attempt checks whether the notification is still needed, builds the message from the present state and sends it.
func (s store) Attempt(ctx context.Context, f *attempt) (o outcome, err error) {
	if f.Attempts > maxAttempts { // the last attempt was lost with its process
		return outcome{failed: fmt.Sprintf("%d attempts had no result", maxAttempts)}, nil
	}
	m, o := s.prepare(ctx, f)
	if o != (outcome{}) {
		return o, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	o.receipt, err = s.Deliver(ctx, f.Method, f.Address, m)
	return o, err
}

// prepare builds the message and opens the address. The outcome holds why there is no message to send.
func (s store) prepare(ctx context.Context, f *attempt) (m sender.Message, o outcome) {
	err := json.Unmarshal([]byte(f.detail), &f.Detail)
	if err == nil {
		m, o.cancelled, err = s.message(ctx, &f.Notification, s.Clock.Now())
	}
	if err != nil {
		return m, outcome{unmade: err}
	}
	if o.cancelled == "" {
		if err := s.opened(&f.Notification, f.target); err != nil {
			o.cancelled = Closed(err)
		}
	}
	return m, o
}

// Record stores the results of some attempts.
func (s store) Record(tx *db.Tx, results []delivery.Result[*attempt, outcome]) error {
	for _, res := range results {
		if err := s.record(tx, res.Row, res.Outcome, res.Err, res.Ended); err != nil {
			return err
		}
	}
	return nil
}

// record stores the result of one attempt: sent, failed for good, cancelled, or due again later.
func (r *Service) record(tx *db.Tx, f *attempt, o outcome, err error, now time.Time) error {
	log := r.Log.With("notice_id", f.ID, "method", f.Method, "attempt", f.Attempts, "incident_id", f.Incident, "person_id", f.Person)
	var failure *sender.Error
	switch {
	case o.cancelled != "" || o.failed != "":
		if _, err := tx.Exec(`UPDATE notice SET attempts = attempts - 1 WHERE account_id = $1 AND notice_id = $2 AND settled_at = 0`,
			f.Account, f.ID); err != nil {
			return err
		}
		if o.failed != "" {
			return r.settle(tx, &f.Notification, Failed, o.failed, now)
		}
		return r.settle(tx, &f.Notification, Cancelled, o.cancelled, now)
	case o.unmade != nil:
		log.Error("the message of a notification cannot be built", "account_id", f.Account, "error", o.unmade)
		failure = &sender.Error{Retry: true, Message: "its message cannot be built; the server's log has the error"}
	case err == nil:
		tx.OnCommit(func() {
			r.waited.Observe(now.Sub(time.UnixMilli(f.Created)).Seconds())
			log.Info("notification sent")
		})
		return r.settle(tx, &f.Notification, Sent, cmp.Or(o.receipt.ID, o.receipt.Reply), now)
	case !errors.As(err, &failure):
		failure = &sender.Error{Retry: true, Message: err.Error()}
	}
	tx.OnCommit(func() { log.Warn("notification not sent", "error", failure) })
	if !failure.Retry || f.Attempts >= maxAttempts {
		return r.settle(tx, &f.Notification, Failed, failure.Message, now)
	}
	// Only for the attempt that still has the lease: another may have started since it expired.
	due := now.Add(max(retryDelay(f.Attempts), failure.After))
	_, err = tx.Exec(`UPDATE notice SET status = 'waiting', due_at = $3, outcome = $4
		WHERE account_id = $1 AND notice_id = $2 AND settled_at = 0 AND attempts = $5`,
		f.Account, f.ID, due.UnixMilli(), failure.Message, f.Attempts)
	return err
}

// settle stores the final status of a notification and publishes it to the incident's feed. Cancelled ones are not
// published: they were not sent to any target.
func (r *Service) settle(tx *db.Tx, n *Notification, status, outcome string, now time.Time) error {
	changed, err := tx.Exec(`UPDATE notice SET status = $3, settled_at = $4, outcome = $5
		WHERE account_id = $1 AND notice_id = $2 AND settled_at = 0`,
		n.Account, n.ID, status, now.UnixMilli(), outcome)
	if err != nil || changed == 0 {
		return err
	}
	tx.OnCommit(func() { r.settled.WithLabelValues(kindOf(n.Method), status).Inc() })
	if n.Incident == "" || status == Cancelled {
		return nil
	}
	failed := ""
	if status == Failed {
		failed = outcome
	}
	e := activity.Notified{
		RID:              n.ID,
		By:               n.Method,
		LayerIdx:         int64(n.Detail.Layer),
		EscalateRuleID:   n.Detail.Rule,
		EscalateRuleName: n.Detail.RuleName,
		FireType:         "fire",
	}
	if n.Detail.Repeat > 0 {
		e.FireType = "refire"
	}
	if n.Person != 0 {
		e.Persons = []activity.Target{{PersonID: n.Person, FailedReason: failed}}
	} else {
		e.Robots = []activity.Target{{Alias: n.alias(), FailedReason: failed}}
	}
	return r.Bus.Publish(tx, activity.Item{Account: n.Account, ID: n.Incident, At: now, Event: e})
}

// alias returns a name for the chat or address of a notification that reveals no secret.
func (n *Notification) alias() string {
	switch c := n.Address.Chat; {
	case c != nil && c.Alias != "":
		return n.Method + " " + c.Alias
	case n.Method == "email":
		return n.Address.To
	}
	return n.Queue
}
