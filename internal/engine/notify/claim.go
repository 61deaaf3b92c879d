package notify

import (
	"slices"
	"time"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/delivery"
	"tocsin/internal/platform/id"
)

// queueKey identifies a queue: what an account sends over one mail server, gateway, service or host. The accounts share
// the slots of the lane.
type queueKey struct {
	lane    string
	account int64
}

// store implements delivery's store of rows.
type store struct{ *Service }

// queues finds the queues with waiting notifications. It steps from queue to queue along the index, whatever number of
// rows waits in each, and reads the first of each urgency: at busy moments every due message waits for this statement.
const queues = `WITH RECURSIVE lanes (lane) AS (
	SELECT min(lane) FROM notice WHERE settled_at = 0
	UNION ALL SELECT (SELECT min(lane) FROM notice WHERE settled_at = 0 AND lane > lanes.lane) FROM lanes WHERE lane IS NOT NULL
), queues (lane, account_id) AS (
	SELECT lane, (SELECT min(account_id) FROM notice WHERE settled_at = 0 AND lane = lanes.lane) FROM lanes WHERE lane IS NOT NULL
	UNION ALL SELECT lane, (SELECT min(account_id) FROM notice WHERE settled_at = 0 AND lane = queues.lane AND account_id > queues.account_id)
		FROM queues WHERE account_id IS NOT NULL
), first (lane, account_id, due_at) AS (
	SELECT lane, account_id, (SELECT min(due_at) FROM notice
		WHERE settled_at = 0 AND lane = q.lane AND account_id = q.account_id AND urgency = u.column1)
	FROM queues q, (VALUES (0), (1), (2), (3), (4), (5), (6)) AS u WHERE account_id IS NOT NULL)
SELECT lane, account_id, due_at FROM first WHERE due_at IS NOT NULL`

const nextDue = `SELECT account_id, ` + waitingColumns + ` FROM notice
	WHERE lane = $1 AND account_id = $2 AND urgency = $3 AND settled_at = 0 AND due_at <= $4 ORDER BY due_at LIMIT 1`

func scanQueue(scan db.Scan) (q delivery.Queue[queueKey], err error) {
	var due int64
	err = scan(&q.Key.lane, &q.Key.account, &due)
	q.Due = time.UnixMilli(due)
	q.Slots = maxPerQueue
	q.Target = q.Key.lane
	return q, err
}

// Queues returns the queues with waiting notifications, the one that is due first at the front.
func (s store) Queues(tx *db.Tx, _ time.Time) ([]delivery.Queue[queueKey], error) {
	all, err := db.All(tx, scanQueue, queues)
	slices.SortStableFunc(all, func(a, b delivery.Queue[queueKey]) int { return a.Due.Compare(b.Due) })
	known := map[queueKey]bool{} // by another urgency
	return slices.DeleteFunc(all, func(q delivery.Queue[queueKey]) bool {
		again := known[q.Key]
		known[q.Key] = true
		return again
	}), err
}

const (
	underWay = `SELECT lane, account_id, count(DISTINCT CASE WHEN bundle = '' THEN notice_id ELSE bundle END) FROM notice
		WHERE status = 'sending' AND due_at > $1 GROUP BY lane, account_id`

	underWayAt = `SELECT lane, account_id, count(DISTINCT CASE WHEN bundle = '' THEN notice_id ELSE bundle END) FROM notice
		WHERE status = 'sending' AND lane = $2 AND due_at > $1 GROUP BY lane, account_id`
)

func scanUnderWay(scan db.Scan) (u delivery.UnderWay[queueKey], err error) {
	err = scan(&u.Key.lane, &u.Key.account, &u.Attempts)
	u.Target = u.Key.lane
	return u, err
}

// UnderWay counts the messages that are being sent. An attempt ends within its timeout; when it was claimed longer ago,
// its process has ended or is frozen.
func (s store) UnderWay(tx *db.Tx, now time.Time) ([]delivery.UnderWay[queueKey], error) {
	return db.All(tx, scanUnderWay, underWay, begunAfter(now))
}

// UnderWayAt counts those over one mail server, gateway, service or host.
func (s store) UnderWayAt(tx *db.Tx, _ int64, lane string, now time.Time) ([]delivery.UnderWay[queueKey], error) {
	return db.All(tx, scanUnderWay, underWayAt, begunAfter(now), lane)
}

// begunAfter returns after which moment the lease ends of an attempt that may be in progress, Unix milliseconds.
func begunAfter(now time.Time) int64 { return now.Add(lease - timeout - slack).UnixMilli() }

