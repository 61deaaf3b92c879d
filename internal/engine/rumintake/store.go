package rumintake

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"tocsin/internal/core/rumerror"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
	"tocsin/internal/rum"
)

// group holds the errors of one issue in a batch.
type group struct {
	application rum.Application
	fingerprint rumerror.Fingerprint
	errors      []*rumerror.Error // in the order of arrival
	reports     []*report         // that hold them
	alerted     *rumerror.Error   // the last error that is no noise; nil: none
	noise       string            // why the last error is noise
	now         time.Time         // of the last report
}

// groups returns the errors of a batch by application and fingerprint, in the order in which each came first.
func groups(batch []*report) []*group {
	type key struct{ application, fingerprint string }
	known := map[key]*group{}
	var list []*group
	for _, one := range batch {
		for i := range one.batch.Errors {
			e := &one.batch.Errors[i]
			f := rumerror.Of(one.application.ApplicationID, e)
			at := key{one.application.ApplicationID, f.Key}
			g := known[at]
			if g == nil {
				g = &group{fingerprint: f}
				known[at], list = g, append(list, g)
			}
			g.application, g.now, g.errors = one.application, one.now, append(g.errors, e)
			if noise := e.Noise(); noise != "" {
				g.noise = noise
			} else {
				g.alerted = e
			}
			if n := len(g.reports); n == 0 || g.reports[n-1] != one {
				g.reports = append(g.reports, one)
			}
		}
	}
	return list
}

// maxSessions is how many sessions of an account one transaction counts: senders could invent any number of them.
const maxSessions = 500

// store stores the errors of a batch. A group that fails, such as one with a corrupt row, fails its reports alone.
func (r *Service) store(ctx context.Context, account int64, batch []*report) error {
	list := groups(batch) // computes fingerprints: not while others wait to write
	if len(list) == 0 {
		return nil
	}
	return r.DB.WriteOf(ctx, account, func(tx *db.Tx) error {
		w := &writer{Service: r, tx: tx, account: account, full: map[string]bool{}, sessions: maxSessions}
		for _, g := range list {
			failed, err := tx.Try(func() error { return w.group(g) })
			if err != nil {
				return err
			}
			for _, one := range g.reports {
				one.err = errors.Join(one.err, failed)
			}
		}
		return nil
	})
}

// writer stores the groups of an account in one transaction.
type writer struct {
	*Service
	tx       *db.Tx
	account  int64
	full     map[string]bool // applications with too many new issues
	sessions int             // that may still be counted
	zone     *time.Location  // the account's, once it was needed
}

// group stores the errors of one issue, and what they change of it.
func (w *writer) group(g *group) error {
	last := g.errors[len(g.errors)-1]
	issue, found, err := rum.IssueOf(w.tx, w.account, g.application.ApplicationID, g.fingerprint, last)
	if err != nil {
		return err
	}
	if !found {
		if full, err := w.tooMany(g); full || err != nil {
			return err
		}
		issue = newIssue(g)
		if err := errors.Join(issue.Insert(w.tx, w.account), issue.AddFingerprint(w.tx, w.account, g.fingerprint)); err != nil {
			return err
		}
	}
	versions, err := w.versions(g)
	if err != nil {
		return err
	}
	if version, back := regressed(&issue, g.errors, versions); back {
		issue.Regression = &rum.Regression{RegressedAt: g.now.UnixMilli(), RegressedAtVersion: version, ResolvedAt: issue.ResolvedAt}
		issue.Status, issue.ResolvedAt, issue.ResolvedBy, issue.Severity = "for_review", 0, 0, ""
	}
	added, err := w.count(issue.IssueID, g)
	if err != nil {
		return err
	}
	issue.SessionCount += added
	update(&issue, g)
	if err := issue.Update(w.tx, w.account); err != nil {
		return err
	}
	if err := w.countDay(&issue, g, added); err != nil {
		return err
	}
	if err := issue.AddSamples(w.tx, w.account, g.errors, g.now); err != nil {
		return err
	}
	if g.alerted == nil {
		return nil
	}
	return w.alert(&g.application, &issue, g.alerted, g.now)
}

// tooMany reports whether the application has so many new issues that errors of further kinds are not stored. A client
// token is public: without a bound its sender could fill the database.
func (w *writer) tooMany(g *group) (full bool, err error) {
	id := g.application.ApplicationID
	if !w.full[id] {
		n, err := rum.CountNew(w.tx, w.account, id, g.now.Add(-hour))
		if err != nil || n < maxNewIssues {
			return false, err
		}
		w.full[id] = true
		if err := w.raiseTooMany(&g.application, g.now); err != nil {
			return true, err
		}
	}
	w.tx.OnCommit(func() { w.errors.WithLabelValues("over").Add(float64(len(g.errors))) })
	return true, nil
}

