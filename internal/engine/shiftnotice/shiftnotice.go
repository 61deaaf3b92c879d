package shiftnotice

import (
	"context"
	"errors"
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

// Service notifies persons of their shifts.
type Service struct {
	DB      *db.DB
	Keyring *secret.Keyring
	Log     *slog.Logger
	Notify  *notify.Service
}

// Kinds of rows.
const (
	advance = "advance" // for each change, some time before it
	daily   = "daily"   // daily at a time of day
)

// In seconds.
const (
	late       = 3600       // after which a shift that has begun, or a time of day, is not announced any more
	lag        = 60         // how far back a changed schedule is checked: a change that begins at once is stored a moment later
	maxAdvance = 30 * 86400 // the longest time before a change at which a person is notified, whatever the schedule demands
	idle       = 86400      // until a schedule without a future change is checked again
	retryDelay = 600        // after which a schedule that failed is tried again
)

// batch is the most rows of one transaction, and the most changes of one schedule.
const batch = 50

// Job returns the background job.
func (r *Service) Job() jobs.Job {
	return jobs.Job{Name: "handover", Interval: time.Second, Run: r.due}
}

// row holds up to when a schedule is done, and when it is checked next.
type row struct {
	account, schedule int64
	kind              string
	done, due         int64
}

const columns = `account_id, schedule_id, kind, done_at, due_at`

func scanRow(scan db.Scan) (w row, err error) {
	return w, scan(&w.account, &w.schedule, &w.kind, &w.done, &w.due)
}

// save stores a row, in place of the one before.
func (w row) save(tx *db.Tx) error {
	return tx.Do(`INSERT INTO handover (`+columns+`) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (account_id, schedule_id, kind) DO UPDATE SET done_at = excluded.done_at, due_at = excluded.due_at`,
		w.account, w.schedule, w.kind, w.done, w.due)
}

// due processes the schedules that are due, and returns when the next one is.
func (r *Service) due(ctx context.Context, now time.Time) (again time.Time, err error) {
	var accounts []configstore.AccountRevision
	var next int64
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		accounts, err = configstore.ShiftNotices.Behind(tx)
		if err != nil {
			return err
		}
		next, err = nextDue(tx)
		return err
	})
	if err != nil || len(accounts) == 0 && (next == 0 || next > now.Unix()) {
		return unixTime(next), err
	}
	for _, account := range accounts {
		err = errors.Join(err, r.DB.WriteOf(ctx, account.ID, func(tx *db.Tx) error { return renew(tx, account, now.Unix()) }))
	}
	var rows []row
	if err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		rows, err = db.All(tx, scanRow,
			`SELECT `+columns+` FROM handover WHERE due_at > 0 AND due_at <= $1 ORDER BY due_at LIMIT $2 + 0`, now.Unix(), batch)
		return err
	}); err != nil {
		return unixTime(next), err
	}
	for _, w := range rows {
		err = errors.Join(err, r.DB.WriteOf(ctx, w.account, func(tx *db.Tx) error { return r.step(tx, w, now) }))
	}
	err = errors.Join(err, r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		next, err = nextDue(tx)
		return err
	}))
	return unixTime(next), err
}

// nextDue returns when the next row is due, Unix seconds; 0: none is. A run does not simply ask for another one at once:
// while the configuration changes, that would be a run for each change instead of one for each interval.
func nextDue(tx *db.Tx) (int64, error) {
	next, _, err := db.One(tx, db.Column[int64], `SELECT coalesce(min(due_at), 0) FROM handover WHERE due_at > 0`)
	return next, err
}

