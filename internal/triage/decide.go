package triage

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/db"
	"tocsin/internal/decide"
	"tocsin/internal/event"
)

// pending is an event that waits for its verdict. Its body is read when its turn has come, so that one that
// cannot be read is its own problem.
type pending struct {
	account  int64
	id       string
	attempts int64
	body     string
	event.Event
}

const waiting = `SELECT account_id, event_id, attempts, body FROM event WHERE decided_at = 0 ORDER BY received_at LIMIT $1 + 0`

func scanPending(scan db.Scan) (p pending, err error) {
	return p, scan(&p.account, &p.id, &p.attempts, &p.body)
}

// maxAttempts is how often deciding an event may fail before it is given up, with a verdict that says so.
const maxAttempts = 5

// decide decides the events that wait, the oldest first. When one of a batch fails the events are decided
// one by one, so that it holds up no other.
func (r *Room) decide(ctx context.Context, now time.Time) (again time.Time, err error) {
	counted, err := r.write(ctx, func(tx *db.Tx, t *tally) error {
		for n := piece; n <= batch; n += piece {
			events, err := db.All(tx, scanPending, waiting, piece)
			for i := 0; i < len(events) && err == nil; i++ {
				err = r.guarded(tx, t, &events[i], now)
			}
			if t.more = len(events) == piece; err != nil || !t.more {
				return err
			}
			if tx.Awaited() && n >= turn(now.Sub(time.Unix(0, events[0].Received))) {
				return nil
			}
		}
		return nil
	})
	if err == nil && counted.more {
		return now, nil
	}
	if err != nil && ctx.Err() == nil {
		return now.Add(time.Second), r.oneByOne(ctx, now, err)
	}
	return time.Time{}, err
}

func (r *Room) oneByOne(ctx context.Context, now time.Time, cause error) error {
	var events []pending
	err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		events, err = db.All(tx, scanPending, waiting, batch)
		return err
	})
	for i := 0; i < len(events) && err == nil; i++ {
		p := &events[i]
		_, failed := r.write(ctx, func(tx *db.Tx, t *tally) error { return r.guarded(tx, t, p, now) })
		if failed == nil {
			continue
		}
		cause = failed
		r.Log.Error("an event could not be decided", "event_id", p.id, "account_id", p.account, "attempts", p.attempts+1, "error", failed)
		_, err = r.write(ctx, func(tx *db.Tx, t *tally) error { return r.failed(tx, t, p, failed, now) })
	}
	if err != nil {
		return err
	}
	return cause
}

// failed counts that an event could not be decided, and ends it when that was too often.
func (r *Room) failed(tx *db.Tx, t *tally, p *pending, cause error, now time.Time) error {
	if p.attempts+1 < maxAttempts {
		_, err := tx.Exec(`UPDATE event SET attempts = attempts + 1 WHERE account_id = $1 AND event_id = $2`, p.account, p.id)
		return err
	}
	why := fmt.Sprintf("it could not be decided in %d attempts; the server's log says why", maxAttempts)
	v := decide.Verdict{Outcome: decide.Failed, Event: p.Event, Trace: []decide.Step{{Stage: "channel", Why: why}}}
	if err := record(tx, p.account, p.id, &v, now); err != nil {
		return err
	}
	t.outcomes = append(t.outcomes, string(decide.Failed))
	return done(tx, p.account, p.id, now)
}

// guarded is one with a panic made an error of this event alone.
func (r *Room) guarded(tx *db.Tx, t *tally, p *pending, now time.Time) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return r.one(tx, t, p, now)
}

// one decides an event and stores what becomes of it.
func (r *Room) one(tx *db.Tx, t *tally, p *pending, now time.Time) error {
	if err := json.Unmarshal([]byte(p.body), &p.Event); err != nil {
		return err
	}
	ready, err := r.ready(tx, p.account)
	if err != nil {
		return err
	}
	s := &state{tx: tx, account: p.account, ready: ready}
	verdicts, err := decide.Event(s, p.Event, now.Unix())
	if err = errors.Join(err, s.failed); err != nil {
		return err
	}
	for i := range verdicts {
		v := &verdicts[i]
		if err := r.apply(s, v, now); err != nil {
			return err
		}
		if err := record(tx, p.account, p.id, v, now); err != nil {
			return err
		}
		t.outcomes = append(t.outcomes, string(v.Outcome))
	}
	t.waited = append(t.waited, now.Sub(time.Unix(0, p.Received)).Seconds())
	return done(tx, p.account, p.id, now)
}

func done(tx *db.Tx, account int64, event string, now time.Time) error {
	_, err := tx.Exec(`UPDATE event SET decided_at = $3 WHERE account_id = $1 AND event_id = $2`, account, event, now.UnixNano())
	return err
}

// record stores a verdict; event is empty when an alert was decided again.
func record(tx *db.Tx, account int64, event string, v *decide.Verdict, now time.Time) error {
	trace, err := json.Marshal(v.Trace)
	if err != nil {
		return err
	}
	body, err := json.Marshal(&v.Event, json.Deterministic(true))
	if err != nil {
		return err
	}
	alert, incident := "", ""
	if v.Alert != nil {
		alert, incident = v.Alert.ID, v.Alert.Incident
	}
	_, err = tx.Exec(`INSERT INTO verdict (account_id, verdict_id, decided_at, event_id, channel_id, outcome, alert_id, incident_id, integration_id, event_time, severity, body, trace)
		VALUES ($1, (SELECT coalesce(max(verdict_id), 0) + 1 FROM verdict WHERE account_id = $1), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		account, now.UnixMilli(), event, v.Channel, string(v.Outcome), alert, incident, v.Event.Integration, v.Event.Time, v.Event.Severity, string(body), string(trace))
	return err
}
