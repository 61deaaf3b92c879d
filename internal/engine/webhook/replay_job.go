package webhook

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/core/sentence"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
)

// A replay makes the messages that it finds due a few at a time, so that it never has more than maxReplaying of the slots
// of an endpoint, and the others stay free for what happens now.
const (
	maxReplaying  = 2    // messages of an endpoint that are being replayed
	maxUnsettled  = 1000 // of them that failed and wait for another attempt; then the replay waits too
	maxLookedAt   = 5000 // messages that one run looks at for one replay
	lookedAtOnce  = 500
	running, done = "running", "done"
)

// replayAll continues all replays that run, each by a few messages.
func (r *Service) replayAll(ctx context.Context, now time.Time) (again time.Time, err error) {
	var all []Replay
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		all, err = db.All(tx, scanReplay, `SELECT `+replayColumns+` FROM webhook_replay WHERE status = 'running'`)
		return err
	})
	for i := range all { // one that fails must not keep the others from going on
		more, failed := r.continueReplay(ctx, &all[i], now)
		if more {
			again = now
		}
		err = errors.Join(err, failed)
	}
	return again, err
}

// found is a message that is sent again.
type found struct {
	settled
	at, number int64
}

// continueReplay makes the next messages of a replay due. It searches on a reader. more reports whether to continue
// immediately.
func (r *Service) continueReplay(ctx context.Context, p *Replay, now time.Time) (more bool, err error) {
	var next []found
	var end string
	var stop sentence.Value
	var busy bool
	before := *p
	if err := r.DB.Snapshot(ctx, func(tx *db.Tx) (err error) {
		stop, err = stopped(tx, p)
		if err != nil || stop != "" {
			return err
		}
		next, busy, end, err = p.next(tx, now)
		return err
	}); err != nil {
		return false, err
	}
	if stop == "" && end == "" && p.position == before.position && p.after == before.after {
		return false, nil // the endpoint is busy: the record of an attempt wakes the replay
	}
	err = r.DB.WriteOf(ctx, p.account, func(tx *db.Tx) error {
		same, exists, err := findReplay(tx, p.account, p.ReplayID)
		if err != nil || !exists || same.Status != running || same.position != before.position || same.after != before.after {
			return err // cancelled, or another process was faster
		}
		if stop != "" {
			return p.end(tx, "cancelled", stop, now)
		}
		for _, m := range next {
			n, err := tx.Exec(`UPDATE webhook_message SET status = 'waiting', attempt_id = '', started_at = $3, due_at = $3, settled_at = 0,
				outcome = '', origin = 'replay' WHERE account_id = $1 AND message_id = $2 AND settled_at > 0`, p.account, m.id, now.UnixMilli())
			if err != nil {
				return err
			}
			p.Sent += n
		}
		if err := tx.Do(`UPDATE webhook_replay SET sent = $3, position_at = $4, position_number = $5
			WHERE account_id = $1 AND replay_id = $2`, p.account, p.ReplayID, p.Sent, p.position, p.after); err != nil {
			return err
		}
		tx.OnCommit(r.runner.Wake)
		if end != "" {
			return p.end(tx, end, "", now)
		}
		return nil
	})
	return err == nil && stop == "" && end == "" && !busy, err
}

// stopped returns why a replay cannot go on; empty: it can.
func stopped(tx *db.Tx, p *Replay) (sentence.Value, error) {
	i, exists, err := integration.Kind.Find(tx, p.account, strconv.FormatInt(p.IntegrationID, 10))
	switch {
	case err != nil:
		return "", err
	case !exists:
		return sentence.New("integration_was_deleted"), nil
	case i.Status != "enabled":
		return sentence.New("integration_was_disabled"), nil
	}
	return "", nil
}

// next returns the next messages, and moves the position past what it has looked at. busy reports that the endpoint has
// enough of them for now. end is the replay's status once it has looked at all. Messages of one object are sent one after
// the other.
func (p *Replay) next(tx *db.Tx, now time.Time) (next []found, busy bool, end string, err error) {
	type state struct {
		ref     string
		waiting bool // for another attempt
	}
	open, err := db.All(tx, func(scan db.Scan) (s state, err error) { return s, scan(&s.ref, &s.waiting) },
		`SELECT ref_id, status = 'waiting' AND due_at > $3 FROM webhook_message
		WHERE account_id = $1 AND integration_id = $2 AND settled_at = 0 AND origin = 'replay'`, p.account, p.IntegrationID, now.UnixMilli())
	if err != nil {
		return nil, false, "", err
	}
	var refs []string // of messages that are being sent
	for _, s := range open {
		if !s.waiting {
			refs = append(refs, s.ref)
		}
	}
	for looked := 0; looked < maxLookedAt; looked += lookedAtOnce {
		if len(refs) >= maxReplaying || len(open) >= maxUnsettled {
			return next, true, "", nil
		}
		some, err := db.All(tx, scanFound, following, p.account, p.IntegrationID, p.position, p.after, p.filter.To, lookedAtOnce)
		if err != nil {
			return nil, false, "", err
		}
		for _, m := range some {
			if p.filter.matches(&m.settled) {
				if len(refs) >= maxReplaying || slices.Contains(refs, m.ref) {
					return next, true, "", nil
				}
				next, refs = append(next, m), append(refs, m.ref)
			}
			p.position, p.after = m.at, m.number
		}
		if len(some) < lookedAtOnce {
			return next, false, done, nil
		}
	}
	return next, false, "", nil
}

const following = `SELECT message_id, happened_at, number, status, event_type, channel_id, ref_id, origin FROM webhook_message
	WHERE account_id = $1 AND integration_id = $2 AND settled_at > 0 AND (happened_at, number) > ($3, $4) AND happened_at < $5
	ORDER BY happened_at, number LIMIT $6 + 0`

func scanFound(scan db.Scan) (m found, err error) {
	return m, scan(&m.id, &m.at, &m.number, &m.status, &m.eventType, &m.channel, &m.ref, &m.origin)
}

// end ends a replay.
func (p *Replay) end(tx *db.Tx, status string, why sentence.Value, now time.Time) error {
	return tx.Do(`UPDATE webhook_replay SET status = $3, reason = $4, ended_at = $5 WHERE account_id = $1 AND replay_id = $2`,
		p.account, p.ReplayID, status, string(why), now.Unix())
}
