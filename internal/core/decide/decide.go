package decide

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/pipeline"
)

// Event decides what becomes of an event at now (Unix seconds): a verdict for each channel it is routed to,
// or one with channel 0.
func Event(s State, e event.Event, now int64) ([]Verdict, error) {
	inlet, err := s.Inlet(e.Integration)
	if err != nil {
		return nil, err
	}
	if inlet == nil {
		return []Verdict{{Outcome: Unrouted, Event: e, Trace: []Step{{Stage: "route", Why: fmt.Sprintf("the integration %d is gone", e.Integration)}}}}, nil
	}
	meter := newMeter()
	e, looks := inlet.Enrichments.Enrich(meter, e)
	trace := steps(looks)
	e, dropped, inhibits, looks := inlet.Rules.Apply(meter, e)
	trace = append(trace, steps(looks)...)
	if dropped {
		return []Verdict{{Outcome: Discarded, Event: e, Trace: trace, Over: over(trace), Steps: meter.Used()}}, nil
	}
	channels, routed := route(meter, inlet, &e)
	trace = append(trace, routed...)
	if len(channels) == 0 {
		return []Verdict{{Outcome: Unrouted, Event: e, Trace: trace, Over: over(trace), Steps: meter.Used()}}, nil
	}
	var verdicts []Verdict
	for _, id := range channels {
		d := decision{state: s, now: now, inhibits: inhibits, meter: meter}
		d.Verdict = Verdict{Channel: id, Event: e, Trace: slices.Clone(trace)}
		if err := d.inChannel(); err != nil {
			return nil, err
		}
		d.Over, d.Steps = over(d.Trace), meter.Used()
		verdicts = append(verdicts, d.Verdict)
	}
	return verdicts, nil
}

// newMeter is the budget of one event. It is in steps, not in time, so that a decision is the same on every machine.
func newMeter() *filter.Meter { return filter.NewMeter(filter.RuleSteps, filter.EventSteps) }

// over are the looks at rules that would have cost too much.
func over(trace []Step) (over []Step) {
	for _, s := range trace {
		if s.Over {
			over = append(over, s)
		}
	}
	return over
}

// Reevaluate decides anew about an active alert that is muted, when what muted it may have ended: from the
// silence rules on. The pipeline's inhibits hold only for its events.
func Reevaluate(s State, a *Alert, now int64) (Verdict, error) {
	d := decision{state: s, now: now, meter: newMeter()}
	was := *a
	d.Verdict = Verdict{Channel: a.Channel, Event: a.event(), Alert: a}
	var err error
	if d.channel, err = s.Channel(a.Channel); err != nil {
		return d.Verdict, err
	}
	if d.channel == nil { // nothing of it mutes any more
		d.channel = &Channel{Flapping: Flaps{Off: true}}
	}
	d.looked("merge", Step{Matched: true, Why: fmt.Sprintf("it is decided again because it was %s", was.Muted)})
	if d.channel.Disabled { // nobody is told of anything in it; when it is enabled all are decided again
		d.Outcome, a.MutedUntil = was.Muted, now+whileDisabled
		return d.Verdict, nil
	}
	if err = d.mute(); err == nil && !d.Outcome.Muted() {
		err = d.group()
	}
	if d.Outcome == was.Muted && a.MutedBy == was.MutedBy {
		d.Feed = nil // nothing new
	}
	d.Over, d.Steps = over(d.Trace), d.meter.Used()
	return d.Verdict, err
}

func steps(looks []pipeline.Step) []Step {
	list := make([]Step, 0, len(looks)+8)
	for _, l := range looks {
		list = append(list, Step{Stage: l.Stage, Name: l.Rule, Matched: l.Matched, Why: cut(l.Why), Over: l.Over})
	}
	return list
}

func route(meter *filter.Meter, inlet *Inlet, e *event.Event) ([]int64, []Step) {
	switch {
	case inlet.Route != nil:
		return inlet.Route(meter, e)
	case inlet.Channel != 0:
		return []int64{inlet.Channel}, []Step{{Stage: "route", Matched: true, Why: "its integration belongs to channel " + strconv.FormatInt(inlet.Channel, 10)}}
	}
	return nil, []Step{{Stage: "route", Why: "its integration is shared and has no route"}}
}

// decision is a verdict in the making.
type decision struct {
	Verdict
	state    State
	now      int64
	inhibits []pipeline.Inhibit
	channel  *Channel
	meter    *filter.Meter
}

func (d *decision) looked(stage string, s Step) {
	s.Stage, s.Why = stage, cut(s.Why)
	d.Trace = append(d.Trace, s)
}

// maxWhy is how long the reason of one step is, in characters: conditions may name thousands of values.
const maxWhy = 2000

func cut(why string) string {
	if short := event.Cut(why, maxWhy); len(short) < len(why) {
		return short + " ..."
	}
	return why
}

// inChannel takes the event through a channel.
func (d *decision) inChannel() error {
	var err error
	if d.channel, err = d.state.Channel(d.Channel); err != nil {
		return err
	}
	if d.channel == nil || d.channel.Disabled {
		d.Outcome = Dropped
		d.looked("channel", Step{Matched: true, Why: "the channel is disabled or gone"})
		return nil
	}
	latest, err := d.state.Alert(d.Channel, d.Event.AlertKey)
	if err != nil {
		return err
	}
	open := latest != nil && latest.Active()
	if d.Event.Status == event.Ok {
		d.end(latest, open)
		return nil
	}
	if rule := d.first("drop", d.channel.Drops, &d.Event); rule != nil {
		d.Outcome = Dropped
		return nil
	}
	if open && same(latest, &d.Event) {
		d.refresh(latest)
		return nil
	}
	d.merge(latest, open)
	if err := d.mute(); err != nil {
		return err
	}
	if d.Outcome.Muted() || d.Outcome == Dropped {
		return nil
	}
	return d.group()
}

