package escalation

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// prepared holds what the next step of an escalation needs, read before the write transaction that takes it. All filter
// matching happens here: it takes time, and in the write transaction every other writer would wait for it.
type prepared struct {
	account  int64
	incident string
	number   int64
	err      error // why it could not be prepared

	revision   int64       // of the configuration
	alerts     alert.Count // of the incident
	silenced   int64       // until when silence rules hold all of them, Unix seconds; 0: they do not
	silencedBy string      // which, in words

	rose     bool // the severity is higher than the escalation was chosen for
	choosing bool // no rule was chosen yet, or it rose
	subject  incident.Incident
	rule     channel.EscalateRule
	looks    []Look
	chosen   bool // a rule matches
}

// prepare reads what the next step of an escalation needs; steps is how many filter steps the choice of a rule took.
func (r *Service) prepare(ctx context.Context, s *stored, now time.Time) (p prepared, steps int64) {
	p = prepared{account: s.account, incident: s.incident, number: s.number}
	var c choices
	p.err = r.DB.Snapshot(ctx, func(tx *db.Tx) error {
		if err := p.read(tx); err != nil || p.subject.IncidentID == "" {
			return err
		}
		first := s.ruleText == ""
		p.rose = !first && event.Rank(p.subject.Severity) > event.Rank(s.severity)
		p.choosing = first || p.rose && p.subject.Progress == incident.Triggered
		if !p.choosing {
			return nil
		}
		var err error
		c, err = readChoices(tx, &p.subject)
		return err
	})
	if p.err != nil || p.subject.IncidentID == "" {
		p.choosing = p.choosing || s.ruleText == ""
		return p, 0
	}
	if p.choosing {
		at := now
		if !p.rose {
			at = time.Unix(s.started, 0)
		}
		meter := filter.NewMeter(filter.RuleSteps, filter.EventSteps)
		p.rule, p.looks, p.chosen = c.choose(meter, &p.subject, at)
		steps = meter.Used()
	}
	p.err = r.readSilence(ctx, &p, now)
	return p, steps
}

// read reads the incident and what it is compared with later. The incident is empty when it was removed.
func (p *prepared) read(tx *db.Tx) (err error) {
	var found bool
	if p.revision, err = configstore.Revision(tx, p.account); err != nil {
		return err
	}
	if p.subject, found, err = incident.Find(tx, p.account, p.incident); err != nil || !found {
		return err
	}
	p.alerts, err = alert.CountOf(tx, p.account, p.incident)
	return err
}

// readSilence reads whether silence rules hold the incident. It must not be called in a transaction.
func (r *Service) readSilence(ctx context.Context, p *prepared, now time.Time) (err error) {
	if r.Silenced != nil {
		p.silenced, p.silencedBy, err = r.Silenced(ctx, p.account, p.subject.ChannelID, p.incident, now)
	}
	return err
}

// current reports whether nothing has changed since prepare read it.
func (p *prepared) current(tx *db.Tx) (bool, error) {
	now, err := configstore.Revision(tx, p.account)
	if err != nil || now != p.revision {
		return false, err
	}
	alerts, err := alert.CountOf(tx, p.account, p.incident)
	if err != nil || alerts != p.alerts {
		return false, err
	}
	if !p.choosing {
		return true, nil
	}
	is, found, err := incident.Find(tx, p.account, p.incident)
	return !found || reflect.DeepEqual(is, p.subject), err
}

// choose stores the chosen rule in an escalation that waits for one. matched is false when no rule matches: the
// escalation is then deleted, and the incident's feed records why.
func (r *Service) choose(tx *db.Tx, e *run, p *prepared, now time.Time) (matched bool, err error) {
	if err := r.warnSlow(tx, p, now); err != nil {
		return false, err
	}
	if p.chosen {
		e.severity = p.subject.Severity
		return true, r.setRule(tx, e, p.rule, 0)
	}
	if _, err := tx.Exec(`DELETE FROM escalation
		WHERE account_id = $1 AND incident_id = $2 AND run = $3`, e.account, e.incident, e.number); err != nil {
		return false, err
	}
	if p.subject.IncidentID == "" { // it was removed
		return false, nil
	}
	why := "the channel has no escalation rule"
	if len(p.looks) > 0 {
		why = "no escalation rule of the channel matches"
		for _, l := range p.looks {
			why += fmt.Sprintf("; %s: %s", l.RuleName, l.Why)
		}
	}
	return false, r.Bus.Publish(tx, activity.Item{Account: e.account, ID: e.incident, Channel: p.subject.ChannelID, At: now,
		Event: activity.Exhausted{Reason: why}})
}

// warnSlow notifies the account's owner of rules that were over the meter's budget.
func (r *Service) warnSlow(tx *db.Tx, p *prepared, now time.Time) error {
	for _, l := range p.looks {
		if !l.over {
			continue
		}
		slow := notify.SlowRule{
			Where: fmt.Sprintf("channel %d", p.subject.ChannelID),
			Stage: "escalation",
			ID:    l.RuleID,
			Name:  l.RuleName,
			About: p.subject.Title,
			Why:   l.Why,
		}
		if err := r.Notify.Slow(tx, p.account, slow, now); err != nil {
			return err
		}
	}
	return nil
}
