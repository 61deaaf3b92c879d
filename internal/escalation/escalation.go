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

	"tocsin/internal/db"
	"tocsin/internal/escalate"
	"tocsin/internal/incident"
	"tocsin/internal/news"
	"tocsin/internal/notify"
	"tocsin/internal/seal"
	"tocsin/internal/work"
)

// Room escalates.
type Room struct {
	DB     *db.DB
	Bus    *news.Bus
	Box    *seal.Box
	Log    *slog.Logger
	Notify *notify.Room
	Wake   func() // called when notices have been made; may be nil
	// Silenced tells whether silence rules hold all active alerts of an incident, until when (Unix seconds, 0:
	// they do not) and which, in words; may be nil.
	Silenced func(tx *db.Tx, account, channel int64, incident string, now time.Time) (until int64, why string, err error)
}

// Task is the room's background work.
func (r *Room) Task() work.Task { return work.Task{Name: "escalate", Idle: time.Second, Run: r.due} }

// Failing is why an escalation has ended that goes wrong each time: it has not, and is tried again.
const Failing = "failing"

// pause is until an escalation that went wrong is tried again, in seconds.
const pause = 60

// due does what is due of all escalations. One that goes wrong holds up no other.
func (r *Room) due(ctx context.Context, now time.Time) (again time.Time, err error) {
	const batch = 100
	next := int64(0)
	soonest := func(tx *db.Tx) (err error) {
		next, _, err = db.One(tx, db.Column[int64], `SELECT coalesce(min(next_at), 0) FROM escalation WHERE next_at > 0`)
		return err
	}
	if err := r.DB.Read(ctx, soonest); err != nil || next == 0 || next > now.Unix() { // those who write do not wait for nothing
		return moment(next), err
	}
	more, told := false, false
	err = r.DB.Write(ctx, func(tx *db.Tx) error {
		runs, err := db.All(tx, scanStored, `SELECT `+columns+` FROM escalation WHERE next_at > 0 AND next_at <= $1 ORDER BY next_at LIMIT $2 + 0`, now.Unix(), batch)
		for i := 0; i < len(runs) && err == nil; i++ {
			err = r.one(tx, &runs[i], now)
		}
		more, told = len(runs) == batch, len(runs) > 0
		if err == nil {
			err = soonest(tx)
		}
		return err
	})
	if told && r.Wake != nil {
		r.Wake()
	}
	if more {
		return now, err
	}
	return moment(next), err
}

// moment is a time in Unix seconds; 0 is none.
func moment(unix int64) (t time.Time) {
	if unix > 0 {
		t = time.Unix(unix, 0)
	}
	return t
}

// one does what is due of one escalation. When that goes wrong the account's owner is told instead, once, and it is
// tried again later.
func (r *Room) one(tx *db.Tx, s *stored, now time.Time) error {
	failed, err := tx.Try(func() error {
		e, err := s.read()
		if err != nil {
			return err
		}
		return r.step(tx, &e, now)
	})
	if err != nil || failed == nil {
		return err
	}
	r.Log.Error("an escalation went wrong", "incident_id", s.incident, "account_id", s.account, "run", s.number, "error", failed)
	next, ended := now.Unix()+pause, Failing
	unsaid, err := tx.Try(func() error {
		i, found, err := incident.Find(tx, s.account, s.incident)
		switch {
		case err != nil:
			return err
		case !found || i.Progress == incident.Closed:
			next, ended = 0, string(escalate.Resolved)
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
func (r *Room) step(tx *db.Tx, e *run, now time.Time) error {
	i, found, err := incident.Find(tx, e.account, e.incident)
	if err != nil {
		return err
	}
	if !found {
		e.next, e.ended = 0, "removed"
		return e.save(tx)
	}
	if e.ended == string(escalate.Exhausted) { // waits for what became of its notices
		return r.exhausted(tx, e, &i, now)
	}
	e.ended = "" // it goes on, if it was failing
	for range maxTurns {
		a := escalate.Next(e.timing.Rule, e.started, e.done, e.state(&i), now.Unix())
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
		case e.ended == string(escalate.Exhausted):
			return r.exhausted(tx, e, &i, now)
		}
		return e.save(tx)
	}
	return fmt.Errorf("it has not come to an end after %d turns", maxTurns)
}

// maxTurns is how often one step may change the plan: each layer can be skipped, wait and be held.
const maxTurns = 100

// turns does the steps that are due, and tells whether the plan has changed on the way.
func (r *Room) turns(tx *db.Tx, e *run, i *incident.Incident, due []escalate.Verdict, now time.Time) (again bool, err error) {
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
func (r *Room) held(tx *db.Tx, e *run, i *incident.Incident, a escalate.Answer, now time.Time) (stays bool, err error) {
	first := slices.IndexFunc(a.Due, func(v escalate.Verdict) bool { return v.Tell })
	if first < 0 {
		return false, nil
	}
	until, why, err := r.silenced(tx, i, now)
	switch {
	case err != nil:
		return false, err
	case until <= now.Unix() && e.timing.Held > 0:
		e.timing.Still = append(e.timing.Still, escalate.Span{From: e.timing.Held, Until: now.Unix()})
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
	return true, r.Bus.Tell(tx, news.Item{Account: i.AccountID, ID: i.IncidentID, Channel: i.ChannelID, At: now,
		Event: news.Notified{LayerIdx: int64(a.Due[first].Layer), EscalateRuleID: e.ruleID, EscalateRuleName: e.ruleName, By: "nobody", Reason: why, Then: "wait", Until: until}})
}

// silenced tells until when silence rules hold all of an incident's alerts, and which; 0: they do not.
func (r *Room) silenced(tx *db.Tx, i *incident.Incident, now time.Time) (until int64, why string, err error) {
	if r.Silenced == nil {
		return 0, "", nil
	}
	return r.Silenced(tx, i.AccountID, i.ChannelID, i.IncidentID, now)
}
