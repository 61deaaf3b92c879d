package untold

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

const (
	batch       = 300 // rows that one transaction processes
	settleDelay = 5   // seconds until unfinished notifications are checked again
	retryDelay  = 60  // seconds after a failure until a row is processed again
)

// maxWait is the longest time until persons who could not be reached are notified again, in seconds.
const maxWait = 4 * 3600

// wait returns for how many seconds no message follows after two or more that failed. It doubles each time.
func wait(attempt int64) int64 { return min(int64(digest)<<min(attempt-2, 5), maxWait) }

// Job returns the background job.
func (r *Service) Job() jobs.Job {
	return jobs.Job{Name: "untold", Interval: time.Second, Run: r.due, Signal: r.Wake}
}

const nextAccount = `SELECT coalesce(min(account_id), 0) FROM untold WHERE next_at > 0 AND account_id > $1`

const nextDue = `SELECT coalesce(min(next_at), 0) FROM untold WHERE account_id = $1 AND next_at > 0`

// due processes a batch of each account that has rows due, and returns when the next row is. An account that fails does
// not block the others.
func (r *Service) due(ctx context.Context, now time.Time) (again time.Time, err error) {
	for account := int64(-1); ; {
		next := int64(0)
		if readErr := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
			if account, _, err = db.One(tx, db.Column[int64], nextAccount, account); err == nil && account > 0 {
				next, _, err = db.One(tx, db.Column[int64], nextDue, account)
			}
			return err
		}); readErr != nil || account == 0 {
			return again, errors.Join(err, readErr)
		}
		if next <= now.Unix() {
			more, failed := r.runAccount(ctx, account, now)
			if err = errors.Join(err, failed); more {
				again = now
			}
			continue
		}
		if at := time.Unix(next, 0); again.IsZero() || at.Before(again) {
			again = at
		}
	}
}

// hold is until when an incident is silent by choice, and why.
type hold struct {
	until int64
	why   string
}

// runAccount processes the rows of an account that are due, at most batch. more reports whether others may be due.
func (r *Service) runAccount(ctx context.Context, account int64, now time.Time) (more bool, err error) {
	var rows []row
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		rows, err = db.All(tx, scanRow, `SELECT `+columns+` FROM untold
			WHERE account_id = $1 AND next_at > 0 AND next_at <= $2 ORDER BY next_at LIMIT $3 + 0`, account, now.Unix(), batch)
		return err
	})
	if err != nil {
		return false, err
	}
	holds := map[string]hold{}
	for _, w := range rows {
		if w.incident == "" || r.Silenced == nil {
			continue
		}
		var h hold
		if h.until, h.why, err = r.Silenced(ctx, account, w.channel, w.incident, now); err != nil {
			r.Log.Error("whether an incident is silenced is not known", "incident_id", w.incident, "account_id", account, "error", err)
		} // it then counts as not silenced
		holds[w.ref] = h
	}
	err = r.DB.Write(ctx, func(tx *db.Tx) error {
		events := false
		for n := range rows {
			if rows[n].incident == "" {
				events = true
				continue
			}
			if err := r.try(tx, &rows[n], holds[rows[n].ref], now); err != nil {
				return err
			}
		}
		if !events {
			return nil
		}
		failed, err := tx.Try(func() error { return r.stray(tx, account, now) })
		if err != nil || failed == nil {
			return err
		}
		r.Log.Error("the fallback cannot be notified of events", "account_id", account, "error", failed)
		_, err = tx.Exec(`UPDATE untold SET next_at = $3 WHERE account_id = $1 AND incident_id = '' AND next_at > 0 AND next_at <= $2`,
			account, now.Unix(), now.Unix()+retryDelay)
		return err
	})
	return len(rows) == batch, err
}

// try processes an incident that is due. One that fails changes nothing else and is processed again later.
func (r *Service) try(tx *db.Tx, before *row, h hold, now time.Time) error {
	w, found, err := find(tx, before.account, before.ref)
	if err != nil || !found || w.next == 0 || w.next > now.Unix() {
		return err
	}
	failed, err := tx.Try(func() error { return r.process(tx, w, h, now) })
	if err != nil || failed == nil {
		return err
	}
	r.Log.Error("the fallback cannot be notified", "incident_id", w.incident, "account_id", w.account, "error", failed)
	w.next = now.Unix() + retryDelay
	return w.save(tx)
}

// process notifies the fallback of an incident, or checks the result.
func (r *Service) process(tx *db.Tx, w row, h hold, now time.Time) error {
	i, found, err := incident.Find(tx, w.account, w.incident)
	if err != nil {
		return err
	}
	if !found || i.Progress != incident.Triggered {
		return Forget(tx, w.account, w.incident)
	}
	failed := w.key != ""
	if failed {
		sent, open, err := notify.Reached(tx, w.account, w.key)
		switch {
		case err != nil:
			return err
		case sent:
			w.state, w.next, w.key = told, 0, ""
			return w.save(tx)
		case open > 0:
			w.next = max(open/1000, now.Unix()+settleDelay)
			return w.save(tx)
		}
		w.key, w.attempt = "", w.attempt+1
	}
	if i.SnoozedBefore > h.until {
		h = hold{i.SnoozedBefore, sentence.Of("is_snoozed")}
	}
	switch {
	case h.until > now.Unix():
		w.state, w.choice, w.next = byChoice, h.why, h.until
		return w.save(tx)
	case failed && w.attempt > 1: // the owner was among those who were not reached
		w.state, w.next = unreached, now.Unix()+wait(w.attempt)
		return w.save(tx)
	}
	return r.send(tx, w, &i, now)
}

// send notifies the fallback of an incident. Once a message has failed, the owner is notified as well.
func (r *Service) send(tx *db.Tx, w row, i *incident.Incident, now time.Time) error {
	to, err := r.Recipients(tx, w.account, w.channel, i.Severity, w.attempt > 0, now)
	if err != nil {
		return err
	}
	n := notify.Notification{
		Account: w.account, Incident: w.incident, Event: activity.IncidentNew, Cause: notify.Fallback, Late: i.Severity != event.Critical,
	}
	if w.at > 0 && w.state == waiting && w.attempt == 0 {
		n.Event = activity.IncidentSeverity
	}
	if to.Works || w.state != unreached { // that no one can be reached is recorded once
		if err := r.put(tx, to, w.keyOf(), w.why, i.Severity, n, now); err != nil {
			return err
		}
		if err := r.publish(tx, i, w.why+to.problem(), to.ids(), now); err != nil {
			return err
		}
	}
	w.severity, w.title = i.Severity, i.Title
	w.sent(to, w.keyOf(), now)
	return w.save(tx)
}

// sent notes that a message was stored, or that no person could get one.
func (w *row) sent(to Recipients, key string, now time.Time) {
	w.choice, w.at = "", now.Unix()
	if to.Owner {
		w.attempt = max(w.attempt, 1)
	}
	if to.Works {
		w.key, w.next = key, now.Unix()+settleDelay
		if w.state != unreached {
			w.state = waiting
		}
		return
	}
	w.attempt++
	w.state, w.key, w.next = unreached, "", now.Unix()+wait(w.attempt)
}

// put stores the notifications of one message.
func (r *Service) put(tx *db.Tx, to Recipients, key, why, severity string, n notify.Notification, now time.Time) error {
	for _, p := range to.List {
		n.Key, n.Reason = fmt.Sprintf("%s/p%d", key, p.ID), p.Why+", because "+why
		if err := r.Notify.PutFor(tx, p.Person, p.By, severity, n, now); err != nil {
			return err
		}
	}
	return nil
}
