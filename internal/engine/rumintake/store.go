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
	senders     []sender          // of the errors that are within the rate of their address
	alerted     *rumerror.Error   // the last error that is no noise; nil: none
	noise       string            // why the last error is noise
	now         time.Time         // of the last report
	admitted    bool              // it was counted as a new kind of one of the senders
	other       bool              // its errors are of kinds beyond the bounds
}

// add adds an error of a report.
func (g *group) add(one *report, e *rumerror.Error) {
	g.application, g.now = one.application, one.now
	g.errors = append(g.errors, e)
	if noise := e.Noise(); noise != "" {
		g.noise = noise
	} else {
		g.alerted = e
	}
	if n := len(g.reports); n == 0 || g.reports[n-1] != one {
		g.reports = append(g.reports, one)
	}
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
			g.add(one, e)
			if n := len(g.senders); i < one.within && (n == 0 || g.senders[n-1] != one.from) {
				g.senders = append(g.senders, one.from)
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
			if err := w.try(g, w.group); err != nil {
				return err
			}
		}
		for _, g := range w.others {
			if err := w.try(g, w.other); err != nil {
				return err
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
	others   []*group        // the errors of kinds beyond the bounds, by application
	sessions int             // that may still be counted
	zone     *time.Location  // the account's, once it was needed
}

// try stores a group. One that fails, such as one with a corrupt row, fails its reports alone.
func (w *writer) try(g *group, store func(*group) error) error {
	failed, err := w.tx.Try(func() error { return store(g) })
	if err != nil {
		return err
	}
	for _, one := range g.reports {
		one.err = errors.Join(one.err, failed)
	}
	return nil
}

// group stores the errors of one issue, unless they are of a new kind beyond the bounds.
func (w *writer) group(g *group) error {
	issue, found, err := rum.IssueOf(w.tx, w.account, g.application.ApplicationID, g.fingerprint)
	if err != nil {
		return err
	}
	if !found {
		if beyond, err := w.beyond(g); beyond || err != nil {
			return err
		}
		issue = newIssue(g)
		if err := errors.Join(issue.Insert(w.tx, w.account), issue.AddFingerprint(w.tx, w.account, g.fingerprint)); err != nil {
			return err
		}
	}
	return w.record(&issue, g)
}

// record stores what errors change of their issue.
func (w *writer) record(issue *rum.Issue, g *group) error {
	version, back, err := w.regressed(issue, g)
	if err != nil {
		return err
	}
	if back {
		issue.Regression = &rum.Regression{RegressedAt: g.now.UnixMilli(), RegressedAtVersion: version, ResolvedAt: issue.ResolvedAt}
		issue.Status = "for_review"
		issue.ResolvedAt = 0
		issue.ResolvedBy = 0
		issue.Severity = ""
	}
	added, err := w.count(issue.IssueID, g)
	if err != nil {
		return err
	}
	issue.SessionCount += added
	update(issue, g)
	if err := issue.Update(w.tx, w.account); err != nil {
		return err
	}
	if err := w.countDay(issue, g, added); err != nil {
		return err
	}
	if err := issue.AddSamples(w.tx, w.account, g.errors, g.now); err != nil {
		return err
	}
	if g.alerted == nil {
		return nil
	}
	return w.alert(issue, g)
}

// newIssue returns the issue of errors of a new kind, before they are counted.
func newIssue(g *group) rum.Issue {
	e, now := g.errors[0], g.now.UnixMilli()
	first := rum.Seen{Timestamp: e.Time, Version: g.version(e)}
	kind, _ := rumerror.Normal(e.Type, e.Message)
	return rum.Issue{
		IssueID: id.Short(), ApplicationID: g.application.ApplicationID, ApplicationName: g.application.ApplicationName,
		TeamID: g.application.TeamID, Service: e.Service, Status: "for_review", CreatedAt: now, UpdatedAt: now,
		FirstSeen: first, LastSeen: first,
		Error:          rum.Error{Message: e.Message, Type: cmp.Or(e.Type, kind)},
		SuspectedCause: rum.Cause{Source: "auto", Value: rumerror.SuspectedCause(e)}, Versions: []string{},
	}
}

// regressed stores the versions of the errors, and reports whether one of the errors reopens the issue, and its version. Any
// error reopens the issue of other errors.
func (w *writer) regressed(issue *rum.Issue, g *group) (version string, back bool, err error) {
	if g.other {
		return "", issue.Status == "resolved", nil
	}
	application, service := g.application.ApplicationID, g.errors[0].Service
	seen := map[string]bool{"": true}
	for _, e := range g.errors {
		if seen[e.Version] {
			continue
		}
		seen[e.Version] = true
		if err := rum.SeeVersion(w.tx, w.account, application, service, e.Version, g.now); err != nil {
			return "", false, err
		}
	}
	var versions map[string]int64
	if issue.Status == "resolved" && len(seen) > 1 { // read for these alone: a sender could invent a thousand versions
		versions, err = rum.Versions(w.tx, w.account, application, service)
		if err != nil {
			return "", false, err
		}
	}
	version, back = regressed(issue, g.errors, versions)
	return version, back, nil
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
		w.zone, err = person.Zone(w.tx, w.account)
		if err != nil {
			return err
		}
	}
	return issue.CountDay(w.tx, w.account, g.now.In(w.zone), g.errors, sessions)
}

// maxVersions is how many versions an issue lists; the oldest are left out.
const maxVersions = 100

// update adds the errors to the issue.
func update(i *rum.Issue, g *group) {
	i.TeamID = g.application.TeamID
	i.ApplicationName = g.application.ApplicationName
	i.UpdatedAt = g.now.UnixMilli()
	i.ErrorCount += int64(len(g.errors))
	i.NoAlert = g.noise
	if g.alerted != nil {
		i.NoAlert = ""
	}
	for _, e := range g.errors {
		version := g.version(e)
		i.IsCrash = i.IsCrash || e.Crash
		if e.Time < i.FirstSeen.Timestamp {
			i.FirstSeen = rum.Seen{Timestamp: e.Time, Version: version}
		}
		if e.Time >= i.LastSeen.Timestamp {
			i.LastSeen = rum.Seen{Timestamp: e.Time, Version: version}
		}
		if version != "" && !slices.Contains(i.Versions, version) {
			i.Versions = append(i.Versions, version)
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