// newIssue returns the issue of errors of a new kind, before they are counted.
func newIssue(g *group) rum.Issue {
	e, now := g.errors[0], g.now.UnixMilli()
	kind, _ := rumerror.Normal(e.Type, e.Message)
	return rum.Issue{
		IssueID: id.Short(), ApplicationID: g.application.ApplicationID, ApplicationName: g.application.ApplicationName,
		TeamID: g.application.TeamID, Service: e.Service, Status: "for_review", CreatedAt: now, UpdatedAt: now,
		FirstSeen: rum.Seen{Timestamp: e.Time, Version: e.Version}, LastSeen: rum.Seen{Timestamp: e.Time, Version: e.Version},
		Error:          rum.Error{Message: e.Message, Type: cmp.Or(e.Type, kind)},
		SuspectedCause: rum.Cause{Source: "auto", Value: rumerror.SuspectedCause(e)}, Versions: []string{},
	}
}

// versions stores the versions of the errors, and returns when each version of their service was first seen, in Unix
// milliseconds.
func (w *writer) versions(g *group) (map[string]int64, error) {
	application, service := g.application.ApplicationID, g.errors[0].Service
	seen := map[string]bool{"": true}
	for _, e := range g.errors {
		if seen[e.Version] {
			continue
		}
		seen[e.Version] = true
		if err := rum.SeeVersion(w.tx, w.account, application, service, e.Version, g.now); err != nil {
			return nil, err
		}
	}
	if len(seen) == 1 {
		return nil, nil
	}
	return rum.Versions(w.tx, w.account, application, service)
}

// regressed reports whether one of the errors reopens a resolved issue, and its version: a version that the issue did not
// have, and that is no older than the newest one of the issue, or none. versions has when each was first seen.
func regressed(issue *rum.Issue, list []*rumerror.Error, versions map[string]int64) (version string, back bool) {
	if issue.Status != "resolved" {
		return "", false
	}
	newest := int64(0)
	for _, v := range issue.Versions {
		newest = max(newest, versions[v])
	}
	for _, e := range list {
		since, known := versions[e.Version]
		switch {
		case e.Version == "":
			return "", true
		case slices.Contains(issue.Versions, e.Version):
		case !known || since >= newest:
			return e.Version, true
		}
	}
	return "", false
}

// count stores the sessions of the errors and returns how many are new.
func (w *writer) count(issue string, g *group) (int64, error) {
	var sessions []string
	for _, e := range g.errors {
		if e.Session != "" && len(sessions) < w.sessions && !slices.Contains(sessions[max(0, len(sessions)-20):], e.Session) {
			sessions = append(sessions, e.Session)
		}
	}
	w.sessions -= len(sessions)
	return rum.AddSessions(w.tx, w.account, issue, sessions, g.now)
}

// countDay counts the errors on the day of the last report, in the account's time zone.
func (w *writer) countDay(issue *rum.Issue, g *group, sessions int64) (err error) {
	if w.zone == nil {
		if w.zone, err = person.Zone(w.tx, w.account); err != nil {
			return err
		}
	}
	return issue.CountDay(w.tx, w.account, g.now.In(w.zone), g.errors, sessions)
}

// maxVersions is how many versions an issue lists; the oldest are left out.
const maxVersions = 100

// update adds the errors to the issue.
func update(i *rum.Issue, g *group) {
	i.TeamID, i.ApplicationName, i.UpdatedAt = g.application.TeamID, g.application.ApplicationName, g.now.UnixMilli()
	i.ErrorCount += int64(len(g.errors))
	i.NoAlert = g.noise
	if g.alerted != nil {
		i.NoAlert = ""
	}
	for _, e := range g.errors {
		i.IsCrash = i.IsCrash || e.Crash
		if e.Time < i.FirstSeen.Timestamp {
			i.FirstSeen = rum.Seen{Timestamp: e.Time, Version: e.Version}
		}
		if e.Time >= i.LastSeen.Timestamp {
			i.LastSeen = rum.Seen{Timestamp: e.Time, Version: e.Version}
		}
		if e.Version != "" && !slices.Contains(i.Versions, e.Version) {
			i.Versions = append(i.Versions, e.Version)
		}
	}
	i.Versions = i.Versions[max(0, len(i.Versions)-maxVersions):]
	i.Age = (i.LastSeen.Timestamp - i.FirstSeen.Timestamp) / 1000
	if !i.Open() {
		return
	}
	began := i.FirstSeen.Timestamp
	if i.Regression != nil {
		began = max(began, i.Regression.RegressedAt)
	}
	age := max(0, g.now.UnixMilli()-began) / 1000
	for _, e := range g.errors {
		i.Severity = higher(i.Severity, rumerror.Severity(e, i.SuspectedCause.Value, age))
	}
}
