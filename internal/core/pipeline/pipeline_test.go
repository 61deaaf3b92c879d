package pipeline

import (
	"maps"
	"strings"
	"testing"

	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
)

var sample = event.Event{AlertKey: "k", Title: "Disk full on db-1", Description: "97 %", Status: event.Warning, Severity: event.Warning, Labels: map[string]string{"host": "db-1", "env": "prod"}}

func when(key, value string) filter.Filter {
	return filter.Filter{{{Key: key, Oper: filter.In, Vals: []string{value}}}}
}

func TestApply(t *testing.T) {
	rules := []Rule{
		{Kind: TitleReset, If: filter.Groups(when("labels.env", "prod")), Settings: Settings{Title: "[{{.labels.env}}] {{ .title }}{{.labels.none}}"}},
		{Kind: SeverityReset, If: filter.Groups(when("title", "/^\\[prod\\]/")), Settings: Settings{Severity: event.Critical}},
		{Kind: DescriptionReset, If: filter.Groups(when("severity", "Warning")), Settings: Settings{Description: "never"}},
		{Kind: AlertInhibit, Settings: Settings{Equals: []string{"labels.host"}}},
	}
	out, dropped, inhibits, steps := Ready(rules).Apply(nil, sample)
	if dropped || out.Title != "[prod] Disk full on db-1" || out.Severity != event.Critical || out.Status != event.Critical || out.Description != "97 %" || len(inhibits) != 1 || len(steps) != 4 {
		t.Errorf("%+v %v %+v %+v", out, dropped, inhibits, steps)
	}
	if steps[2].Matched || !strings.Contains(steps[2].Why.English(), `severity is "Critical", not IN Warning`) {
		t.Errorf("%+v", steps[2])
	}
	if sample.Title != "Disk full on db-1" {
		t.Error("the event itself was changed")
	}
	out, dropped, _, steps = Ready([]Rule{{Kind: AlertDrop}, {Kind: TitleReset, Settings: Settings{Title: "x"}}}).Apply(nil, sample)
	if !dropped || out.Title != sample.Title || len(steps) != 1 {
		t.Errorf("%+v %v %+v", out, dropped, steps)
	}
	over := sample
	over.Status = event.Ok
	if out, dropped, _, _ := Ready([]Rule{{Kind: AlertDrop}}).Apply(nil, over); dropped || out.Title != over.Title {
		t.Error("an event that ends an alert was changed")
	}
}

// TestDollarPlaceholders fills the form of the Terraform provider's examples. A value is never filled again, and what is no
// field stays, with a warning.
func TestDollarPlaceholders(t *testing.T) {
	for text, want := range map[string]string{
		"[Prometheus] ${title}":                             "[Prometheus] Disk full on db-1",
		"${ labels.env }/${labels.host}${labels.no}":        "prod/db-1",
		"${description} ${severity} ${status} ${alert_key}": "97 % Warning Warning k",
		"{{.title}} ${title}":                               "Disk full on db-1 Disk full on db-1",
		"${labels.trap}":                                    "${title} {{.title}}",
		"${titel} ${}":                                      "${titel} ${}",
		"costs $5 {x}":                                      "costs $5 {x}",
	} {
		e := sample
		e.Labels = maps.Clone(sample.Labels)
		e.Labels["trap"] = "${title} {{.title}}"
		r := Rule{Kind: TitleReset, Settings: Settings{Title: text}}
		if out, _, _, _ := Ready([]Rule{r}).Apply(nil, e); out.Title != want {
			t.Errorf("%s: %q, want %q", text, out.Title, want)
		}
		if path, why := r.Check(); path != "" {
			t.Errorf("%s: %s %s", text, path, why)
		}
		if warned := len(r.Warnings()) > 0; warned != strings.Contains(text, "titel") {
			t.Errorf("%s: %q", text, r.Warnings())
		}
	}
	composed := Enrichment{Kind: "composition", Settings: EnrichmentSettings{ResultLabel: "where", Template: "${labels.env}/${host}"}}
	out, _ := ReadyEnrichments([]Enrichment{composed}).Enrich(nil, sample)
	if w := composed.Warnings(); out.Labels["where"] != "prod/${host}" || len(w) != 1 || !strings.Contains(w[0], `settings.template: "${host}" stays`) {
		t.Errorf("%q %q", out.Labels, w)
	}
}

