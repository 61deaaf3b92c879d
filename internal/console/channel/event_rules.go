package channel

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/pipeline"
	"tocsin/internal/enrichment"
	integrations "tocsin/internal/integration"
)

// This file has the rules that change the events of an integration before channels see them: those for labels, which are applied first,
// and those of the alert pipeline.

// eventStage is a list of such rules.
type eventStage struct {
	Name, Text, Hint string
	Kinds            []eventKind
	Rights           page.Rights
}

// eventKind is a kind of rule, with the settings that it needs.
type eventKind struct {
	Name, Text string
	Settings   []page.Member // Path: in the rule's settings
	Source     bool          // it names another alert by a filter
}

// labels is the stage that adds and removes labels.
const labels = "labels"

var labelTo = page.Member{Path: "result_label", Label: "Label to set", Hint: "Small letters, digits and _."}

var override = page.Member{Path: "override", Label: "Replace the label if the event has it", Kind: "check"}

const fieldsHint = ".title, .severity, .labels.service and so on, in double braces, stand for fields of the event."

var eventStages = []eventStage{
	{Name: labels, Text: "Labels of its events", Hint: "Applied first, from top to bottom.", Kinds: []eventKind{
		{Name: "extraction", Text: "Label from a text", Settings: []page.Member{
			{Path: "source_field", Label: "Read from", Hint: "title, description or labels.NAME"},
			{Path: "pattern", Label: "Regular expression", Hint: "The label becomes the group named result, or the whole match."},
			labelTo, override,
		}},
		{Name: "composition", Text: "Label from other fields", Settings: []page.Member{
			{Path: "template", Label: "Text", Hint: fieldsHint}, labelTo, override,
		}},
		{Name: "drop", Text: "Remove labels", Settings: []page.Member{{Path: "drop_labels", Label: "Labels, with commas between them"}}},
	}, Rights: page.Rights{auth.ChannelsManage, auth.IntegrationsManage}},
	{Name: "pipeline", Text: "Rules for its events",
		Hint: "Applied after those for labels, from top to bottom, to every event but those that end an alert.", Kinds: []eventKind{
			{Name: pipeline.SeverityReset, Text: "Set the severity", Settings: []page.Member{{Path: "severity", Label: "Severity",
				Options: []page.Option{
					{Value: "Critical", Text: "Critical"}, {Value: "Warning", Text: "Warning"}, {Value: "Info", Text: "Info"},
				}}}},
			{Name: pipeline.TitleReset, Text: "Set the title", Settings: []page.Member{{Path: "title", Label: "Title", Hint: fieldsHint}}},
			{Name: pipeline.DescriptionReset, Text: "Set the description", Settings: []page.Member{
				{Path: "description", Label: "Description", Kind: page.Long, Hint: fieldsHint},
			}},
			{Name: pipeline.AlertDrop, Text: "Discard the event"},
			{Name: pipeline.AlertInhibit, Text: "Mute it while another alert is active", Source: true, Settings: []page.Member{
				{Path: "equals", Label: "Fields in which both agree, with commas between them"},
			}},
		}, Rights: page.ManageIntegrations},
}

// eventRule is a rule as the form holds it.
type eventRule struct {
	Index  int
	Kind   eventKind
	If     filterForm
	Source filterForm
	Values map[string]string // of the settings
	Fields []page.FormField
}

// Number returns the number of the rule, from 1.
func (r eventRule) Number() int { return r.Index + 1 }

type eventRulesView struct {
	page.Titled
	Integration integrationRow
	Stage       eventStage
	Stages      []page.TabLink
	Rules       []eventRule
	Events      []alert.Event // to try the rules on
	EventID     string
	Trial       *eventTrial
	Seen        string
	updatedBy   int64
	May         bool
}

// Path returns the address of the page.
func (d eventRulesView) Path() string {
	return eventRulesPath(d.Integration.IntegrationID, d.Stage.Name)
}

func eventRulesPath(integration int64, stage string) string {
	return fmt.Sprintf("/integrations/%d/rules/%s", integration, stage)
}

