package notify

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/activity"
	"tocsin/internal/core/sentence"
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
	slack       = 5 * time.Second  // to begin an attempt and to record it
	lease       = 2 * time.Minute  // after which an attempt counts as lost with its process
	maxAttempts = 10               // after which a notification has failed for good
)

// backoff bounds the time between two attempts; it doubles with each.
var backoff = jobs.Backoff{Min: 4 * time.Second, Max: 10 * time.Minute}

// retryDelay returns how long to wait after an attempt that failed, with jitter.
func retryDelay(attempts int64) time.Duration {
	return backoff.Wait(2*time.Second<<min(attempts, 10), rand.Float64())
}

// attempt is one try to send a message. Its Notification is that of its first member.
type attempt struct {
	Notification
	members   []*member
	bundle    string // empty: it is a message about one notification
	recipient string // whose budget it uses; empty: no budget holds
	lost      bool   // the attempt before left no result
	began     time.Time
	shared    int // how many notifications shared the message, once it was sent
}

// message identifies the message among those that a recipient got.
func (f *attempt) message() string { return cmp.Or(f.bundle, f.ID) }

// key returns the key of the message, the same for every attempt.
func (f *attempt) key() string {
	if f.bundle == "" {
		return f.Key
	}
	name := ""
	for _, c := range classes {
		if u := f.members[0].urgency; u >= c.from && u <= c.to {
			name = c.name
		}
	}
	return "bundle/" + name + "/" + f.bundle
}

// outcome is the result of an attempt that returned no error. Each member of the attempt is in one of its lists.
type outcome struct {
	receipt sender.Receipt
	sent    []*member
	ended   []ended
	preset  bool      // the preset's text replaced that of the account's template
	unmade  []*member // no message could be built for them
	problem error     // why
}

// ended is a notification that was not sent and never will be.
type ended struct {
	*member
	status string
	why    sentence.Value
}

// end marks a notification as not sent, for good.
func (o *outcome) end(m *member, status string, why sentence.Value) {
	o.ended = append(o.ended, ended{m, status, why})
}

// Attempt checks whether the notifications are still needed, builds the message from the present state and sends it.
func (s store) Attempt(ctx context.Context, f *attempt) (o outcome, err error) {
	m, to := s.prepare(ctx, f, &o)
	if len(o.sent) == 0 {
		return o, nil
	}
	m.Phone = s.phone(f, o.sent, &m, s.Clock.Now())
	s.once(f, o.sent, &m, s.Clock.Now())
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	o.receipt, err = s.Deliver(ctx, f.Method, to, m)
	return o, err
}

