package shiftnotice

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/schedule"
)

// Event types of notifications about requests for cover, by the status of the request.
const (
	coverAsked     = "cover_ask"
	coverTaken     = "cover_taken"
	coverDeclined  = "cover_declined"
	coverCancelled = "cover_cancelled"
	coverExpired   = "cover_expired"
)

var coverEvents = map[string]bool{coverAsked: true, coverTaken: true, coverDeclined: true, coverCancelled: true, coverExpired: true}

// Covered stores the notifications about a request for cover. A person who cannot be notified keeps neither the change nor
// the others from it.
func (r *Service) Covered(tx *db.Tx, e schedule.CoverEvent, now time.Time) error {
	zone, err := person.Zone(tx, e.Account)
	if err != nil {
		return err
	}
	shifts, err := schedule.FindShifts(tx, e.Account, e.Request.ScheduleID, zone)
	if err != nil || shifts == nil || shifts.Disabled {
		return err
	}
	t := &notifier{service: r, tx: tx, account: e.Account, schedule: e.Request.ScheduleID, shifts: shifts, now: now}
	for _, id := range e.To {
		failed, err := tx.Try(func() error { return t.cover(&e, id) })
		if err != nil {
			return err
		}
		if failed != nil {
			r.Log.Error("the notification about a request for cover could not be stored", "account_id", t.account, "schedule_id", t.schedule,
				"person_id", id, "error", failed)
		}
	}
	return nil
}

// cover stores the notification to one person.
func (t *notifier) cover(e *schedule.CoverEvent, id int64) error {
	p, found, err := notify.Find(t.tx, t.account, id)
	if err != nil || !found {
		return err
	}
	by, err := t.by(id)
	if err != nil {
		return err
	}
	q := &e.Request
	words, err := t.coverWords(e, id)
	if err != nil {
		return err
	}
	what, reason := coverAsked, sentence.Raw("asked to cover a shift")
	switch q.Status {
	case schedule.CoverAccepted:
		what, reason = coverTaken, sentence.New("cover_asked")
	case schedule.CoverDeclined:
		what, reason = coverDeclined, sentence.New("cover_asks")
	case schedule.CoverCancelled:
		what, reason = coverCancelled, sentence.New("cover_concerned")
	case schedule.CoverExpired:
		what, reason = coverExpired, sentence.New("cover_asks")
	}
	n := t.notification(what, q.Start, words, t.zone(p))
	n.Key = fmt.Sprintf("shift/%d/%s/%d/p%d", t.schedule, what, q.RequestID, id)
	n.Reason, n.Detail.Until = reason, q.End
	if what == coverAsked {
		n.Detail.Request = q.RequestID
		n.Detail.Expire = q.ExpireAt
		n.Detail.Until = q.ExpireAt
	}
	return t.service.Notify.PutFor(t.tx, p, by, "Info", n, t.now)
}

// coverWords returns what a person reads about a request.
func (t *notifier) coverWords(e *schedule.CoverEvent, reader int64) (text, error) {
	q := &e.Request
	asks, err := t.names([]int64{q.PersonID})
	if err != nil {
		return nil, err
	}
	actor, err := t.names([]int64{max(e.Actor, q.TakenBy)})
	if err != nil {
		return nil, err
	}
	return func(clock func(int64) string) (subject, body string) {
		times := fmt.Sprintf("in %s from %s until %s", t.shifts.Name, clock(q.Start), clock(q.End))
		subject = "Cover in " + t.shifts.Name + " from " + clock(q.Start)
		still := " You are still on call " + times + "."
		switch q.Status {
		case schedule.CoverAccepted:
			return subject, fmt.Sprintf("%s is on call %s in place of %s. There is nothing left for you to do.", actor, times, asks)
		case schedule.CoverDeclined:
			return subject, "Everyone whom you asked has declined." + still
		case schedule.CoverCancelled:
			if reader == q.PersonID {
				return subject, actor + " cancelled your request for cover." + still
			}
			return subject, fmt.Sprintf("%s does not need cover %s any more.", asks, times)
		case schedule.CoverExpired:
			return subject, "No one took your shift." + still
		}
		why := ""
		if q.Reason != "" {
			why = " Reason: " + strings.TrimRight(q.Reason, ".") + "."
		}
		return subject, fmt.Sprintf("%s asks you to be on call %s in their place.%s", asks, times, why)
	}, nil
}

// staleAsk returns why a person need not be asked any more; empty when the request is open.
func staleAsk(tx *db.Tx, n *notify.Notification, now time.Time) string {
	q, found, err := schedule.FindCover(tx, n.Account, n.Detail.Request)
	switch {
	case err != nil:
		return ""
	case !found || q.Status != schedule.CoverOpen || q.ExpireAt <= now.Unix():
		return "the request for cover is closed"
	}
	return ""
}

// expiry returns the background job that closes the requests for cover that no one accepted in time.
func (r *Service) expiry() jobs.Job {
	return jobs.Job{Name: "cover", Interval: time.Second, Run: r.expire}
}

// expire closes the requests that are due, and returns when the next one is.
func (r *Service) expire(ctx context.Context, now time.Time) (again time.Time, err error) {
	var next int64
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		next, err = schedule.NextExpiry(tx)
		return err
	})
	if err != nil || next == 0 || next > now.Unix() {
		return unixTime(next), err
	}
	var accounts []int64
	if err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		accounts, err = schedule.ExpiringCovers(tx, now)
		return err
	}); err != nil {
		return unixTime(next), err
	}
	for _, account := range accounts {
		err = errors.Join(err, r.DB.WriteOf(ctx, account, func(tx *db.Tx) error { return r.expireOf(tx, account, now) }))
	}
	err = errors.Join(err, r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		next, err = schedule.NextExpiry(tx)
		return err
	}))
	return unixTime(next), err
}

// expireOf closes the requests of an account that are due.
func (r *Service) expireOf(tx *db.Tx, account int64, now time.Time) error {
	events, err := schedule.ExpireCovers(tx, account, now)
	if err != nil {
		return err
	}
	for _, e := range events {
		failed, err := tx.Try(func() error { return r.Covered(tx, e, now) })
		if err != nil {
			return err
		}
		if failed != nil {
			r.Log.Error("the end of a request for cover could not be notified", "account_id", e.Account,
				"schedule_id", e.Request.ScheduleID, "error", failed)
		}
	}
	return nil
}
