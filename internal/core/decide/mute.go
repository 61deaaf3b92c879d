package decide

import (
	"fmt"
	"slices"
	"strings"

	"tocsin/internal/core/filter"
)

// mute finds out whether the alert is kept from people: by a silence rule, by another alert, or because it
// changes too often; in this order, and the first reason counts.
func (d *decision) mute() error {
	a := d.Alert
	was, until := a.Muted, a.MutedUntil
	a.Muted, a.MutedBy, a.MutedUntil = "", "", 0
	if d.silenced() {
		return nil
	}
	if done, err := d.inhibited(); done || err != nil {
		return err
	}
	d.flapping(was == Flapping, until)
	return nil
}

func (d *decision) muted(as Outcome, by string, until int64, feed string) {
	a := d.Alert
	d.Outcome, a.Muted, a.MutedBy, a.MutedUntil, a.EverMuted = as, as, by, until, true
	d.Feed = append(d.Feed, feed)
}

// discarded drops the event of a rule that leaves no record of alerts; one that is open already is kept.
func (d *decision) discarded(rule *Rule) bool {
	if !rule.Discard || !d.New {
		return false
	}
	d.Outcome, d.Alert, d.New, d.Feed = Dropped, nil, false, nil
	return true
}

func (d *decision) silenced() bool {
	rule := d.first("silence", d.channel.Silences, &d.Event)
	if rule == nil {
		return false
	}
	if !d.discarded(rule) {
		_, until := rule.Holds(d.now)
		d.muted(Silenced, rule.ID, until, "a_m_silence")
	}
	return true
}

// Held tells whether a silence rule of a channel holds an alert now, which, and until when (Unix seconds):
// for what was open before the rule was made or its window began. rule is nil when none does.
func Held(meter *filter.Meter, ch *Channel, a *Alert, now int64) (rule *Rule, until int64) {
	d := decision{channel: ch, now: now, meter: meter}
	e := a.event()
	if rule = d.first("silence", ch.Silences, &e); rule != nil {
		_, until = rule.Holds(now)
	}
	return rule, until
}

// ReleasedBy tells whether the end of a silence rule, at a moment (Unix seconds), lets an alert out: the rule matches it,
// and none holds it from then on.
func ReleasedBy(meter *filter.Meter, ch *Channel, a *Alert, rule string, end int64) bool {
	e := a.event()
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

// inhibited asks the inhibit rules of the channel and those of the pipeline that matched the event.
func (d *decision) inhibited() (bool, error) {
	var targets []int
	if d.channel.Targets.Set != nil {
		candidates := d.channel.Targets.Set.Candidates(&d.Event)
		for _, i := range candidates {
			if matched, why := d.channel.Targets.Set.Ask(d.meter, i, &d.Event); matched {
				targets = append(targets, i)
			} else if len(d.Trace) < maxLooks*4 {
				rule := d.channel.Targets.List[i]
				d.looked("inhibit", Step{Rule: rule.ID, Name: rule.Name, Why: why, Over: d.meter.Over()})
			}
		}
		d.passed("inhibit", d.channel.Targets.Set, &d.Event, candidates)
	}
	if len(targets) == 0 && len(d.inhibits) == 0 {
		return false, nil
	}
	sources, err := d.state.Sources(d.Channel, d.now-inhibitAge)
	if err != nil {
		return false, err
	}
	for _, i := range targets {
		rule, inhibit := &d.channel.Targets.List[i], d.channel.Inhibits[i]
		if d.inhibitedBy(rule, inhibit, sources) {
			return true, nil
		}
	}
	for _, in := range d.inhibits {
		if d.inhibitedBy(&Rule{Name: in.Rule}, Inhibit{in.Source, in.Equals}, sources) {
			return true, nil
		}
	}
	return false, nil
}

func (d *decision) inhibitedBy(rule *Rule, inhibit Inhibit, sources []Source) bool {
	var near []string // why those that match all the same do not inhibit
	d.meter.Begin()
	for i := range sources {
		source := &sources[i]
		if source.ID == d.Alert.ID && source.ID != "" {
			continue
		}
		e := source.event()
		matches := inhibit.Source.Within(d.meter, &e, nil)
		if d.meter.Over() { // with all these sources
			d.looked("inhibit", Step{Rule: rule.ID, Name: rule.Name, Why: d.meter.Why(), Over: true})
			return false
		}
		if !matches {
			continue
		}
		if d.waitsFor(source, sources) {
			near = append(near, "alert "+source.ID+" is inhibited by this one itself")
			continue
		}
		if source.Acked {
			near = append(near, "alert "+source.ID+" is acknowledged")
			continue
		}
		if field, ok := agree(inhibit.Equals, &e, &d.Event); !ok {
			near = append(near, "alert "+source.ID+" has another "+field)
			continue
		}
		d.looked("inhibit", Step{Rule: rule.ID, Name: rule.Name, Matched: true, Why: fmt.Sprintf("alert %s %q is active", source.ID, source.Title)})
		if !d.discarded(rule) {
			d.muted(Inhibited, source.ID, source.Last+inhibitAge+1, "a_m_inhibit")
		}
		return true
	}
	why := "no active alert matches its source"
	if len(near) > 0 {
		why = strings.Join(near[:min(len(near), 5)], "; ")
	}
	d.looked("inhibit", Step{Rule: rule.ID, Name: rule.Name, Why: why})
	return false
}

// waitsFor tells whether an alert is inhibited itself by the decision's alert, be it by way of others: then each would
// keep the other from people, and nobody would be told of either.
func (d *decision) waitsFor(source *Source, sources []Source) bool {
	for range sources {
		switch {
		case source.Muted != Inhibited || d.Alert.ID == "":
			return false
		case source.MutedBy == d.Alert.ID:
			return true
		case !d.meter.Spend(int64(len(sources))):
			return true // the rule is over its budget and counts as not matching
		}
		i := slices.IndexFunc(sources, func(s Source) bool { return s.ID == source.MutedBy })
		if i < 0 {
			return false
		}
		source = &sources[i]
	}
	return false
}

// agree tells whether two alerts have the same in all fields, or in which first they have not. An alert
// without one of them agrees with none.
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

// flapping tells whether the alert changed too often, or did and is to be silent for a while longer.
func (d *decision) flapping(was bool, until int64) {
	f := d.channel.Flapping
	if f.Off {
		return
	}
	if was && until > d.now {
		d.looked("flapping", Step{Matched: true, Why: "it changed too often and stays silent"})
		d.muted(Flapping, "", until, "a_m_flapping")
		return
	}
	n := int64(0)
	for _, at := range d.Alert.Changes {
		if at > d.now-f.In {
			n++
		}
	}
	why := fmt.Sprintf("it changed %d times in %d minutes, of %d that are too many", n, f.In/60, f.Max)
	if was || n < f.Max { // after the silence it has a new start
		if n > 1 {
			d.looked("flapping", Step{Why: why})
		}
		return
	}
	d.looked("flapping", Step{Matched: true, Why: why})
	if f.Mute > 0 {
		d.muted(Flapping, "", d.now+f.Mute, "a_m_flapping")
	}
}
