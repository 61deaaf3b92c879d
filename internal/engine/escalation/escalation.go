// Package escalation tells the right people of an incident, one layer of a rule after the other, until
// somebody takes care. What is to be done is a row with the moment at which it is due; what the layers' turn
// is, is decided by the pure escalate.
//
// It must never leave an incident with nobody told and nothing said: a layer without anybody to tell is
// skipped, waits or falls back, and when all end without a person told the account's owner is.
package escalation

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/core/escalationplan"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/secret"
)

// Service escalates.
type Service struct {
	DB      *db.DB
	Bus     *activity.Bus
	Keyring *secret.Keyring
	Log     *slog.Logger
	Notify  *notify.Service
	Wake    *jobs.Signal // wakes the job; raised too by what makes escalations due
	// Silenced tells whether silence rules hold all active alerts of an incident, until when (Unix seconds, 0:
	// they do not) and which, in words; may be nil. It is not called in a transaction.
	Silenced func(ctx context.Context, account, channel int64, incident string, now time.Time) (until int64, why string, err error)

	accounts *jobs.RoundRobin
}

// New makes the room.
func New(r Service) *Service {
	r.accounts = jobs.NewRoundRobin(r.Wake)
	return &r
}

// Job is the room's background work.
func (r *Service) Job() jobs.Job {
	return jobs.Job{Name: "escalate", Interval: time.Second, Run: r.due, Wait: r.accounts.Wait, Signal: r.Wake}
}

// Failing is why an escalation has ended that goes wrong each time: it has not, and is tried again.
const Failing = "failing"

// pause is until an escalation that went wrong is tried again, in seconds.
const pause = 60

// due gives each account that has escalations which are due a turn.
func (r *Service) due(ctx context.Context, now time.Time) (again time.Time, err error) {
	var accounts []int64
	err = r.DB.Read(ctx, func(tx *db.Tx) error {
		for after := int64(-1); ; {
			account, found, err := db.One(tx, db.Column[int64], `SELECT account_id FROM escalation WHERE next_at > 0 AND account_id > $1 ORDER BY account_id LIMIT 1`, after)
			if err != nil || !found {
				return err
			}
			next, _, err := db.One(tx, db.Column[int64], `SELECT coalesce(min(next_at), 0) FROM escalation WHERE account_id = $1 AND next_at > 0`, account)
			if err != nil {
				return err
			}
			if after = account; next <= now.Unix() && r.accounts.After(account, now) == 0 {
				accounts = append(accounts, account)
			} else if next := time.Unix(max(next, now.Unix()+1), 0); again.IsZero() || next.Before(again) {
				again = next
			}
		}
	})
	if err != nil {
		return again, err
	}
	return again, r.accounts.Begin(ctx, now, accounts, r.turn)
}

// batch is how many escalations go on in one transaction.
const batch = 30

// dear is how many steps of choosing rules make a turn a dear one (see filter.Meter).
const dear = 1_000_000

// turn does what is due of an account's escalations. One that goes wrong holds up no other.
func (r *Service) turn(t *jobs.Round) error {
	var due []stored
	err := r.DB.Read(t.Ctx, func(tx *db.Tx) (err error) {
		due, err = db.All(tx, scanStored, `SELECT `+columns+` FROM escalation WHERE account_id = $1 AND next_at > 0 AND next_at <= $2 ORDER BY next_at LIMIT $3 + 0`, t.Account, t.Now.Unix(), batch)
		return err
	})
	if err != nil || len(due) == 0 {
		return err
	}
	var ready []prepared
	for i, total := 0, int64(0); i < len(due) && total < dear; i++ {
		p, steps := r.prepare(t.Ctx, &due[i], t.Now)
		ready = append(ready, p)
		total += steps
		t.Dear = total >= dear
	}
	return r.DB.Write(t.Ctx, func(tx *db.Tx) (err error) {
		for i := 0; i < len(ready) && err == nil; i++ {
			err = r.one(tx, &ready[i], t.Now)
		}
		return err
	})
}

// one does what is due of one escalation, if all that was prepared is still so; else its turn is yet to come. When it
// goes wrong the account's owner is told instead, once, and it is tried again later.
func (r *Service) one(tx *db.Tx, p *prepared, now time.Time) error {
	s, found, err := db.One(tx, scanStored, `SELECT `+columns+` FROM escalation WHERE account_id = $1 AND incident_id = $2 AND run = $3 AND next_at > 0 AND next_at <= $4`, p.account, p.incident, p.number, now.Unix())
	if err != nil || !found {
		return err
	}
	failed, err := tx.Try(func() error {
		if p.err != nil {
			return p.err
		}
		if holds, err := p.holds(tx); err != nil || !holds {
			return err
		}
		e, err := s.read()
		if err != nil {
			return err
		}
		if s.ruleText == "" {
			goes, err := r.choose(tx, &e, p, now)
			if err != nil || !goes || e.next > now.Unix() && p.subject.Progress == incident.Triggered {
				return err
			}
		}
		e.silenced, e.silencedBy = p.silenced, p.silencedBy
		return r.step(tx, &e, now)
	})
	if err != nil || failed == nil {
		return err
	}
	return r.wrong(tx, &s, failed, now)
}