// unixTime returns a moment; 0 becomes the zero time.
func unixTime(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// renew makes the rows of an account whose configuration has changed due at once, and creates those of new schedules. Rows
// that are due already stay due since then, so that they are processed before the others however often the configuration
// changes; those that are overdue keep their done_at, so that no change in between is lost.
func renew(tx *db.Tx, of configstore.AccountRevision, now int64) error {
	account := of.ID
	if awaits, err := configstore.ShiftNotices.Awaits(tx, of); err != nil || !awaits {
		return err
	}
	rows, err := db.All(tx, scanRow, `SELECT `+columns+` FROM handover WHERE account_id = $1`, account)
	if err != nil {
		return err
	}
	ids, err := schedule.Notifying(tx, account)
	if err != nil {
		return err
	}
	if err := tx.Do(`DELETE FROM handover WHERE account_id = $1`, account); err != nil {
		return err
	}
	for _, id := range ids {
		for _, kind := range []string{advance, daily} {
			w := row{account, id, kind, now - lag, now}
			i := slices.IndexFunc(rows, func(o row) bool { return o.schedule == id && o.kind == kind })
			if i >= 0 && rows[i].due > 0 {
				if rows[i].due < w.done {
					w.done = min(rows[i].done, w.done)
				}
				w.due = min(w.due, rows[i].due)
			}
			if err := w.save(tx); err != nil {
				return err
			}
		}
	}
	return configstore.ShiftNotices.Reached(tx, of)
}

// step processes one schedule and stores when it is checked next, unless another process has done so. One that fails does
// not block the others.
func (r *Service) step(tx *db.Tx, w row, now time.Time) error {
	is, found, err := db.One(tx, scanRow, `SELECT `+columns+` FROM handover WHERE account_id = $1 AND schedule_id = $2 AND kind = $3`,
		w.account, w.schedule, w.kind)
	if err != nil || !found || is != w {
		return err
	}
	var done, due int64
	failed, err := tx.Try(func() (err error) {
		done, due, err = r.process(tx, w, now)
		return err
	})
	if err != nil {
		return err
	}
	if failed != nil {
		r.Log.Error("notifications of shifts could not be stored", "account_id", w.account, "schedule_id", w.schedule, "error", failed)
		done, due = w.done, now.Unix()+retryDelay
	}
	w.done, w.due = done, due
	return w.save(tx)
}

// process stores the notifications of one schedule; done and due are the new values of its row.
func (r *Service) process(tx *db.Tx, w row, now time.Time) (done, due int64, err error) {
	zone, err := person.Zone(tx, w.account)
	if err != nil {
		return 0, 0, err
	}
	shifts, err := schedule.FindShifts(tx, w.account, w.schedule, zone)
	if err != nil || shifts == nil || shifts.Disabled {
		return w.done, 0, err
	}
	t := notifier{service: r, tx: tx, account: w.account, schedule: w.schedule, shifts: shifts, now: now}
	switch n := &shifts.Notify; {
	case w.kind == advance && n.AdvanceInTime != nil:
		return t.changes(w.done, min(*n.AdvanceInTime, maxAdvance))
	case w.kind == daily && n.FixedTime != nil:
		return t.daily(w.done, n.FixedTime)
	}
	return w.done, 0, nil
}

// changes notifies of the changes after done and up to lead seconds from now.
func (t *notifier) changes(done, lead int64) (int64, int64, error) {
	now := t.now.Unix()
	from := max(done, now-late-1)
	for range batch {
		c, found := next(t.shifts.Timeline, from)
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

// daily notifies the persons who are on call, for each time of day after done that has come.
func (t *notifier) daily(done int64, at *schedule.FixedTime) (int64, int64, error) {
	clock, err := time.Parse("15:04", at.Start)
	if err != nil {
		return 0, 0, err
	}
	now, seconds := t.now.Unix(), int64(3600*clock.Hour()+60*clock.Minute())
	from := max(done, now-late-1)
	for {
		moment := oncall.NextDaily(t.shifts.Timeline.Zone, seconds, from)
		if moment > now {
			return from, moment, nil
		}
		if err := t.onCallNow(moment); err != nil {
			return 0, 0, err
		}
		from = moment
	}
}