// prepare builds the message and opens the address. It sorts the members into the outcome: sent are those that share
// the message; if there are none, there is no message.
func (s store) prepare(ctx context.Context, f *attempt, o *outcome) (m sender.Message, to Address) {
	for _, n := range f.members {
		if n.Attempts > maxAttempts { // the last attempt was lost with its process
			o.end(n, Failed, sentence.New("no_result", maxAttempts))
		} else if err := json.Unmarshal([]byte(n.detail), &n.Detail); err != nil {
			o.unmade, o.problem = append(o.unmade, n), err
		} else {
			o.sent = append(o.sent, n)
		}
	}
	if len(o.sent) == 0 {
		return m, to
	}
	m, err := s.build(ctx, f, o)
	if err != nil {
		o.unmade = append(o.unmade, o.sent...)
		o.sent = nil
		o.problem = err
		return m, to
	}
	closed := error(nil)
	for _, n := range slices.Backward(o.sent) { // the newest address that can be opened
		closed = s.opened(&n.Notification, n.target)
		if closed == nil {
			return m, n.Address
		}
	}
	for _, n := range o.sent {
		o.end(n, Failed, Closed(closed))
	}
	o.sent = nil
	return m, to
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

// record stores the result of one attempt for each of its notifications.
func (r *Service) record(tx *db.Tx, f *attempt, o outcome, err error, now time.Time) error {
	if panicked := (*delivery.Panic)(nil); errors.As(err, &panicked) {
		o = outcome{sent: f.members}
	}
	if err := r.recordEnded(tx, f, o.ended, now); err != nil {
		return err
	}
	if len(o.unmade) > 0 {
		r.Log.Error("the message of a notification cannot be built", "account_id", f.Account, "notice_id", o.unmade[0].ID, "error", o.problem)
		for _, m := range o.unmade { // the others use up the key of the bundle, under which receivers would drop it
			m.bundle = ""
		}
		failure := &sender.Error{Retry: true, Message: sentence.New("not_built")}
		if _, err := r.failed(tx, f, o.unmade, failure, now); err != nil {
			return err
		}
	}
	if len(o.sent) == 0 { // the recipient got no message
		return tx.Do(`DELETE FROM notice_send WHERE account_id = $1 AND recipient = $2 AND sent_at = $3 AND message = $4`,
			f.Account, f.recipient, f.began.UnixMilli(), f.message())
	}
	var failure *sender.Error
	switch {
	case err == nil:
		return r.sent(tx, f, o, now)
	case !errors.As(err, &failure):
		failure = &sender.Error{Retry: true, Message: sentence.Raw(err.Error())}
	}
	held, err := r.failed(tx, f, o.sent, failure, now)
	if err != nil || !held { // a process that was frozen may have missed the reply: the target need not be at fault
		return err
	}
	return r.targetFailed(tx, f, failure.Message, now)
}

// recordEnded stores the final status of notifications that were not sent. Pages that have failed are replaced.
func (r *Service) recordEnded(tx *db.Tx, f *attempt, all []ended, now time.Time) error {
	for _, m := range all {
		if again, err := r.neededAgain(tx, m, now); again || err != nil {
			if err == nil {
				_, err = r.retry(tx, f, m.member, "", now)
			}
			if err != nil {
				return err
			}
			continue
		}
		held, err := r.settle(tx, f, m.member, m.status, m.why, m.Attempts-1, now) // this attempt was not made
		if err != nil {
			return err
		}
		if held && m.status == Failed {
			if err := r.replace(tx, []*member{m.member}, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// neededAgain reports whether a notification that was not needed when its message was built is needed now. A page is cancelled
// for what the transaction that stores it finds, and not for what an earlier read found, or did not find.
func (r *Service) neededAgain(tx *db.Tx, m ended, now time.Time) (bool, error) {
	if m.status != Cancelled || m.Incident == "" {
		return false, nil
	}
	_, why, err := presently(tx, &m.Notification, now)
	return err == nil && why == "", err
}

// sent stores that the notifications of a message were sent.
func (r *Service) sent(tx *db.Tx, f *attempt, o outcome, now time.Time) error {
	answer := sentence.Raw(cmp.Or(o.receipt.ID, o.receipt.Reply))
	if n := len(o.sent); n > 1 {
		answer = sentence.Join(sentence.New("in_bundle", n), answer)
	}
	if o.preset {
		answer = sentence.Join(sentence.New("with_preset"), answer)
	}
	f.shared = len(o.sent)
	for _, m := range o.sent {
		held, err := r.settle(tx, f, m, Sent, answer, m.Attempts, now)
		if err != nil {
			return err
		}
		if held {
			tx.OnCommit(func() { r.waited.Observe(now.Sub(time.UnixMilli(m.Created)).Seconds()) })
		}
	}
	tx.OnCommit(func() { r.log(f).Info("notification sent", "bundled", len(o.sent)) })
	return r.targetTook(tx, f, now)
}

// log returns a logger that names a message.
func (r *Service) log(f *attempt) *slog.Logger {
	return r.Log.With("notice_id", f.ID, "method", f.Method, "attempt", f.Attempts, "incident_id", f.Incident, "person_id", f.Person)
}

// failed stores that a message was not taken: its notifications are due again together, or have failed for good. held
// reports whether the attempt had its lease for any of them.
func (r *Service) failed(tx *db.Tx, f *attempt, members []*member, failure *sender.Error, now time.Time) (held bool, err error) {
	tx.OnCommit(func() { r.log(f).Warn("notification not sent", "error", failure) })
	due := now.Add(max(retryDelay(f.Attempts), failure.After))
	var final []*member
	for _, m := range members {
		var own bool
		if !failure.Retry || m.Attempts >= maxAttempts {
			own, err = r.settle(tx, f, m, Failed, failure.Message, m.Attempts, now)
			if own {
				final = append(final, m)
			}
		} else {
			own, err = r.retry(tx, f, m, failure.Message, due)
		}
		if err != nil {
			return held, err
		}
		held = held || own
	}
	return held, r.replace(tx, final, now)
}

// retry makes a notification due again. held is false if the attempt has lost its lease to another one.
func (r *Service) retry(tx *db.Tx, f *attempt, m *member, why sentence.Value, due time.Time) (held bool, err error) {
	changed, err := tx.Exec(`UPDATE notice SET status = 'waiting', due_at = $3, outcome = $4, bundle = $6
		WHERE account_id = $1 AND notice_id = $2 AND settled_at = 0 AND attempts = $5`,
		m.Account, m.ID, due.UnixMilli(), string(why), m.Attempts, m.bundle)
	if err == nil && changed == 0 {
		r.late(tx, f, Waiting)
	}
	return changed > 0, err
}

// late counts and logs a result that changes nothing, because its notification was claimed again or has ended.
func (r *Service) late(tx *db.Tx, f *attempt, status string) {
	r.runner.Late(tx)
	tx.OnCommit(func() { r.log(f).Warn("the result of a notification came after its lease", "result", status) })
}

// settle stores the final status of a notification, with how often it was tried, and publishes it to the incident's feed.
// Cancelled ones are not published: they were not sent to any target. held is false if the attempt has lost its lease to
// another one: then nothing is stored.
func (r *Service) settle(
	tx *db.Tx, f *attempt, m *member, status string, outcome sentence.Value, tried int64, now time.Time,
) (held bool, err error) {
	n := &m.Notification
	changed, err := tx.Exec(`UPDATE notice SET status = $3, settled_at = $4, outcome = $5, attempts = $7
		WHERE account_id = $1 AND notice_id = $2 AND settled_at = 0 AND attempts = $6`,
		n.Account, n.ID, status, now.UnixMilli(), string(outcome), n.Attempts, tried)
	if err != nil {
		return false, err
	}
	if changed == 0 {
		r.late(tx, f, status)
		return false, nil
	}
	tx.OnCommit(func() { r.settled.WithLabelValues(kindOf(n.Method), status).Inc() })
	return true, r.publishSettled(tx, f, m, status, outcome, now)
}

// publishSettled publishes that a notification has ended.
func (r *Service) publishSettled(tx *db.Tx, f *attempt, m *member, status string, outcome sentence.Value, now time.Time) error {
	n := &m.Notification
	if n.Incident == "" || status == Cancelled {
		return nil
	}
	var failed sentence.Value
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
		Cause:            n.Cause,
	}
	if n.Detail.Repeat > 0 {
		e.FireType = "refire"
	}
	if f.shared > 1 {
		e.Bundle = int64(f.shared)
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