// wrong puts an escalation off that went wrong, and tells the account's owner of the first time.
func (r *Service) wrong(tx *db.Tx, s *stored, failed error, now time.Time) error {
	r.Log.Error("an escalation went wrong", "incident_id", s.incident, "account_id", s.account, "run", s.number, "error", failed)
	next, ended := now.Unix()+pause, Failing
	unsaid, err := tx.Try(func() error {
		i, found, err := incident.Find(tx, s.account, s.incident)
		switch {
		case err != nil:
			return err
		case !found || i.Progress == incident.Closed:
			next, ended = 0, string(escalationplan.Resolved)
		case s.ended != Failing && i.Progress == incident.Triggered:
			return r.tellOwner(tx, &i, s.number, "its escalation cannot go on; the server's log says why", now)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if unsaid != nil {
		r.Log.Error("nor could the owner be told", "incident_id", s.incident, "account_id", s.account, "error", unsaid)
	}
	_, err = tx.Exec(`UPDATE escalation SET next_at = $4, ended = $5 WHERE account_id = $1 AND incident_id = $2 AND run = $3`, s.account, s.incident, s.number, next, ended)
	return err
}

// step does what is due of one escalation, and settles when to look again.
func (r *Service) step(tx *db.Tx, e *run, now time.Time) error {
	i, found, err := incident.Find(tx, e.account, e.incident)
	if err != nil {
		return err
	}
	if !found {
		e.next, e.ended = 0, "removed"
		return e.save(tx)
	}
	if e.ended == string(escalationplan.Exhausted) { // waits for what became of its notices
		return r.exhausted(tx, e, &i, now)
	}
	e.ended = "" // it goes on, if it was failing
	for range maxTurns {
		a := escalationplan.Next(e.timing.Rule, e.started, e.done, e.state(&i), now.Unix())
		if stays, err := r.held(tx, e, &i, a, now); stays || err != nil {
			return err
		}
		if e.next, e.ended = a.Next, ""; e.next == 0 {
			e.ended = string(a.Why)
		}
		again, err := r.turns(tx, e, &i, a.Due, now)
		switch {
		case err != nil:
			return err
		case again:
			continue
		case e.ended == string(escalationplan.Exhausted):
			return r.exhausted(tx, e, &i, now)
		}
		return e.save(tx)
	}
	return fmt.Errorf("it has not come to an end after %d turns", maxTurns)
}

// maxTurns is how often one step may change the plan: each layer can be skipped, wait and be held.
const maxTurns = 100

// turns does the steps that are due, and tells whether the plan has changed on the way.
func (r *Service) turns(tx *db.Tx, e *run, i *incident.Incident, due []escalationplan.Result, now time.Time) (again bool, err error) {
	for _, v := range due {
		what := told
		if v.Tell {
			if what, err = r.layer(tx, e, i, v, now); err != nil {
				return false, err
			}
		}
		switch what {
		case waits: // its step is still to come
			return true, nil
		case skipped: // the next one is due
			e.done = e.timing.Skip(v.Step)
			return true, nil
		}
		e.done++
	}
	return false, nil
}

// held lets an escalation stand still while silence rules hold all of the incident's alerts, although they
// were open before: in maintenance nobody is paged for it. Its clock goes on when the first of them ends.
func (r *Service) held(tx *db.Tx, e *run, i *incident.Incident, a escalationplan.Answer, now time.Time) (stays bool, err error) {
	first := slices.IndexFunc(a.Due, func(v escalationplan.Result) bool { return v.Tell })
	if first < 0 {
		return false, nil
	}
	until, why := e.silenced, e.silencedBy
	switch {
	case until <= now.Unix() && e.timing.Held > 0:
		e.timing.Still = append(e.timing.Still, escalationplan.Span{From: e.timing.Held, Until: now.Unix()})
		e.timing.Held = 0
		return true, r.step(tx, e, now)
	case until <= now.Unix():
		return false, nil
	}
	said := e.timing.Held > 0
	if !said {
		e.timing.Held = a.Due[first].At
	}
	e.next = until
	if err := e.save(tx); err != nil || said {
		return true, err
	}
	return true, r.Bus.Publish(tx, activity.Item{Account: i.AccountID, ID: i.IncidentID, Channel: i.ChannelID, At: now,
		Event: activity.Notified{LayerIdx: int64(a.Due[first].Layer), EscalateRuleID: e.ruleID, EscalateRuleName: e.ruleName, By: "nobody", Reason: why, Then: "wait", Until: until}})
}