func showEventRules(v *page.Visit) (page.View, error) {
	d, err := storedEventRules(v)
	if err != nil {
		return nil, err
	}
	if v.Request.Method == http.MethodPost {
		d.Rules, d.Seen = readEventRules(v, d.Stage), v.FormSeen(d.Seen)
	}
	for n := range d.Rules {
		d.Rules[n].name(v, n)
		d.Rules[n].If.Single = d.Stage.Name == labels
	}
	return d, d.try(v)
}

// storedEventRules returns the page with the rules that are stored.
func storedEventRules(v *page.Visit) (d eventRulesView, err error) {
	at := slices.IndexFunc(eventStages, func(s eventStage) bool { return s.Name == v.Request.PathValue("stage") })
	if at < 0 {
		return d, page.NotHere(v)
	}
	d.Stage = eventStages[at]
	d.Titled, d.May = page.Titled(v.T(d.Stage.Text)), v.Who.MayAny(d.Stage.Rights)
	d.Integration, err = integration(v)
	if err != nil {
		return d, err
	}
	if !d.Integration.Source() {
		return d, page.NotHere(v)
	}
	for _, s := range eventStages {
		path := eventRulesPath(d.Integration.IntegrationID, s.Name)
		d.Stages = append(d.Stages, page.TabLink{Link: page.Link{Path: path, Text: v.T(s.Text)}, Here: s.Name == d.Stage.Name})
	}
	if d.Stage.Name == labels {
		return d, d.readLabels(v)
	}
	return d, d.readPipeline(v)
}

func (d *eventRulesView) readLabels(v *page.Visit) error {
	request := integrations.RulesRequest{IntegrationID: d.Integration.IntegrationID}
	stored, err := page.Call[enrichment.Rules](v, "/enrichment/info", request)
	d.Seen, d.updatedBy = page.Identity(stored.Rules), stored.UpdatedBy
	for _, r := range stored.Rules {
		s := r.Settings
		var conditions filter.Filter
		if len(r.If) > 0 {
			conditions = filter.Filter{r.If}
		}
		d.add(r.Kind, conditions, nil, map[string]string{
			"source_field": s.SourceField, "pattern": s.Pattern, "template": s.Template, "result_label": s.ResultLabel,
			"override": map[bool]string{true: "1"}[page.ValueOf(s.Override)], "drop_labels": strings.Join(s.DropLabels, ", "),
		})
	}
	return page.IgnoreMissing(err)
}

func (d *eventRulesView) readPipeline(v *page.Visit) error {
	request := integrations.RulesRequest{IntegrationID: d.Integration.IntegrationID}
	stored, err := page.Call[alert.Pipeline](v, "/alert/pipeline/info", request)
	d.Seen, d.updatedBy = page.Identity(stored.Rules), stored.UpdatedBy
	for _, r := range stored.Rules {
		s := r.Settings
		d.add(r.Kind, r.If.Value, s.SourceFilters.Value, map[string]string{
			"severity": s.Severity, "title": s.Title, "description": s.Description, "equals": strings.Join(s.Equals, ", "),
		})
	}
	return page.IgnoreMissing(err)
}

// add adds a stored rule.
func (d *eventRulesView) add(kind string, conditions, source filter.Filter, values map[string]string) {
	d.Rules = append(d.Rules, eventRule{
		Kind: d.Stage.kind(kind), If: formOf("", conditions), Source: formOf("", source), Values: values,
	})
}

// kind returns a kind by its name.
func (s eventStage) kind(name string) eventKind {
	at := slices.IndexFunc(s.Kinds, func(k eventKind) bool { return k.Name == name })
	if at < 0 { // of an account file
		return eventKind{Name: name, Text: "Not supported"}
	}
	return s.Kinds[at]
}

// maxEventRules is how many rules the form reads, one more than an integration may have, so that the operation refuses too many.
const maxEventRules = 51

