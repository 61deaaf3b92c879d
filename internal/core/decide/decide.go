package decide

import (
	"cmp"
	"slices"

	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/pipeline"
	"tocsin/internal/core/sentence"
)

// Event decides about an event at now (Unix seconds). It returns a verdict for each channel that the event is routed
// to, or one with channel 0.
func Event(s State, e event.Event, now int64) ([]Verdict, error) {
	p, err := Prepare(s, e)
	if err != nil {
		return nil, err
	}
	return p.Decide(s, now)
}

// Prepared is an event after enrichment, pipeline and routing, which need the configuration only.
type Prepared struct {
	Event    event.Event
	Channels []int64 // those that it is routed to; none: it is not decided in any
	outcome  Outcome // without channels
	trace    []Step
	inhibits []pipeline.Inhibit
	meter    *filter.Meter
}

// Prepare is the part of Event that asks State for no alerts and incidents. Its callers can read them for many events at
// once.
func Prepare(s State, e event.Event) (*Prepared, error) {
	p := &Prepared{Event: e, outcome: Unrouted, meter: newMeter()}
	inlet, err := s.Inlet(e.Integration)
	if err != nil {
		return nil, err
	}
	if inlet == nil {
		p.trace = []Step{{Stage: "route", Why: sentence.New("integration_gone", e.Integration)}}
		return p, nil
	}
	var enriched, piped []pipeline.Step
	var dropped bool
	p.Event, enriched = inlet.Enrichments.Enrich(p.meter, p.Event)
	p.Event, dropped, p.inhibits, piped = inlet.Rules.Apply(p.meter, p.Event)
	p.trace = append(steps(enriched), steps(piped)...)
	if dropped {
		p.outcome = Discarded
		return p, nil
	}
	var routed []Step
	p.Channels, routed = route(p.meter, inlet, &p.Event)
	p.trace = append(p.trace, routed...)
	return p, nil
}

// Steps returns how many steps preparing the event has taken (see filter.Meter).
func (p *Prepared) Steps() int64 { return p.meter.Used() }

// Decide decides about the event at now (Unix seconds), as Event does. It must be called once.
func (p *Prepared) Decide(s State, now int64) ([]Verdict, error) {
	if len(p.Channels) == 0 {
		return []Verdict{{Outcome: p.outcome, Event: p.Event, Trace: p.trace, Over: over(p.trace), Steps: p.meter.Used()}}, nil
	}
	var verdicts []Verdict
	for _, id := range p.Channels {
		d := decision{state: s, now: now, inhibits: p.inhibits, meter: p.meter}
		d.Verdict = Verdict{Channel: id, Event: p.Event, Trace: slices.Clone(p.trace)}
		if err := d.inChannel(); err != nil {
			return nil, err
		}
		d.Over, d.Steps = over(d.Trace), p.meter.Used()
		verdicts = append(verdicts, d.Verdict)
	}
	return verdicts, nil
}

// GroupKey returns the group key that a new alert of the event will have in a channel, as far as that can be known before
// it is decided; empty: none. It takes steps of its own.
func (p *Prepared) GroupKey(ch *Channel) (key string, steps int64) {
	d := decision{meter: newMeter(), Verdict: Verdict{Event: p.Event}}
	key, _ = d.key(&ch.Grouping)
	return key, d.meter.Used()
}

// newMeter returns the budget of one event. It counts steps, not time, so that a decision is the same on every machine.
func newMeter() *filter.Meter { return filter.NewMeter(filter.RuleSteps, filter.EventSteps) }

// over returns the steps of a trace that exceeded the budget.
func over(trace []Step) (over []Step) {
	for _, s := range trace {
		if s.Over {
			over = append(over, s)
		}
	}
	return over
}

// Reevaluate decides again about an active alert that is muted, when the reason may have ended. It starts at the
// silence rules. The pipeline's rules are those that match the alert as it is.
func Reevaluate(s State, a *Alert, now int64) (Verdict, error) {
	d := decision{state: s, now: now, meter: newMeter()}
	was := *a
	d.Verdict = Verdict{Channel: a.Channel, Event: a.event(), Alert: a}
	var err error
	d.channel, err = s.Channel(a.Channel)
	if err != nil {
		return d.Verdict, err
	}
	if d.channel == nil { // the channel was deleted: none of its rules mutes the alert
		d.channel = &Channel{Flapping: Flaps{Off: true}}
	}
	if a.AwaitsQuiet() {
		d.waitOn()
		return d.Verdict, nil
	}
	why := sentence.New("decided_again", was.Muted.Words())
	switch was.Muted {
	case "":
		why = sentence.New("still_flapping")
	case Disabled:
		why = sentence.New("decided_enabled")
	}
	d.looked("merge", Step{Matched: true, Why: why})
	inlet, err := s.Inlet(a.Integration)
	if err != nil {
		return d.Verdict, err
	}
	if inlet != nil {
		_, _, d.inhibits, _ = inlet.Rules.Apply(d.meter, d.Event)
	}
	err = d.mute()
	if err == nil && !d.Outcome.Muted() {
		d.flapping(was.FlapsUntil > 0)
		err = d.group()
	}
	switch {
	case d.Outcome.Muted():
		d.Unchanged = d.Outcome == was.Muted && a.MutedBy == was.MutedBy
	case was.Muted == "":
		d.Unchanged = d.Again == NotAgain && !d.Settled
	}
	if d.Unchanged {
		d.Feed = nil // the feed has an entry for this reason already
	}
	d.Over, d.Steps = over(d.Trace), d.meter.Used()
	return d.Verdict, err
}