func TestEnrich(t *testing.T) {
	before := maps.Clone(sample.Labels)
	out, steps := ReadyEnrichments([]Enrichment{
		{Kind: "extraction", Settings: EnrichmentSettings{SourceField: "title", ResultLabel: "kind", Pattern: `on (?P<result>\w+)-`}},
		{Kind: "extraction", Settings: EnrichmentSettings{SourceField: "labels.host", ResultLabel: "number", Pattern: `\d+`}},
		{Kind: "extraction", Settings: EnrichmentSettings{SourceField: "labels.none", ResultLabel: "x", Pattern: `.`}},
		{Kind: "composition", Settings: EnrichmentSettings{ResultLabel: "where", Template: "{{.labels.env}}/{{.labels.kind}}"}},
		{Kind: "composition", Settings: EnrichmentSettings{ResultLabel: "env", Template: "x"}},
		{Kind: "composition", If: when("labels.env", "test")[0], Settings: EnrichmentSettings{ResultLabel: "no", Template: "x"}},
		{Kind: "drop", Settings: EnrichmentSettings{DropLabels: []string{"host"}}},
	}).Enrich(nil, sample)
	want := map[string]string{"env": "prod", "kind": "db", "number": "1", "where": "prod/db"}
	if !maps.Equal(out.Labels, want) || len(steps) != 7 || !maps.Equal(sample.Labels, before) {
		t.Errorf("%v %+v", out.Labels, steps)
	}
	for _, s := range steps {
		if s.Why == "" {
			t.Errorf("no reason: %+v", s)
		}
	}
}

func TestCheck(t *testing.T) {
	for want, r := range map[string]Rule{
		"":                                      {Kind: AlertDrop},
		"kind":                                  {Kind: "x"},
		"settings.title":                        {Kind: TitleReset},
		"settings.severity":                     {Kind: SeverityReset, Settings: Settings{Severity: "Ok"}},
		"settings.description":                  {Kind: DescriptionReset, Settings: Settings{Description: "{{.nothing}}"}},
		"settings.equals":                       {Kind: AlertInhibit},
		"if[0][0].vals[0]":                      {Kind: AlertDrop, If: filter.Groups(when("a", "/(/"))},
		"settings.source_filters[0][0].vals[0]": {Kind: AlertInhibit, Settings: Settings{Equals: []string{"a"}, SourceFilters: filter.Groups(when("a", "/(/"))}},
	} {
		if path, why := r.Check(); path != want || (why == "") != (want == "") {
			t.Errorf("%+v: %q %q, want %q", r, path, why, want)
		}
	}
	for want, r := range map[string]Enrichment{
		"":                      {Kind: "drop", Settings: EnrichmentSettings{DropLabels: []string{"a"}}},
		"kind":                  {Kind: "mapping"},
		"settings.drop_labels":  {Kind: "drop"},
		"settings.result_label": {Kind: "composition", Settings: EnrichmentSettings{ResultLabel: "A"}},
		"settings.template":     {Kind: "composition", Settings: EnrichmentSettings{ResultLabel: "a", Template: "{{range}}"}},
		"settings.source_field": {Kind: "extraction", Settings: EnrichmentSettings{ResultLabel: "a", SourceField: "x", Pattern: "."}},
		"settings.pattern":      {Kind: "extraction", Settings: EnrichmentSettings{ResultLabel: "a", SourceField: "title", Pattern: "("}},
		"if[0].vals[0]":         {Kind: "drop", If: when("a", "/(/")[0]},
	} {
		if path, why := r.Check(); path != want || (why == "") != (want == "") {
			t.Errorf("%+v: %q %q, want %q", r, path, why, want)
		}
	}
}

// FuzzFill checks that for every text an event is never lost and never grows beyond its bounds.
func FuzzFill(f *testing.F) {
	f.Add("{{.title}} {{.labels.a}}", "x")
	f.Add("{{ .labels.x}}{{", "{{.title}}")
	f.Add("${title}${", "${labels.a}")
	f.Fuzz(func(t *testing.T, text, value string) {
		e := event.Event{Title: value, Status: event.Warning, Severity: event.Warning, Labels: map[string]string{"a": value}}
		out, dropped, _, steps := Ready([]Rule{{Kind: TitleReset, Settings: Settings{Title: text}}}).Apply(nil, e)
		if dropped || len(steps) != 1 || len([]rune(out.Title)) > max(event.MaxTitle, len([]rune(value))) {
			t.Errorf("%q: %+v", text, out)
		}
		ReadyEnrichments([]Enrichment{{Kind: "extraction", Settings: EnrichmentSettings{SourceField: "title", ResultLabel: "r", Pattern: text}}}).Enrich(nil, e)
	})
}