// readEventRules returns what was entered, with what a button adds, removes or moves.
func readEventRules(v *page.Visit, s eventStage) (rules []eventRule) {
	do, with, _ := strings.Cut(v.Field("do"), ":")
	for n := range maxEventRules {
		name := fmt.Sprintf("rule.%d", n)
		if !v.Request.PostForm.Has(name + ".kind") {
			break
		}
		if do == "remove-rule" && with == strconv.Itoa(n) {
			continue
		}
		r := eventRule{Kind: s.kind(v.Field(name + ".kind")), If: readFilter(v, name), Source: readFilter(v, name+".source")}
		r.Values = map[string]string{}
		for _, m := range r.Kind.Settings {
			r.Values[m.Path] = strings.ReplaceAll(v.Field(name+"."+m.Path), "\r\n", "\n")
		}
		rules = append(rules, r)
		if at := len(rules) - 1; do == "up-rule" && with == strconv.Itoa(n) && at > 0 {
			rules[at-1], rules[at] = rules[at], rules[at-1]
		}
	}
	if do == "add-rule" {
		rules = append(rules, eventRule{Kind: s.kind(with), If: filterForm{}.atLeastOne(), Source: filterForm{}.atLeastOne()})
	}
	return rules
}

// name sets the number of a rule, and the names of its inputs.
func (r *eventRule) name(v *page.Visit, n int) {
	at := fmt.Sprintf("rule.%d", n)
	r.Index = n
	r.If.Name, r.Source.Name = at, at+".source"
	for _, m := range r.Kind.Settings {
		f := page.FormField{Name: at + "." + m.Path, Label: v.T(m.Label), Value: r.Values[m.Path], Kind: string(m.Kind)}
		if m.Hint != "" {
			f.Hint = v.T(m.Hint)
		}
		for _, o := range m.Options {
			f.Kind, f.Options = "choice", append(f.Options, page.Option{Value: o.Value, Text: v.T(o.Text)})
		}
		r.Fields = append(r.Fields, f)
	}
}

// enrichments returns the rules for labels of the form.
func enrichments(rules []eventRule) []pipeline.Enrichment {
	all := []pipeline.Enrichment{}
	for _, r := range rules {
		one := pipeline.Enrichment{Kind: r.Kind.Name, Settings: pipeline.EnrichmentSettings{
			SourceField: r.Values["source_field"], ResultLabel: r.Values["result_label"], Pattern: r.Values["pattern"],
			Template: r.Values["template"], DropLabels: page.Commas(r.Values["drop_labels"]),
		}}
		if r.Values["override"] != "" {
			one.Settings.Override = new(true)
		}
		for _, group := range r.If.filter() {
			one.If = append(one.If, group...)
		}
		all = append(all, one)
	}
	return all
}

// pipelineRules returns the rules of the pipeline of the form.
func pipelineRules(rules []eventRule) []pipeline.Rule {
	all := []pipeline.Rule{}
	for _, r := range rules {
		one := pipeline.Rule{Kind: r.Kind.Name, If: written(r.If), Settings: pipeline.Settings{
			Title: r.Values["title"], Description: r.Values["description"], Severity: r.Values["severity"],
		}}
		if r.Kind.Source {
			one.Settings.Equals, one.Settings.SourceFilters = page.Commas(r.Values["equals"]), written(r.Source)
		}
		all = append(all, one)
	}
	return all
}

// written returns the filter of a form as rules hold it: absent without a condition.
func written(f filterForm) (w filter.Written) {
	if entered := f.filter(); len(entered) > 0 {
		w = filter.Written{Value: entered}
	}
	return w
}

// saveEventRules stores the rules, unless a button asked for another row or for a trial.
func saveEventRules(v *page.Visit) (string, error) {
	if v.Field("do") != "save" {
		return "", nil
	}
	d, err := storedEventRules(v)
	if err != nil {
		return "", err
	}
	if err := v.Unchanged(d.Seen, d.updatedBy); err != nil {
		return "", err
	}
	rules, id := readEventRules(v, d.Stage), d.Integration.IntegrationID
	if d.Stage.Name == labels {
		request := integrations.RulesInput[pipeline.Enrichment]{IntegrationID: id, Rules: enrichments(rules)}
		return d.Path(), page.Do[api.Empty](v, "/enrichment/upsert", request)
	}
	request := integrations.RulesInput[pipeline.Rule]{IntegrationID: id, Rules: pipelineRules(rules)}
	return d.Path(), page.Do[api.Empty](v, "/alert/pipeline/upsert", request)
}