// steps converts the steps of a pipeline.
func steps(piped []pipeline.Step) []Step {
	list := make([]Step, 0, len(piped)+8)
	for _, s := range piped {
		list = append(list, Step{Stage: s.Stage, Name: s.Rule, Matched: s.Matched, Why: s.Why, Over: s.Over})
	}
	return list
}

// route returns the channels that an event goes to.
func route(meter *filter.Meter, inlet *Inlet, e *event.Event) ([]int64, []Step) {
	switch {
	case e.OwnChannel != 0:
		return []int64{e.OwnChannel}, []Step{{Stage: "route", Matched: true, Why: sentence.New("own_alert")}}
	case inlet.Route != nil:
		return inlet.Route(meter, e)
	case inlet.Channel != 0:
		why := sentence.New("channel_of_integration", inlet.Channel)
		return []int64{inlet.Channel}, []Step{{Stage: "route", Matched: true, Why: why}}
	}
	return nil, []Step{{Stage: "route", Why: sentence.New("no_route")}}
}

// decision is a verdict in progress, with all that it depends on.
type decision struct {
	Verdict
	state    State
	now      int64
	inhibits []pipeline.Inhibit
	channel  *Channel
	meter    *filter.Meter
	begins   bool // the alert begins to change too often
}

// looked adds a step to the trace.
func (d *decision) looked(stage string, s Step) {
	s.Stage = stage
	d.Trace = append(d.Trace, s)
}

