package escalation

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/core/escalationplan"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/untold"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/secret"
)

// Service escalates incidents: it holds the dependencies of the job and the operations. Make one with New.
type Service struct {
	DB       *db.DB
	Bus      *activity.Bus
	Keyring  *secret.Keyring
	Log      *slog.Logger
	Notify   *notify.Service
	Untold   *untold.Service
	Wake     *jobs.Signal    // wakes the job; raised too by what makes escalations due
	Silences untold.Silences // nil: nothing holds an incident

	accounts *jobs.RoundRobin
}

// New returns a service; of r it takes the dependencies.
func New(r Service) *Service {
	r.accounts = jobs.NewRoundRobin(r.Wake, r.DB.Meter(), r.DB.Crowded)
	return &r
}

// Job returns the background job.
func (r *Service) Job() jobs.Job {
	run := r.accounts.Rounds(r.DB, goingOn, r.runAccount)
	return jobs.Job{Name: "escalate", Interval: time.Second, Run: run, Wait: r.accounts.Wait, Signal: r.Wake}
}

// Failing marks, as the reason of an end, an escalation that fails each time. It has not ended and is retried.
const Failing = "failing"

// Unacknowledged is the reason of the end of an escalation whose last step is done while no person has acknowledged the
// incident.
const Unacknowledged = "unacknowledged"

// retryDelay is how long after a failure an escalation is retried, in seconds.
const retryDelay = 60

// wakeFor wakes the job for an account, once a transaction has committed.
func (r *Service) wakeFor(tx *db.Tx, account int64) {
	tx.OnCommit(func() { r.Wake.RaiseFor(account) })
}

// goingOn finds every account with an escalation or a follow-up that goes on, and when its first is due. It steps from
// account to account in the indexes, whatever number of rows an account has, and in one statement: a round trip for each
// account with an open incident would take longer than the interval of the job.
const goingOn = `WITH RECURSIVE ahead (account_id) AS (
	SELECT min(id) FROM (SELECT min(account_id) AS id FROM escalation WHERE next_at > 0
		UNION ALL SELECT min(account_id) FROM follow_up WHERE next_at > 0) AS first
	UNION ALL SELECT (SELECT min(id) FROM (SELECT min(account_id) AS id FROM escalation WHERE next_at > 0 AND account_id > ahead.account_id
		UNION ALL SELECT min(account_id) FROM follow_up WHERE next_at > 0 AND account_id > ahead.account_id) AS further)
		FROM ahead WHERE ahead.account_id IS NOT NULL)
	SELECT account_id, (SELECT coalesce(min(at), 0) FROM (
		SELECT min(next_at) AS at FROM escalation WHERE account_id = ahead.account_id AND next_at > 0
		UNION ALL SELECT min(next_at) FROM follow_up WHERE account_id = ahead.account_id AND next_at > 0) AS due)
	FROM ahead WHERE account_id IS NOT NULL`

// expensive is how many filter steps of choosing rules make a batch an expensive one (see filter.Meter). The account
// then waits longer for its next batch, so that others are not delayed.
const expensive = 1_000_000

// runAccount advances the escalations and the follow-ups of an account that are due. One that fails does not block the
// others.
func (r *Service) runAccount(t *jobs.Round) error {
	if err := r.work(steps).Round(t); err != nil {
		return err
	}
	return r.work(followUps).Round(t)
}

// stored returns the escalation's row; found is false when it is not as it was prepared: another process may have taken
// its step since.
func (p *prepared) stored(tx *db.Tx) (s stored, found bool) {
	for _, s := range batchOf(tx).runs[p.incident] {
		if s.number == p.number {
			return s, s.next == p.due && s.severity == p.severity && (s.text == "") == p.first
		}
	}
	return s, false
}

// advance takes the steps of one escalation that are due, if what was prepared still holds. Otherwise it changes
// nothing, and the escalation stays due.
func (r *Service) advance(tx *db.Tx, p *prepared, now time.Time) error {
	s, found := p.stored(tx)
	if !found || p.err != nil {
		return p.err
	}
	if current, err := p.current(tx); err != nil || !current {
		return err
	}
	e, err := s.read()
	if err != nil {
		return err
	}
	if s.text == "" {
		matched, err := r.choose(tx, &e, p, now)
		if err != nil || !matched {
			return err
		}
		if e.next > now.Unix() && p.subject.Progress == incident.Triggered {
			return e.save(tx)
		}
	}
	e.silenced, e.silencedBy = p.silenced, p.silencedBy
	if p.rose {
		return r.rise(tx, &e, p, now)
	}
	return r.step(tx, &e, now)
}

