package rumintake

import (
	"context"
	"errors"
	"slices"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/rum"
)

// quiet is how long an issue or its version must be old to be resolved automatically.
const quiet = 14 * 24 * time.Hour

// Job returns the background job that resolves issues that have gone, and ends alerts that nothing can end any more.
func (r *Service) Job() jobs.Job {
	return jobs.Job{Name: "browser issues", Interval: time.Hour, Run: func(ctx context.Context, now time.Time) (again time.Time, err error) {
		var issues, alerts []int64
		err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
			issues, err = rum.AccountsWithOpenIssues(tx)
			if err != nil {
				return err
			}
			alerts, err = db.All(tx, db.Column[int64], `SELECT DISTINCT account_id FROM rum_alert`)
			return err
		})
		for _, account := range issues { // one that fails must not keep the others from theirs
			err = errors.Join(err, r.resolve(ctx, account, now))
		}
		for _, account := range alerts {
			err = errors.Join(err, r.closeLeft(ctx, account, now))
		}
		return again, err
	}}
}

// page is how many issues one transaction looks at.
const page = 200

// resolve resolves the issues of an account that have gone.
func (r *Service) resolve(ctx context.Context, account int64, now time.Time) error {
	for after := ""; ; {
		var gone []string
		n := 0
		err := r.DB.Snapshot(ctx, func(tx *db.Tx) error {
			list, err := rum.OpenIssues(tx, account, after, page)
			if err != nil {
				return err
			}
			n = len(list)
			if n > 0 {
				after = list[n-1]
			}
			gone, err = r.goneOf(tx, account, list, now)
			return err
		})
		if err != nil {
			return err
		}
		for _, issue := range gone {
			if err := r.DB.WriteOf(ctx, account, func(tx *db.Tx) error { return r.resolveOne(tx, account, issue, now) }); err != nil {
				return err
			}
		}
		if n < page {
			return nil
		}
	}
}

// goneOf returns the issues of a list that have gone.
func (r *Service) goneOf(tx *db.Tx, account int64, list []string, now time.Time) (gone []string, err error) {
	for _, id := range list {
		issue, found, err := r.readable(tx, account, id)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		over, err := hasGone(tx, account, &issue, now)
		if err != nil {
			return nil, err
		}
		if over {
			gone = append(gone, id)
		}
	}
	return gone, nil
}

// readable returns an issue. One that is corrupt is logged and not found: it must not keep the others from being resolved.
func (r *Service) readable(tx *db.Tx, account int64, id string) (i rum.Issue, found bool, err error) {
	i, found, err = rum.FindIssue(tx, account, id)
	if err != nil && fault.KindOf(err) != fault.Unavailable {
		r.Log.Error("a stored issue cannot be read", "account_id", account, "issue_id", id, "error", err)
		return i, false, nil
	}
	return i, found, err
}

// hasGone reports whether an issue is over. An issue of a version is over when that version is old, there is a later one,
// and the issue was not seen in any later one; an issue without a version when it was not seen for long.
func hasGone(tx *db.Tx, account int64, i *rum.Issue, now time.Time) (bool, error) {
	before := now.Add(-quiet).UnixMilli()
	if i.LastSeen.Version == "" {
		return i.LastSeen.Timestamp < before, nil
	}
	versions, err := rum.Versions(tx, account, i.ApplicationID, i.Service)
	if err != nil {
		return false, err
	}
	since, known := versions[i.LastSeen.Version]
	if !known { // of an account file
		since = i.LastSeen.Timestamp
	}
	later := false
	for name, seen := range versions {
		if seen <= since {
			continue
		}
		later = true
		if slices.Contains(i.Versions, name) {
			return false, nil
		}
	}
	return later && since < before, nil
}

// resolveOne resolves an issue unless it has changed since, and ends its alert.
func (r *Service) resolveOne(tx *db.Tx, account int64, id string, now time.Time) error {
	i, found, err := r.readable(tx, account, id)
	if err != nil || !found || !i.Open() {
		return err
	}
	if over, err := hasGone(tx, account, &i, now); err != nil || !over {
		return err
	}
	i.Status = "resolved"
	i.ResolvedAt = now.UnixMilli()
	i.ResolvedBy = 0
	i.UpdatedAt = now.UnixMilli()
	return errors.Join(i.Update(tx, account), r.close(tx, account, id, "The issue was resolved automatically: it has not come back.", now))
}

// closeLeft ends alerts of issues that are gone, corrupt or closed, and of applications that are deleted.
func (r *Service) closeLeft(ctx context.Context, account int64, now time.Time) error {
	var left []open
	err := r.DB.Snapshot(ctx, func(tx *db.Tx) error {
		list, err := db.All(tx, scanOpen, `SELECT `+columns+` FROM rum_alert WHERE account_id = $1 ORDER BY issue_id`, account)
		if err != nil {
			return err
		}
		for _, o := range list {
			over, err := r.isLeft(tx, account, o)
			if err != nil {
				return err
			}
			if over {
				left = append(left, o)
			}
		}
		return nil
	})
	for _, o := range left {
		err = errors.Join(err, r.DB.WriteOf(ctx, account, func(tx *db.Tx) error {
			if over, err := r.isLeft(tx, account, o); err != nil || !over { // the issue has come back since
				return err
			}
			return r.close(tx, account, o.issue, "The issue is closed, or its application was deleted.", now)
		}))
	}
	return err
}

// isLeft reports whether nothing can end an alert any more.
func (r *Service) isLeft(tx *db.Tx, account int64, o open) (bool, error) {
	issue, found, err := r.readable(tx, account, o.issue)
	if err != nil {
		return false, err
	}
	_, has, err := rum.FindApplication(tx, account, o.application)
	return err == nil && (!found || !has || !issue.Open()), err
}
