package escalation

import (
	"fmt"
	"reflect"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// prepared holds what the next step of an escalation needs, read before the write transaction that takes it. All filter
// matching happens here: it takes time, and in the write transaction every other writer would wait for it.
type prepared struct {
	account  int64
	incident string
	number   int64
	started  int64
	due      int64 // since when it is due, Unix seconds
	revision int64 // of the configuration when it was prepared
	same     bool  // it is the same now
	err      error // why it could not be prepared

	first    bool   // no rule was chosen yet
	severity string // the highest that the escalation has notified
	rose     bool   // the incident's is higher
	choosing bool   // a rule is to be chosen, because of either
	subject  incident.Incident
	options  *choices // what its rule is chosen from
	rule     channel.EscalateRule
	results  []RuleResult
	chosen   bool // a rule matches

	asked      bool           // whether silence rules were matched
	alerts     alert.Count    // of the incident when it was read
	silenced   int64          // until when they hold all of its alerts, Unix seconds; 0: they do not
	silencedBy sentence.Value // which
}

// readDue reads the rows of an account that are due, with what choosing their rules needs, and the revision of the
// configuration. One that cannot be read gets its error and does not fail the others.
func (r *Service) readDue(tx *db.Tx, t *jobs.Round, k kind) ([]prepared, error) {
	all, err := k.due(tx, t.Account, t.Now.Unix(), r.batchSize())
	if err != nil || len(all) == 0 {
		return nil, err
	}
	t.More = true // more than a batch, or what does not hold any more
	t.Full = t.Full || len(all) == r.batchSize()
	revision, err := configstore.Revision(tx, t.Account)
	if err != nil {
		return nil, err
	}
	configstore.Assume(tx, t.Account, revision)
	byChannel := map[int64]*choices{}
	_, failed := beginRead(tx, all)
	for i := range all {
		p := &all[i]
		p.revision = revision
		if failed != nil { // each by itself
			_, p.err = beginRead(tx, all[i:i+1])
		}
		if p.err == nil {
			p.err = p.read(tx, byChannel)
		}
	}
	alerts, failed := count(tx, all, (*prepared).mayAsk)
	for i := range all {
		p := &all[i]
		if failed != nil {
			alerts, err = count(tx, all[i:i+1], (*prepared).mayAsk)
			if err != nil {
				p.err = err
			}
		}
		p.alerts = alerts[p.incident]
	}
	return all, nil
}

// read reads the incident, and what its rule is chosen from unless an escalation of the same channel has read that.
func (p *prepared) read(tx *db.Tx, byChannel map[int64]*choices) (err error) {
	var found bool
	p.subject, found, err = find(tx, p.account, p.incident)
	if err != nil || !found {
		return err
	}
	if p.number == 0 { // a follow-up
		return nil
	}
	p.rose = !p.first && event.Rank(p.subject.Severity) > event.Rank(p.severity)
	p.choosing = p.first || p.rose && p.subject.Progress == incident.Triggered
	if !p.choosing {
		return nil
	}
	id := p.subject.ChannelID
	if byChannel[id] == nil {
		c, err := readChoices(tx, &p.subject)
		if err != nil {
			return err
		}
		byChannel[id] = &c
	}
	p.options = byChannel[id]
	return nil
}

// mayAsk reports whether silence rules may be matched.
func (p *prepared) mayAsk() bool {
	return p.err == nil && p.subject.IncidentID != "" && (!p.first || p.options != nil && len(p.options.rules) > 0)
}

// prepare prepares rows, and returns those that are to be advanced now: choosing the rules of the others would take too
// long.
func (r *Service) prepare(t *jobs.Round, due []prepared) ([]prepared, error) {
	var silences func(channel int64, incident string) (int64, sentence.Value, int64, error)
	if r.Silences != nil {
		silences = r.Silences(t.Ctx, t.Account, t.Now)
	}
	for i, total := 0, int64(0); i < len(due); i++ {
		p := &due[i]
		if p.err != nil || p.subject.IncidentID == "" {
			continue
		}
		if p.choosing {
			total += p.chooseRule(t.Now)
		}
		if silences != nil && (p.chosen || !p.first) { // else package untold asks
			p.asked = true
			var steps int64
			var failed error // what cannot be read, such as a corrupt alert, holds nothing back
			p.silenced, p.silencedBy, steps, failed = silences(p.subject.ChannelID, p.incident)
			if failed != nil {
				r.Log.Error("an incident counts as not silenced", "incident_id", p.incident, "account_id", p.account, "error", failed)
			}
			total += steps
		}
		if total >= expensive {
			t.Expensive = true
			return due[:i+1], nil
		}
	}
	return due, nil
}

// chooseRule chooses the rule of an escalation that has none or whose incident's severity rose. It returns how many filter
// steps that took.
func (p *prepared) chooseRule(now time.Time) (steps int64) {
	meter := filter.NewMeter(filter.RuleSteps, filter.EventSteps)
	if p.first {
		now = time.Unix(p.started, 0)
	}
	p.rule, p.results, p.chosen = p.options.choose(meter, &p.subject, now)
	return meter.Used()
}

// maxRevising is for how many seconds after its moment a step waits for a configuration that does not change while it is
// prepared. A configuration that changes all the time must not keep persons from being notified: then the one before the
// last change counts.
const maxRevising = 5

// holds reports whether what was prepared at a revision of the configuration may be taken, although the revision may be
// another now.
func (p *prepared) holds(now time.Time) bool {
	return p.same || now.Unix()-p.due >= maxRevising
}

// current reports whether nothing has changed since it was prepared, besides the configuration.
func (p *prepared) current(tx *db.Tx) (bool, error) {
	if p.asked && batchOf(tx).alerts[p.incident] != p.alerts {
		return false, nil
	}
	if !p.choosing {
		return true, nil
	}
	is, found, err := find(tx, p.account, p.incident)
	return !found || reflect.DeepEqual(is, p.subject), err
}

// choose sets the chosen rule of an escalation that waits for one. matched is false when no rule matches: the
// escalation is then deleted at the end of the batch, and the incident's feed records why.
func (r *Service) choose(tx *db.Tx, e *run, p *prepared, now time.Time) (matched bool, err error) {
	if err := r.warnSlow(tx, p, now); err != nil {
		return false, err
	}
	if p.chosen {
		e.severity = p.subject.Severity
		return true, e.setRule(p.rule, 0)
	}
	b := batchOf(tx)
	b.unruled = append(b.unruled, e.incident)
	if p.subject.IncidentID == "" { // it was removed
		return false, nil
	}
	why := sentence.New("no_rule")
	if len(p.results) > 0 {
		why = sentence.New("no_rule_matches")
		for _, l := range p.results {
			why = sentence.Join(why, sentence.New("named_why", l.RuleName, l.why))
		}
	}
	return false, r.noRule(tx, p, why, now)
}

// noRule makes an incident that no rule escalates the fallback's, of which reminders follow.
func (r *Service) noRule(tx *db.Tx, p *prepared, why sentence.Value, now time.Time) error {
	i, found, err := find(tx, p.account, p.incident)
	if err != nil || !found {
		return err
	}
	if err := r.publish(tx, &i, now, activity.Exhausted{Reason: why}); err != nil || i.Progress != incident.Triggered {
		return err
	}
	if err := r.Untold.Add(tx, &i, why, now); err != nil {
		return err
	}
	return r.follow(tx, &i, i.Severity, 0, now)
}

// warnSlow notifies the account's owner of rules that were over the meter's budget.
func (r *Service) warnSlow(tx *db.Tx, p *prepared, now time.Time) error {
	for _, l := range p.results {
		if !l.over {
			continue
		}
		slow := notify.SlowRule{
			Where: fmt.Sprintf("channel %d", p.subject.ChannelID),
			Stage: "escalation",
			ID:    l.RuleID,
			Name:  l.RuleName,
			About: p.subject.Title,
			Why:   l.why.English(),
		}
		if err := r.Notify.Slow(tx, p.account, slow, now); err != nil {
			return err
		}
	}
	return nil
}
