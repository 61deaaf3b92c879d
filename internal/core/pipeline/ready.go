package pipeline

import (
	"fmt"
	"maps"
	"regexp"

	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/sentence"
)

// Rules are the rules of an alert pipeline, compiled once for all events. They are safe for concurrent use.
type Rules []readyRule

type readyRule struct {
	Rule
	name    string // such as rules[2] alert_drop
	matcher *filter.Matcher
	source  *filter.Matcher // of alert_inhibit
}

// Ready compiles the rules of a pipeline. A malformed filter works as filter.Compile describes.
func Ready(rules []Rule) Rules {
	ready := make(Rules, len(rules))
	for i, r := range rules {
		ready[i] = readyRule{Rule: r, name: fmt.Sprintf("rules[%d] %s", i, r.Kind)}
		ready[i].matcher, _ = filter.Compile(r.If.Value)
		if r.Kind == AlertInhibit {
			ready[i].source, _ = filter.Compile(r.Settings.SourceFilters.Value)
		}
	}
	return ready
}

// Inhibit is a rule that inhibits the event's alert while an alert that matches Source is active and both agree in the
// fields of Equals. Rule is the name of the rule in steps.
type Inhibit struct {
	Rule   string
	Equals []string
	Source *filter.Matcher
}

// Apply applies the rules to an event, from top to bottom, and returns a changed copy. An event that ends its alert is
// returned unchanged. dropped reports whether a rule dropped the event. inhibits are the matching rules of that kind,
// for the caller, who knows the active alerts. A rule over the meter's budget does not match.
func (rules Rules) Apply(meter *filter.Meter, e event.Event) (out event.Event, dropped bool, inhibits []Inhibit, steps []Step) {
	if e.Status == event.Ok {
		return e, false, nil, []Step{{Stage: "pipeline", Why: sentence.New("ends_unchanged")}}
	}
	for i := range rules {
		r := &rules[i]
		matched, why := meter.Ask(r.matcher, &e)
		step := Step{"pipeline", r.name, matched, why, meter.Over()}
		if matched {
			step.Why, dropped = r.apply(&e, why)
			if r.Kind == AlertInhibit {
				inhibits = append(inhibits, Inhibit{r.name, r.Settings.Equals, r.source})
			}
		}
		steps = append(steps, step)
		if dropped {
			break
		}
	}
	return e, dropped, inhibits, steps
}

// Enrichments are the rules of enrichment, compiled once for all events. They are safe for concurrent use.
type Enrichments []readyEnrichment

type readyEnrichment struct {
	Enrichment
	name    string
	matcher *filter.Matcher
	pattern *regexp.Regexp // of extraction; nil: it is malformed
	wrong   string         // why not
	perByte int64          // steps that the pattern takes for each byte
}

// ReadyEnrichments compiles the rules of enrichment.
func ReadyEnrichments(rules []Enrichment) Enrichments {
	ready := make(Enrichments, len(rules))
	for i, r := range rules {
		var f filter.Filter
		if len(r.If) > 0 {
			f = filter.Filter{r.If}
		}
		ready[i] = readyEnrichment{Enrichment: r, name: fmt.Sprintf("rules[%d] %s", i, r.Kind)}
		ready[i].matcher, _ = filter.Compile(f)
		if r.Kind != extraction {
			continue
		}
		// Every instruction also tracks what each group matches.
		ready[i].pattern, ready[i].wrong = compilePattern(r.Settings.Pattern)
		if ready[i].pattern != nil {
			n, _ := filter.Instructions(r.Settings.Pattern, maxInstructions)
			ready[i].perByte = int64(n) * int64(1+ready[i].pattern.NumSubexp())
		}
	}
	return ready
}

// Enrich applies the rules from top to bottom and returns a copy of the event with other labels. It adds no labels
// beyond the bound of an event. A rule over the meter's budget does not match.
func (rules Enrichments) Enrich(meter *filter.Meter, e event.Event) (event.Event, []Step) {
	var steps []Step
	e.Labels = maps.Clone(e.Labels)
	if e.Labels == nil {
		e.Labels = map[string]string{}
	}
	for i := range rules {
		r := &rules[i]
		matched, why := meter.Ask(r.matcher, &e)
		if matched {
			why = r.apply(meter, &e, why)
		}
		if meter.Over() {
			matched, why = false, meter.Why()
		}
		steps = append(steps, Step{"enrichment", r.name, matched, why, meter.Over()})
	}
	return e, steps
}