// postpone schedules the retry of an escalation that failed. After the first failure the incident is the fallback's.
func (r *Service) postpone(tx *db.Tx, p *prepared, failed error, now time.Time) error {
	s, found, err := db.One(tx, scanStored, `SELECT `+columns+` FROM escalation
		WHERE account_id = $1 AND incident_id = $2 AND run = $3 AND next_at = $4`, p.account, p.incident, p.number, p.due)
	if err != nil || !found {
		return err
	}
	r.Log.Error("an escalation failed", "incident_id", s.incident, "account_id", s.account, "run", s.number, "error", failed)
	next, ended := now.Unix()+retryDelay, Failing
	notifyErr, err := tx.Try(func() error {
		i, found, err := incident.Find(tx, s.account, s.incident)
		switch {
		case err != nil:
			return err
		case !found || i.Progress == incident.Closed:
			next, ended = 0, string(escalationplan.Resolved)
		case s.ended != Failing && i.Progress == incident.Triggered:
			return r.Untold.Add(tx, &i, sentence.New("cannot_go_on"), now)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if notifyErr != nil {
		r.Log.Error("the fallback could not be notified", "incident_id", s.incident, "account_id", s.account, "error", notifyErr)
	}
	return tx.Do(`UPDATE escalation SET next_at = $4, ended = $5
		WHERE account_id = $1 AND incident_id = $2 AND run = $3`, s.account, s.incident, s.number, next, ended)
}

// step takes the steps of one escalation that are due, and stores when the next one is.
func (r *Service) step(tx *db.Tx, e *run, now time.Time) error {
	i, found, err := find(tx, e.account, e.incident)
	if err != nil {
		return err
	}
	if !found {
		e.next, e.ended = 0, "removed"
		return e.save(tx)
	}
	if e.ended == Unacknowledged {
		e.next = 0
		return e.save(tx)
	}
	if e.ended == string(escalationplan.Exhausted) { // it waits for the result of its notifications
		return r.exhausted(tx, e, &i, now)
	}
	e.ended = "" // clears Failing: it goes on
	for range maxChanges {
		a := escalationplan.Next(e.timing.Rule, e.started, e.done, e.state(&i), now.Unix())
		if done, err := r.hold(tx, e, &i, a, now); done || err != nil {
			return err
		}
		e.next, e.ended = a.Next, ""
		if e.next == 0 {
			e.ended = string(a.Why)
		}
		changed, err := r.takeSteps(tx, e, &i, a.Due, now)
		switch {
		case err != nil:
			return err
		case changed:
			continue
		case e.ended == string(escalationplan.Exhausted):
			return r.exhausted(tx, e, &i, now)
		}
		return e.save(tx)
	}
	return fmt.Errorf("the plan of the escalation has changed %d times in one step and has not come to an end", maxChanges)
}

// maxChanges is how often one step may change the plan: each layer can be skipped, wait and be held.
const maxChanges = 100

// takeSteps takes the steps that are due, and reports whether one of them has changed the plan.
func (r *Service) takeSteps(
	tx *db.Tx, e *run, i *incident.Incident, due []escalationplan.Result, now time.Time,
) (changed bool, err error) {
	for _, v := range due {
		what := notified
		if v.Tell {
			what, err = r.notifyLayer(tx, e, i, v, now)
			if err != nil {
				return false, err
			}
		}
		switch what {
		case waiting: // its step is still to come
			return true, nil
		case skipped: // the next one is due
			e.done = e.timing.Skip(v.Step)
			return true, nil
		}
		e.done++
	}
	return false, nil
}

// hold stops the clock of an escalation while silence rules match all of the incident's alerts, even when the alerts
// were open before the silence began: in maintenance no person is paged. The clock goes on when the first silence ends.
// done reports whether the escalation is stored and needs nothing more now.
func (r *Service) hold(tx *db.Tx, e *run, i *incident.Incident, a escalationplan.Answer, now time.Time) (done bool, err error) {
	first := slices.IndexFunc(a.Due, func(v escalationplan.Result) bool { return v.Tell })
	if first < 0 && !e.clockStops(i, a, now.Unix()) {
		return false, nil
	}
	until, why := e.silenced, e.silencedBy
	switch {
	case until <= now.Unix() && e.timing.Held > 0:
		e.timing.Still = append(e.timing.Still, escalationplan.Span{From: e.timing.Held, Until: now.Unix()})
		e.timing.Held = 0
		if err := untold.Release(tx, e.account, e.incident); err != nil {
			return true, err
		}
		return true, r.step(tx, e, now)
	case until <= now.Unix():
		return false, nil
	}
	reported := e.timing.Held > 0 || first < 0 // in the incident's feed, once per silence
	switch {
	case e.timing.Held > 0:
	case first < 0:
		e.timing.Held = now.Unix()
	default:
		e.timing.Held = a.Due[first].At
	}
	e.next = until
	if err := e.save(tx); err != nil || reported {
		return true, err
	}
	if reached, _, err := personReached(tx, e); err != nil {
		return true, err
	} else if !reached {
		if err := untold.Hold(tx, i, why, now); err != nil {
			return true, err
		}
	}
	return true, r.publish(tx, i, now, activity.Notified{
		LayerIdx:         int64(a.Due[first].Layer),
		EscalateRuleID:   e.ruleID,
		EscalateRuleName: e.ruleName,
		By:               "nobody",
		Reason:           why,
		Then:             "wait",
		Until:            until,
	})
}
