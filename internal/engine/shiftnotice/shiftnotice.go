// Package shiftnotice tells people of their turns on call: before or when one begins or ends, and every day at a
// time of day, as their schedule wants it. When to look at a schedule again is a row; what is to be told is
// read off the timeline at that moment.
//
// It must never tell what is not true any more: a turn that began long ago is passed over, and a notice that
// waits is looked at again when it is sent.
package shiftnotice

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/core/oncall"
	"tocsin/internal/engine/notify"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/secret"
	"tocsin/internal/schedule"
)

// Service tells of turns.
type Service struct {
	DB      *db.DB
	Keyring *secret.Keyring
	Log     *slog.Logger
	Notify  *notify.Service
}

// The kinds of rows.
const (
	advance = "advance" // of each change
	daily   = "daily"   // at a time of day
)

// In seconds.
const (
	late       = 3600       // after which a turn that has begun, or a time of day, is not announced any more
	lag        = 60         // how far a changed schedule is looked at backwards: what begins at once is stored a moment later
	maxAdvance = 30 * 86400 // earlier than this nobody is told, whatever the schedule says
	idle       = 86400      // until a timeline on which nothing is to come is looked at again
	pause      = 600        // until a schedule that could not be told of is tried again
)

// batch is how many rows are done in one transaction, and how many changes of one schedule.
const batch = 50

// Job is the room's background work.
func (r *Service) Job() jobs.Job {
	return jobs.Job{Name: "handover", Interval: time.Second, Run: r.due}
}

// row is when to look at a schedule again.
type row struct {
	account, schedule int64
	kind              string
	done, due         int64
}

const columns = `account_id, schedule_id, kind, done_at, due_at`

func scanRow(scan db.Scan) (w row, err error) {
	return w, scan(&w.account, &w.schedule, &w.kind, &w.done, &w.due)
}

func (w row) save(tx *db.Tx) error {
	_, err := tx.Exec(`INSERT INTO handover (`+columns+`) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (account_id, schedule_id, kind) DO UPDATE SET done_at = excluded.done_at, due_at = excluded.due_at`,
		w.account, w.schedule, w.kind, w.done, w.due)
	return err
}

// due does what is due of all schedules.
func (r *Service) due(ctx context.Context, now time.Time) (again time.Time, err error) {
	var accounts []configstore.AccountRevision
	var next int64
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if accounts, err = configstore.ShiftNotices.Behind(tx); err == nil {
			next, _, err = db.One(tx, db.Column[int64], `SELECT coalesce(min(due_at), 0) FROM handover WHERE due_at > 0`)
		}
		return err
	})
	if err != nil || len(accounts) == 0 && next == 0 {
		return again, err
	}
	if len(accounts) == 0 && next > now.Unix() {
		return time.Unix(next, 0), nil
	}
	err = r.DB.Write(ctx, func(tx *db.Tx) error {
		for _, account := range accounts {
			if err := renew(tx, account, now.Unix()); err != nil {
				return err
			}
		}
		rows, err := db.All(tx, scanRow, `SELECT `+columns+` FROM handover WHERE due_at > 0 AND due_at <= $1 ORDER BY due_at LIMIT $2 + 0`, now.Unix(), batch)
		for i := 0; i < len(rows) && err == nil; i++ {
			err = r.step(tx, rows[i], now)
		}
		return err
	})
	return now, err
}

// renew makes the rows of an account whose configuration has changed due at once, and makes those of schedules
// that are new. Rows that are overdue keep what they have to answer for.
func renew(tx *db.Tx, of configstore.AccountRevision, now int64) error {
	account := of.ID
	rows, err := db.All(tx, scanRow, `SELECT `+columns+` FROM handover WHERE account_id = $1`, account)
	if err != nil {
		return err
	}
	ids, err := schedule.Notifying(tx, account)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(`DELETE FROM handover WHERE account_id = $1`, account); err != nil {
		return err
	}
	for _, id := range ids {
		for _, kind := range []string{advance, daily} {
			w := row{account, id, kind, now - lag, now}
			i := slices.IndexFunc(rows, func(o row) bool { return o.schedule == id && o.kind == kind })
			if i >= 0 && rows[i].due > 0 && rows[i].due < w.done {
				w.done = min(rows[i].done, w.done)
			}
			if err := w.save(tx); err != nil {
				return err
			}
		}
	}
	return configstore.ShiftNotices.Reached(tx, of)
}

// step does what is due of one schedule, and settles when to look again. One that cannot be told of holds up
// no other.
func (r *Service) step(tx *db.Tx, w row, now time.Time) error {
	var done, due int64
	failed, err := tx.Try(func() (err error) {
		done, due, err = r.look(tx, w, now)
		return err
	})
	if err != nil {
		return err
	}
	if failed != nil {
		r.Log.Error("nobody can be told of turns", "account_id", w.account, "schedule_id", w.schedule, "error", failed)
		done, due = w.done, now.Unix()+pause
	}
	w.done, w.due = done, due
	return w.save(tx)
}

func (r *Service) look(tx *db.Tx, w row, now time.Time) (done, due int64, err error) {
	zone, err := person.Zone(tx, w.account)
	if err != nil {
		return 0, 0, err
	}
	turns, err := schedule.FindTurns(tx, w.account, w.schedule, zone)
	if err != nil || turns == nil || turns.Disabled {
		return w.done, 0, err
	}
	t := teller{room: r, tx: tx, account: w.account, schedule: w.schedule, turns: turns, now: now}
	switch n := &turns.Notify; {
	case w.kind == advance && n.AdvanceInTime != nil:
		return t.changes(w.done, min(*n.AdvanceInTime, maxAdvance))
	case w.kind == daily && n.FixedTime != nil:
		return t.daily(w.done, n.FixedTime)
	}
	return w.done, 0, nil
}

// changes tells of those after done and up to lead seconds from now.
func (t *teller) changes(done, lead int64) (int64, int64, error) {
	now := t.now.Unix()
	from := max(done, now-late-1)
	for range batch {
		c, found := next(t.turns.Timeline, from)
		switch {
		case !found:
			return from, now + idle, nil
		case c.at > now+lead:
			return from, c.at - lead, nil
		}
		if err := t.change(c); err != nil {
			return 0, 0, err
		}
		from = c.at
	}
	return from, now, nil
}

// daily tells whoever is on call when the time of day has come after done.
func (t *teller) daily(done int64, at *schedule.FixedTime) (int64, int64, error) {
	clock, err := time.Parse("15:04", at.Start)
	if err != nil {
		return 0, 0, err
	}
	now, seconds := t.now.Unix(), int64(3600*clock.Hour()+60*clock.Minute())
	from := max(done, now-late-1)
	for {
		moment := oncall.NextDaily(t.turns.Timeline.Zone, seconds, from)
		if moment > now {
			return from, moment, nil
		}
		if err := t.everybody(moment); err != nil {
			return 0, 0, err
		}
		from = moment
	}
}
