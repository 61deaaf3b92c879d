package channel

import (
	"maps"
	"slices"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/pipeline"
	"tocsin/internal/core/sentence"
	integrations "tocsin/internal/integration"
)

// eventTrial is what the rules of the form make of an event. Nothing is stored.
type eventTrial struct {
	After   event.Event
	Dropped bool
	Muted   bool // if an alert that a rule names is active
	Steps   []trialStep
	Labels  []labelChange
	Rule    int    // that cannot be applied; 0: none
	Wrong   string // why not
}

type trialStep struct {
	Number  int
	Matched bool
	Why     sentence.Words
}

// labelChange is a label after the rules.
type labelChange struct {
	Name, Value  string
	Set, Removed bool
}

// try tries the rules of the form on an event that the visitor chose, else on the newest one.
func (d *eventRulesView) try(v *page.Visit) error {
	if !v.Who.May(auth.ChannelsRead) {
		return nil
	}
	now := v.Now.Unix()
	request := alert.EventsRequest{StartTime: now - activityDays*86400, EndTime: now + 1,
		IntegrationIDs: []int64{d.Integration.IntegrationID}}
	request.Limit = 30
	reply, err := page.Call[api.CursorPage[alert.Event]](v, "/alert-event/list", request)
	for _, e := range reply.Items {
		if e.EventStatus != event.Ok { // rules do not change an event that ends its alert
			d.Events = append(d.Events, e)
		}
	}
	if err != nil || len(d.Events) == 0 {
		return err
	}
	at := slices.IndexFunc(d.Events, func(e alert.Event) bool { return e.EventID == v.Field("event") })
	chosen := d.Events[max(at, 0)]
	d.EventID = chosen.EventID
	d.Trial = d.tried(eventOf(chosen))
	return nil
}

// eventOf returns a stored event as rules see it.
func eventOf(e alert.Event) event.Event {
	return event.Event{
		Title: e.Title, TitleRule: e.TitleRule, Description: e.Description, AlertKey: e.AlertKey, Severity: e.EventSeverity,
		Status: e.EventStatus, Integration: e.IntegrationID, Labels: e.Labels,
	}
}

// tried applies the rules of the form to an event.
func (d *eventRulesView) tried(e event.Event) *eventTrial {
	meter, t := filter.NewMeter(filter.RuleSteps, filter.EventSteps), &eventTrial{}
	var steps []pipeline.Step
	if d.Stage.Name == labels {
		rules := enrichments(d.Rules)
		t.Rule, t.Wrong = firstWrong(rules)
		t.After, steps = pipeline.ReadyEnrichments(rules).Enrich(meter, e)
	} else {
		rules := pipelineRules(d.Rules)
		t.Rule, t.Wrong = firstWrong(rules)
		var inhibits []pipeline.Inhibit
		t.After, t.Dropped, inhibits, steps = pipeline.Ready(rules).Apply(meter, e)
		t.Muted = len(inhibits) > 0
	}
	if t.Rule > 0 {
		return t
	}
	for n, s := range steps {
		t.Steps = append(t.Steps, trialStep{n + 1, s.Matched, sentence.Words(s.Why)})
	}
	t.compare(e.Labels)
	return t
}

// firstWrong returns the number of the first rule that cannot be stored, and why; 0: there is none.
func firstWrong[R integrations.Rule](rules []R) (number int, why string) {
	for n, r := range rules {
		if path, why := r.Check(); path != "" {
			return n + 1, path + " " + why
		}
	}
	return 0, ""
}

// compare fills in the labels after the rules, and those that the rules removed.
func (t *eventTrial) compare(before map[string]string) {
	names := slices.Sorted(maps.Keys(t.After.Labels))
	for _, name := range names {
		value, had := before[name]
		t.Labels = append(t.Labels, labelChange{Name: name, Value: t.After.Labels[name], Set: !had || value != t.After.Labels[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, has := t.After.Labels[name]; !has {
			t.Labels = append(t.Labels, labelChange{Name: name, Value: before[name], Removed: true})
		}
	}
}
