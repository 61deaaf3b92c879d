package decide

import (
	"iter"
	"slices"

	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/sentence"
)

// mute decides whether the alert is muted: by a silence rule, by another alert, or because its channel is disabled. The
// first reason in this order counts.
func (d *decision) mute() error {
	a := d.Alert
	a.Muted = ""
	a.MutedBy = ""
	a.MutedUntil = 0
	if d.silenced() {
		return nil
	}
	if done, err := d.inhibited(); done || err != nil {
		return err
	}
	if d.channel.Disabled { // enabling the channel decides all its alerts again
		d.looked("channel", Step{Matched: true, Why: sentence.New("channel_disabled")})
		d.muted(Disabled, "", d.now+recheck, "a_m_channel")
	}
	return nil
}

// muted records that the alert is muted, for which reason and until when. The last step of the trace is the reason.
func (d *decision) muted(as Outcome, by string, until int64, feed string) {
	a := d.Alert
	d.Outcome = as
	a.Muted = as
	a.MutedBy = by
	a.MutedUntil = until
	a.EverMuted = true
	d.Feed = append(d.Feed, feed)
	if as == Silenced { // the other reasons have no end of their own
		d.Trace[len(d.Trace)-1].Until = until
	}
}

// discarded drops the event, if the rule stores no alerts. An alert that is open already is kept.
func (d *decision) discarded(rule *Rule) bool {
	if !rule.Discard || !d.New {
		return false
	}
	d.Outcome = Dropped
	d.Alert = nil
	d.New = false
	d.Feed = nil
	return true
}

func (d *decision) silenced() bool {
	e := d.Alert.highest(d.Event)
	rule := d.first("silence", d.channel.Silences, &e)
	if rule == nil {
		return false
	}
	if !d.discarded(rule) {
		_, until := rule.Holds(d.now)
		d.muted(Silenced, rule.ID, until, "a_m_silence")
	}
	return true
}

// highest returns an event of the alert with the highest severity that the alert has had. Silence rules match that severity.
// Otherwise an alert that exceeded its silence and fell would be silenced again before all steps had their time.
func (a *Alert) highest(e event.Event) event.Event {
	if event.Rank(a.Severity) > event.Rank(e.Severity) {
		e.Severity = a.Severity
	}
	return e
}

// Held returns the silence rule that silences an alert at now, and until when (Unix seconds); rule is nil if none does.
// It is for alerts that were open before the rule was created or its window began.
func Held(meter *filter.Meter, ch *Channel, a *Alert, now int64) (rule *Rule, until int64) {
	d := decision{channel: ch, now: now, meter: meter}
	e := a.highest(a.event())
	rule = d.first("silence", ch.Silences, &e)
	if rule != nil {
		_, until = rule.Holds(now)
	}
	return rule, until
}

// ReleasedBy reports whether an alert is no longer silenced after a silence rule has ended at end (Unix seconds): the
// rule matches it, and no other rule silences it from then on.
func ReleasedBy(meter *filter.Meter, ch *Channel, a *Alert, rule string, end int64) bool {
	e := a.highest(a.event())
	i := slices.IndexFunc(ch.Silences.List, func(r Rule) bool { return r.ID == rule })
	if i < 0 {
		return false
	}
	if matched, _ := ch.Silences.Set.Ask(meter, i, &e); !matched {
		return false
	}
	held, _ := Held(meter, ch, a, end)
	return held == nil
}