// Account returns whose queue it is.
func (s store) Account(queue queueKey) int64 { return queue.account }

// Lost reports whether one of the notifications was being sent when it was claimed again.
func (s store) Lost(f *attempt) bool { return f.lost }

// Claim marks the notifications of up to n messages as being sent and returns the messages, the most severe first. Their
// lease expires: if the process ends, they are due again. Recipients who have used up their budget wait. A claim that has
// changed many rows ends, and another one follows: other writers must not wait for an account with a long queue.
func (s store) Claim(tx *db.Tx, queue queueKey, n int, now time.Time) (all []*attempt, err error) {
	for rows := 0; len(all) < n; {
		if rows >= maxBundle {
			tx.OnCommit(s.runner.Wake)
			break
		}
		first, found, err := firstDue(tx, queue, now)
		if err != nil || !found {
			return all, err
		}
		var taken []*attempt
		var waits int
		if first.recipient != "" {
			taken, waits, err = s.claimFor(tx, queue, first.recipient, n-len(all), now)
		} else {
			taken, err = s.take(tx, [][]*member{{first.member}}, "", now)
		}
		if err != nil {
			return nil, err
		}
		rows += waits
		for _, f := range taken {
			rows += s.Weight(f)
		}
		all = append(all, taken...)
	}
	return all, nil
}

// Weight returns how many rows an attempt changes when it is claimed or recorded.
func (s store) Weight(f *attempt) int { return len(f.members) }

// waiting is a notification that waits, with its recipient.
type waiting struct {
	*member
	recipient string
}

const waitingColumns = columns + `, recipient, urgency, late, bundle`

// scanWaiting reads a row of waitingColumns at a moment.
func scanWaiting(scan db.Scan) (w waiting, err error) {
	m, late := &member{}, int64(0)
	m.Notification, m.target, m.detail, err = scanStored(func(to ...any) error {
		return scan(append(to, &w.recipient, &m.urgency, &late, &m.bundle)...)
	})
	m.late, w.member = late != 0, m
	return w, err
}

// firstDue returns the notification of a queue that is sent next, the most severe first.
func firstDue(tx *db.Tx, queue queueKey, now time.Time) (w waiting, found bool, err error) {
	for urgency := 0; urgency <= mergers; urgency++ {
		w, found, err = db.One(tx, scanWaiting, nextDue, queue.lane, queue.account, urgency, now.UnixMilli())
		if err != nil || found {
			return w, found, err
		}
	}
	return w, false, nil
}

// claimFor takes up to n messages to a recipient. Notifications for which no message is left within the budget wait until
// there is one, and then share it; waits is how many of them it has made wait.
func (s store) claimFor(
	tx *db.Tx, queue queueKey, recipient string, n int, now time.Time,
) (taken []*attempt, waits int, err error) {
	sends, err := recentSends(tx, queue.account, recipient, now)
	if err != nil {
		return nil, 0, err
	}
	rows, err := dueFor(tx, queue, recipient, now)
	if err != nil {
		return nil, 0, err
	}
	method := kindOf(rows[0].Method)
	budget, gap := s.Budget.of(method), s.Budget.gap(method)
	messages := plan(rows, budget, len(sends), together(sends, budget, gap, now))
	taken, err = s.take(tx, messages[:min(n, len(messages))], recipient, now)
	if err != nil {
		return nil, 0, err
	}
	for range taken {
		sends = append(sends, now.UnixMilli())
	}
	for _, c := range classes {
		due, why := nextFree(sends, c.limit(budget)), sentence.New("waits_budget", budget)
		if gap > 0 && len(sends) > 0 && sends[len(sends)-1]+gap.Milliseconds() > due {
			due, why = sends[len(sends)-1]+gap.Milliseconds(), sentence.New("waits_call", int64(gap.Seconds()))
		}
		if due <= now.UnixMilli() {
			continue
		}
		changed, err := tx.Exec(makeWait, queue.account, recipient, queue.lane, c.from, c.to, now.UnixMilli(), due, string(why), maxBundle)
		if err != nil {
			return nil, 0, err
		}
		waits += int(changed)
	}
	return taken, waits, nil
}

// makeWait makes notifications of a class to a recipient wait until the recipient's next message, at most $9 of them.
const makeWait = `UPDATE notice
	SET status = 'waiting', late = 1, due_at = $7, outcome = CASE WHEN outcome = '' THEN $8 ELSE outcome END
	WHERE (account_id, notice_id) IN (SELECT account_id, notice_id FROM notice
		WHERE account_id = $1 AND recipient = $2 AND lane = $3 AND urgency >= $4 AND urgency <= $5 AND settled_at = 0 AND due_at <= $6
		LIMIT $9 + 0)`