// first looks at rules in their order and gives the first that matches and holds.
func (d *decision) first(stage string, rules Rules, fields filter.Fields) *Rule {
	if rules.Set == nil {
		return nil
	}
	candidates := rules.Set.Candidates(fields)
	var found *Rule
	missed := 0
	for _, i := range candidates {
		rule := &rules.List[i]
		matched, why := rules.Set.Ask(d.meter, i, fields)
		if matched && rule.Holds != nil {
			if holds, _ := rule.Holds(d.now); !holds {
				matched, why = false, "it would match, but it is not in force now: "+why
			}
		}
		if missed++; matched || missed <= maxLooks || d.meter.Over() && missed <= 4*maxLooks {
			d.looked(stage, Step{Rule: rule.ID, Name: rule.Name, Matched: matched, Why: why, Over: d.meter.Over()})
		}
		if matched {
			found = rule
			break
		}
	}
	if found == nil {
		if missed > maxLooks {
			d.looked(stage, Step{Why: fmt.Sprintf("%d more rules were looked at and did not match", missed-maxLooks)})
		}
		d.passed(stage, rules.Set, fields, candidates)
	}
	return found
}

// passed says why the rules that are no candidates cannot match.
func (d *decision) passed(stage string, set *filter.Set, fields filter.Fields, candidates []int) {
	sentences := set.Passed(fields, candidates)
	for _, why := range sentences[:min(len(sentences), maxLooks)] {
		d.looked(stage, Step{Why: why})
	}
}

// end is what an Ok does. Drop rules and silences do not hold it back: an alert that is open must be able to
// end.
func (d *decision) end(latest *Alert, open bool) {
	if !open {
		d.Outcome = Unmatched
		d.looked("merge", Step{Why: "no alert of this key is open, so there is nothing to end"})
		return
	}
	a, e := *latest, &d.Event
	a.Status, a.Description, a.Last, a.End = event.Ok, cmp.Or(e.Description, a.Description), max(a.Last, d.now), max(a.Start, e.Time)
	a.Events++
	a.Labels = joined(e.Labels, a.Labels)
	d.change(&a)
	d.Alert, d.Outcome, d.Feed = &a, Recovered, []string{"a_update", "a_close"}
	d.looked("merge", Step{Matched: true, Why: "it ends the alert " + a.ID})
}

// same tells whether an event says nothing that the alert does not say already.
func same(a *Alert, e *event.Event) bool {
	return a.Status == e.Status && a.Title == e.Title && a.Description == e.Description
}

// refresh keeps an alert up to date with an event that says nothing new.
func (d *decision) refresh(latest *Alert) {
	a := *latest
	a.Labels, a.Last = d.Event.Labels, max(a.Last, d.now)
	if len(d.Event.Images) > 0 {
		a.Images = d.Event.Images
	}
	d.Alert, d.Outcome = &a, Repeated
	d.looked("merge", Step{Matched: true, Why: "status, title and description are those of the last event of alert " + a.ID})
}

// merge makes the event part of its alert, or a new one of it.
func (d *decision) merge(latest *Alert, open bool) {
	e := &d.Event
	if !open {
		a := Alert{
			Channel: d.Channel, Key: e.AlertKey, Integration: e.Integration, TitleRule: e.TitleRule, Title: e.Title, Description: e.Description,
			Severity: e.Status, Status: e.Status, Labels: e.Labels, Images: e.Images, Start: e.Time, Last: d.now, Events: 1,
		}
		why := "no alert of this key is open: it begins one"
		if latest != nil {
			a.Changes = latest.Changes
			if a.Start < latest.Start { // it is the newest all the same, whatever its source's clock says
				a.Start = latest.Start + 1
			}
			if latest.Muted == Flapping { // it changes too often whatever its alert is called
				a.Muted, a.MutedBy, a.MutedUntil = latest.Muted, latest.MutedBy, latest.MutedUntil
			}
			why = fmt.Sprintf("the last alert of this key, %s, is over: it begins another", latest.ID)
		}
		d.change(&a)
		d.Alert, d.New, d.Feed = &a, true, []string{"a_new"}
		d.looked("merge", Step{Matched: true, Why: why})
		return
	}
	a := *latest
	if event.Rank(e.Status) > event.Rank(a.Severity) {
		a.Severity = e.Status
	}
	a.Status, a.Description, a.Labels, a.Last = e.Status, e.Description, e.Labels, max(a.Last, d.now)
	if len(e.Images) > 0 {
		a.Images = e.Images
	}
	a.Events++
	d.Alert, d.Feed = &a, []string{"a_update"}
	d.looked("merge", Step{Matched: true, Why: "it is an event of alert " + a.ID})
}

// change notes down that the alert became active or over.
func (d *decision) change(a *Alert) {
	a.Changes = append(slices.Clone(a.Changes), d.now)
	a.Changes = a.Changes[max(0, len(a.Changes)-100):]
}

// event is what the alert's last event said, for deciding again.
func (a *Alert) event() event.Event {
	return event.Event{Integration: a.Integration, AlertKey: a.Key, TitleRule: a.TitleRule, Title: a.Title, Description: a.Description,
		Status: a.Status, Severity: a.Status, Labels: a.Labels, Images: a.Images, Time: a.Last}
}

// joined gives first the labels of the alert's last event; only those that are missing are added.
func joined(more, labels map[string]string) map[string]string {
	all := make(map[string]string, len(labels)+len(more))
	for name, value := range more {
		all[name] = value
	}
	for name, value := range labels {
		all[name] = value
	}
	return all
}