// inhibited evaluates the inhibit rules of the channel, then those of the pipeline that matched the event.
func (d *decision) inhibited() (bool, error) {
	var targets []int
	if d.channel.Targets.Set != nil {
		candidates := d.channel.Targets.Set.Candidates(&d.Event)
		for _, i := range candidates {
			if matched, why := d.channel.Targets.Set.Ask(d.meter, i, &d.Event); matched {
				targets = append(targets, i)
			} else if len(d.Trace) < maxMisses*4 {
				rule := d.channel.Targets.List[i]
				d.looked("inhibit", Step{Rule: rule.ID, Name: rule.Name, Why: why, Over: d.meter.Over()})
			}
		}
		d.passed("inhibit", d.channel.Targets.Set, &d.Event, candidates)
	}
	if len(targets) == 0 && len(d.inhibits) == 0 {
		return false, nil
	}
	sources, err := d.state.Sources(d.Channel)
	if err != nil {
		return false, err
	}
	for _, i := range targets {
		rule, inhibit := &d.channel.Targets.List[i], d.channel.Inhibits[i]
		if done, err := d.inhibitedBy(rule, inhibit, sources); done || err != nil {
			return done, err
		}
	}
	for _, in := range d.inhibits {
		if done, err := d.inhibitedBy(&Rule{Name: in.Rule}, Inhibit{in.Source, in.Equals}, sources); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// inhibitedBy reports whether one of the sources inhibits the alert by a rule, and records it. A source inhibits while it
// is active: whether people have acknowledged it, and how long ago it was sent, does not matter.
func (d *decision) inhibitedBy(rule *Rule, inhibit Inhibit, sources iter.Seq[*Alert]) (bool, error) {
	var near []sentence.Value // why sources that match the rule do not inhibit
	d.meter.Begin()
	for source := range sources {
		if source.ID == d.Alert.ID && source.ID != "" || source.AwaitsQuiet() {
			continue
		}
		e := source.event()
		matches := inhibit.Source.Within(d.meter, &e, nil)
		if d.meter.Over() { // the budget covers the rule with all its sources
			d.looked("inhibit", Step{Rule: rule.ID, Name: rule.Name, Why: d.meter.Why(), Over: true})
			return false, nil
		}
		if !matches {
			continue
		}
		if field, ok := agree(inhibit.Equals, &e, &d.Event); !ok {
			near = nearly(near, sentence.New("not_equal", source.Title, source.ID, field))
			continue
		}
		waits, err := d.waitsFor(source)
		if err != nil {
			return false, err
		}
		if waits {
			near = nearly(near, sentence.New("inhibited_itself", source.Title, source.ID))
			continue
		}
		d.looked("inhibit", Step{Rule: rule.ID, Name: rule.Name, Matched: true, Why: sentence.New("inhibited_by", source.Title, source.ID)})
		if !d.discarded(rule) {
			d.muted(Inhibited, source.ID, d.now+recheck, "a_m_inhibit")
		}
		return true, nil
	}
	why := sentence.New("no_source")
	if len(near) > 0 {
		why = sentence.Join(near...)
	}
	d.looked("inhibit", Step{Rule: rule.ID, Name: rule.Name, Why: why})
	return false, nil
}

// nearly adds why a source does not inhibit to the first such reasons.
func nearly(near []sentence.Value, why sentence.Value) []sentence.Value {
	if len(near) == 5 {
		return near
	}
	return append(near, why)
}

// maxWaits bounds how many alerts that inhibit each other are followed.
const maxWaits = 1000

// waitsFor reports whether an alert is itself inhibited by the decision's alert, directly or through others. Then each
// would mute the other, and no notification of either would ever be sent.
func (d *decision) waitsFor(source *Alert) (bool, error) {
	for range maxWaits {
		switch {
		case source.Muted != Inhibited || d.Alert.ID == "":
			return false, nil
		case source.MutedBy == d.Alert.ID:
			return true, nil
		}
		next, err := d.state.Source(d.Channel, source.MutedBy)
		if err != nil || next == nil {
			return false, err
		}
		source = next
	}
	return true, nil
}

// agree reports whether all fields of two alerts are equal, else the first that is not. A missing field is equal to none.
func agree(fields []string, a, b filter.Fields) (field string, ok bool) {
	for _, field := range fields {
		x, hasX := filter.Read(a, field)
		y, hasY := filter.Read(b, field)
		if x != y || !hasX || !hasY {
			return field, false
		}
	}
	return "", true
}