// inChannel decides about the event in one channel.
func (d *decision) inChannel() error {
	var err error
	d.channel, err = d.state.Channel(d.Channel)
	if err != nil {
		return err
	}
	if d.channel == nil {
		d.Outcome = Dropped
		d.looked("channel", Step{Matched: true, Why: sentence.New("channel_gone")})
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
	d.flapping(open && latest.FlapsUntil > 0)
	return d.group()
}

// first evaluates rules in their order and returns the first that matches and is in force. The trace lists at most
// maxMisses rules that did not match, and up to four times as many that exceeded their budget.
func (d *decision) first(stage string, rules Rules, fields filter.Fields) *Rule {
	if rules.Set == nil {
		return nil
	}
	candidates := rules.Set.Candidates(fields)
	var found *Rule
	missed := 0
	for _, i := range candidates {
		rule, step := &rules.List[i], rules.ask(d.meter, i, fields, d.now)
		matched := step.Matched
		if missed++; matched || missed <= maxMisses || d.meter.Over() && missed <= 4*maxMisses {
			d.looked(stage, step)
		}
		if matched {
			found = rule
			break
		}
	}
	if found == nil {
		if missed > maxMisses {
			d.looked(stage, Step{Why: sentence.New("more_rules", missed-maxMisses)})
		}
		d.passed(stage, rules.Set, fields, candidates)
	}
	return found
}

// ask evaluates one rule at now (Unix seconds).
func (r Rules) ask(meter *filter.Meter, i int, fields filter.Fields, now int64) Step {
	rule := &r.List[i]
	matched, why := r.Set.Ask(meter, i, fields)
	if matched && rule.Holds != nil {
		if holds, _ := rule.Holds(now); !holds {
			matched, why = false, sentence.New("not_in_force", why)
		}
	}
	return Step{Rule: rule.ID, Name: rule.Name, Matched: matched, Why: why, Over: meter.Over()}
}

// Each evaluates every rule by itself at now (Unix seconds), also those behind the first that matches, as a decision
// evaluates it. It is for people who ask what their rules would do.
func (r Rules) Each(stage string, fields filter.Fields, now int64) []Step {
	steps := make([]Step, len(r.List))
	for i := range r.List {
		steps[i] = r.ask(newMeter(), i, fields, now)
		steps[i].Stage = stage
	}
	return steps
}

// passed adds to the trace why the rules that are no candidates cannot match.
func (d *decision) passed(stage string, set *filter.Set, fields filter.Fields, candidates []int) {
	sentences := set.Passed(fields, candidates)
	for _, why := range sentences[:min(len(sentences), maxMisses)] {
		d.looked(stage, Step{Why: why})
	}
}

// end ends the alert of an Ok event. Drop rules and silences do not apply to it: an open alert must be able to end.
func (d *decision) end(latest *Alert, open bool) {
	if !open {
		d.Outcome = Unmatched
		d.looked("merge", Step{Why: sentence.New("nothing_to_end")})
		return
	}
	if latest.AwaitsQuiet() && !d.Event.ByHand {
		d.refresh(latest)
		d.Alert.Labels, d.Alert.GroupKey = joined(d.Event.Labels, latest.Labels), latest.GroupKey
		return
	}
	a, e := *latest, &d.Event
	a.Status, a.Description = event.Ok, cmp.Or(e.Description, a.Description)
	a.Last = max(a.Last, d.now)
	a.Events++
	a.Labels = joined(e.Labels, a.Labels)
	d.change(&a)
	d.Alert, d.Frees = &a, true
	if a.FlapsUntil > 0 && a.Incident != "" && !e.ByHand {
		d.Feed = d.updated()
		d.looked("merge", Step{Matched: true, Why: sentence.New("ends_quiet", a.Title, a.ID)})
		d.wait()
		return
	}
	a.End = max(a.Start, e.Time)
	a.MutedUntil = 0
	a.FlapsUntil = 0
	if e.ByHand {
		a.calm()
	}
	d.Outcome = Recovered
	d.Settled = latest.FlapsUntil > 0
	d.Feed = []string{"a_update", "a_close"}
	d.looked("merge", Step{Matched: true, Why: sentence.New("ends_alert", a.Title, a.ID)})
}

// updated returns the entries of the feed for an event of an alert that exists.
func (d *decision) updated() []string {
	if d.begins {
		return []string{"a_update", "a_m_flapping"}
	}
	return []string{"a_update"}
}

// same reports whether an event has the status, title and description that the alert already has.
func same(a *Alert, e *event.Event) bool {
	return a.Status == e.Status && a.Title == e.Title && a.Description == e.Description
}

// refresh updates the labels, images and last time of an alert from an event that changes nothing else.
func (d *decision) refresh(latest *Alert) {
	a := *latest
	a.Labels = d.Event.Labels
	a.GroupKey = d.Event.GroupKey
	a.Last = max(a.Last, d.now)
	a.Identifying = d.Event.Identifying
	if len(d.Event.Images) > 0 {
		a.Images = d.Event.Images
	}
	d.Alert = &a
	d.Outcome = Repeated
	d.Frees = !a.alike(latest)
	d.looked("merge", Step{Matched: true, Why: sentence.New("repeats_alert", a.Title, a.ID)})
}

// merge merges the event into its open alert, or begins a new alert with it.
func (d *decision) merge(latest *Alert, open bool) {
	e := &d.Event
	if !open {
		a := Alert{
			Channel: d.Channel, Key: e.AlertKey, Integration: e.Integration, TitleRule: e.TitleRule, Title: e.Title, Description: e.Description,
			Severity: e.Status, Status: e.Status, Labels: e.Labels, Identifying: e.Identifying, Images: e.Images, GroupKey: e.GroupKey,
			Start: e.Time, Last: d.now, Events: 1,
		}
		why := sentence.New("begins_alert")
		if latest != nil {
			a.Changes = latest.Changes
			if a.Start < latest.Start { // it is the newest alert even if its source's clock is behind
				a.Start = latest.Start + 1
			}
			why = sentence.New("begins_another", latest.ID)
		}
		d.change(&a)
		d.Alert = &a
		d.New = true
		d.Feed = []string{"a_new"}
		if d.begins {
			d.Feed = append(d.Feed, "a_m_flapping")
		}
		d.looked("merge", Step{Matched: true, Why: why})
		return
	}
	a := *latest
	if event.Rank(e.Status) > event.Rank(a.Severity) {
		a.Severity = e.Status
	}
	a.Status = e.Status
	a.Description = e.Description
	a.Labels = e.Labels
	a.GroupKey = e.GroupKey
	a.Last = max(a.Last, d.now)
	a.Identifying = e.Identifying
	if len(e.Images) > 0 {
		a.Images = e.Images
	}
	a.Events++
	if latest.AwaitsQuiet() {
		d.change(&a)
	}
	d.Alert = &a
	d.Feed = d.updated()
	d.Frees = !a.alike(latest)
	d.looked("merge", Step{Matched: true, Why: sentence.New("event_of_alert", a.Title, a.ID)})
}

// event returns an event with the content of the alert's last one, to decide again.
func (a *Alert) event() event.Event {
	return event.Event{Integration: a.Integration, AlertKey: a.Key, TitleRule: a.TitleRule, Title: a.Title, Description: a.Description,
		Status: a.Status, Severity: a.Status, Labels: a.Labels, Images: a.Images, GroupKey: a.GroupKey, Time: a.Last}
}

// joined returns labels, with those of more that labels lacks: the labels of the alert's last event win.
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