// dueTried finds the notifications to a recipient that were tried before and are due, bundle by bundle.
const dueTried = `SELECT account_id, ` + waitingColumns + ` FROM notice
	WHERE account_id = $1 AND recipient = $2 AND lane = $3 AND settled_at = 0 AND attempts > 0 AND due_at <= $4
	ORDER BY bundle, urgency, created_at, notice_id LIMIT $5 + 0`

// dueFor returns the notifications to a recipient that are due, the most severe first: of those that were tried before
// some whole bundles, and as many of the others as can share a message.
func dueFor(tx *db.Tx, queue queueKey, recipient string, now time.Time) (rows []*member, err error) {
	const most = 2 * maxBundle // a whole bundle at least, and no queue so long that other writers wait for it
	all, err := db.All(tx, scanWaiting, dueTried, queue.account, recipient, queue.lane, now.UnixMilli(), most)
	if err != nil {
		return nil, err
	}
	if len(all) == most { // the last bundle may be incomplete: its key must not be used up for a part of it
		last := all[most-1].bundle
		all = slices.DeleteFunc(all, func(w waiting) bool { return last != "" && w.bundle == last })
	}
	fresh, err := db.All(tx, scanWaiting, `SELECT account_id, `+waitingColumns+` FROM notice
		WHERE account_id = $1 AND recipient = $2 AND lane = $3 AND settled_at = 0 AND due_at <= $4 AND attempts = 0
		ORDER BY urgency, created_at, notice_id LIMIT $5 + 0`, queue.account, recipient, queue.lane, now.UnixMilli(), maxBundle)
	for _, w := range append(all, fresh...) {
		w.late = w.late || now.Sub(time.UnixMilli(w.Due)) > overdue
		rows = append(rows, w.member)
	}
	slices.SortStableFunc(rows, func(a, b *member) int { return int(a.urgency - b.urgency) })
	return rows, err
}

// overdue is how long after its moment a notification counts as late.
const overdue = 2 * time.Minute

// take marks the notifications of messages as being sent. Those that share a message get the id of their bundle, unless
// they have it.
func (s store) take(tx *db.Tx, messages [][]*member, recipient string, now time.Time) (all []*attempt, err error) {
	for _, members := range messages {
		f := &attempt{Notification: members[0].Notification, members: members, bundle: members[0].bundle, recipient: recipient, began: now}
		other := func(m *member) bool { return m.bundle != f.bundle }
		if f.bundle == "" && len(members) > 1 || slices.ContainsFunc(members, other) {
			f.bundle = id.Object(now)
		}
		for _, m := range members {
			f.lost = f.lost || m.Status == Sending
			m.Attempts++
			m.bundle = f.bundle
			if err := tx.Do(`UPDATE notice SET status = 'sending', attempts = $3, due_at = $4, bundle = $5
				WHERE account_id = $1 AND notice_id = $2`,
				m.Account, m.ID, m.Attempts, now.Add(lease).UnixMilli(), m.bundle); err != nil {
				return nil, err
			}
			f.Attempts = max(f.Attempts, m.Attempts)
		}
		all = append(all, f)
		if recipient == "" {
			continue
		}
		if err := tx.Do(`INSERT INTO notice_send (account_id, recipient, sent_at, message) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
			f.Account, recipient, now.UnixMilli(), f.message()); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// recentSends returns when the messages of the last minute were sent to a recipient, in order, and deletes older ones.
// Those of the future are of a clock that was set back.
func recentSends(tx *db.Tx, account int64, recipient string, now time.Time) ([]int64, error) {
	if err := tx.Do(`DELETE FROM notice_send WHERE account_id = $1 AND recipient = $2 AND (sent_at <= $3 OR sent_at > $4)`,
		account, recipient, now.Add(-window).UnixMilli(), now.UnixMilli()); err != nil {
		return nil, err
	}
	return db.All(tx, db.Column[int64], `SELECT sent_at FROM notice_send WHERE account_id = $1 AND recipient = $2 ORDER BY sent_at`,
		account, recipient)
}

// PruneSends deletes messages that count no longer.
func PruneSends(tx *db.Tx, now time.Time) (more bool, err error) {
	const batch = 2000
	n, err := tx.Exec(`DELETE FROM notice_send WHERE (account_id, recipient, sent_at, message) IN (
		SELECT account_id, recipient, sent_at, message FROM notice_send WHERE sent_at <= $1 LIMIT $2 + 0)`,
		now.Add(-window).UnixMilli(), batch)
	return n == batch, err
}
