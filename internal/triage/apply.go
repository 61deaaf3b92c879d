package triage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/db"
	"tocsin/internal/decide"
	"tocsin/internal/escalation"
	"tocsin/internal/id"
	"tocsin/internal/incident"
	"tocsin/internal/news"
)

// Drill is the label that marks the events of a drill: their incidents say that nothing is wrong.
const Drill = "tocsin_drill"

// apply stores what a verdict says about its alert and incident, and tells of it.
func (r *Room) apply(s *state, v *decide.Verdict, now time.Time) error {
	a := v.Alert
	if a == nil {
		return nil
	}
	in, err := s.inlet(a.Integration)
	if err != nil {
		return err
	}
	var origin alert.Origin
	if in != nil {
		origin = in.origin
	}
	desk := incident.Desk{Tx: s.tx, Bus: r.Bus, Account: s.account, Now: now}
	before := a.Incident
	switch {
	case v.Grouping.Open:
		a.Incident = id.Object(now)
	case v.Grouping.Join != "":
		a.Incident = v.Grouping.Join
	}
	if err := alert.Save(s.tx, s.account, a, origin, now); err != nil {
		return err
	}
	for _, kind := range v.Feed {
		item := news.Item{Account: s.account, ID: a.ID, Channel: a.Channel, At: now, Event: news.AlertDecided{Kind: kind, Severity: a.Severity, Status: a.Status, Title: a.Title}}
		if err := r.Bus.Tell(s.tx, item); err != nil {
			return err
		}
	}
	switch {
	case v.Grouping.Open:
		return r.open(desk, s, v, origin)
	case v.Grouping.Join != "":
		return desk.Joined(a.Incident, a, origin, v.Grouping.Storm)
	case v.Outcome == decide.Recovered:
		if err := alert.Uninhibit(s.tx, s.account, a.ID, now.Unix()); err != nil || before == "" {
			return err
		}
		return desk.Recovered(before)
	case v.Outcome == decide.Grouped:
		return desk.Updated(before, a)
	}
	return nil
}

func (r *Room) open(desk incident.Desk, s *state, v *decide.Verdict, origin alert.Origin) error {
	ch, err := s.Channel(v.Channel)
	if err != nil {
		return err
	}
	method := "n"
	if ch != nil && ch.Grouping.ByFields {
		method = "p"
	}
	return desk.OpenFor(v.Alert, origin, v.Grouping.Key, method, v.Event.Labels[Drill] != "")
}

// again decides anew about alerts whose silence, inhibition or flapping may have ended, and first of all
// makes those due whose account was configured differently since.
func (r *Room) again(ctx context.Context, now time.Time) (again time.Time, err error) {
	more := false
	_, err = r.write(ctx, func(tx *db.Tx, t *tally) error {
		if err := r.reconfigured(tx, now); err != nil {
			return err
		}
		due, err := alert.DueAgain(tx, now.Unix(), batch)
		for i := 0; i < len(due) && err == nil; i++ {
			err = r.apart(tx, t, due[i], now)
		}
		more = len(due) == batch
		if next := int64(0); err == nil && !more {
			if next, err = alert.NextAgain(tx); next > 0 {
				again = time.Unix(next, 0)
			}
		}
		return err
	})
	if more {
		again = now
	}
	return again, err
}

// reconfigured makes the muted alerts and the escalations of accounts due whose configuration has changed: the
// rule that held one may be gone.
func (r *Room) reconfigured(tx *db.Tx, now time.Time) error {
	accounts, err := db.All(tx, db.Column[int64], `SELECT account_id FROM account WHERE revision <> revision_applied`)
	for i := 0; i < len(accounts) && err == nil; i++ {
		if err = errors.Join(alert.Unmute(tx, accounts[i], now.Unix()), escalation.Reconsider(tx, accounts[i], now)); err == nil {
			_, err = tx.Exec(`UPDATE account SET revision_applied = revision WHERE account_id = $1`, accounts[i])
		}
	}
	return err
}

// apart decides anew about one alert; one that fails is put off, and holds up no other.
func (r *Room) apart(tx *db.Tx, t *tally, d alert.Due, now time.Time) error {
	failed, err := tx.Try(func() error { return r.anew(tx, t, d, now) })
	if err != nil || failed == nil {
		return err
	}
	r.Log.Error("an alert could not be decided again", "alert_id", d.ID, "account_id", d.Account, "error", failed)
	return alert.PutOff(tx, d, now.Unix()+60)
}

func (r *Room) anew(tx *db.Tx, t *tally, d alert.Due, now time.Time) error {
	a, found, err := alert.Find(tx, d.Account, d.ID)
	if err != nil || !found {
		return err
	}
	ready, err := r.ready(tx, d.Account)
	if err != nil {
		return err
	}
	s := &state{tx: tx, account: d.Account, ready: ready}
	was, by := a.Muted, a.MutedBy
	v, err := decide.Again(s, &a, now.Unix())
	if err != nil {
		return err
	}
	if v.Outcome.Muted() && a.MutedUntil <= now.Unix() { // whatever says so, not in a circle
		a.MutedUntil = now.Unix() + 60
	}
	if err := r.apply(s, &v, now); err != nil {
		return err
	}
	if v.Outcome == was && a.MutedBy == by {
		return nil // nothing to explain
	}
	t.outcomes = append(t.outcomes, string(v.Outcome))
	return record(tx, d.Account, "", &v, now)
}

// Silenced tells whether silence rules hold every active alert of an incident at a moment, or its channel is disabled,
// until when (Unix seconds) and why, in words. Nobody is paged of such an incident, though it was open before.
func (r *Room) Silenced(tx *db.Tx, account, channel int64, incident string, now time.Time) (until int64, why string, err error) {
	ready, err := r.ready(tx, account)
	if err != nil {
		return 0, "", err
	}
	s := &state{tx: tx, account: account, ready: ready}
	ch, err := s.Channel(channel)
	switch {
	case err != nil || ch == nil:
		return 0, "", err
	case ch.Disabled:
		return now.Unix() + 3600, "its channel is disabled", nil // when it is enabled all are looked at again
	}
	alerts, err := alert.OfIncident(tx, account, incident, decide.MaxAlerts, 0)
	if err != nil {
		return 0, "", err
	}
	for i := range alerts {
		a := &alerts[i]
		if !a.Active() {
			continue
		}
		rule, ends := decide.Held(ch, a, now.Unix())
		if rule == nil {
			return 0, "", nil
		}
		if until == 0 || ends < until {
			until, why = ends, fmt.Sprintf("silence rule %s holds its alerts", rule.Name)
		}
	}
	return until, why, nil
}
