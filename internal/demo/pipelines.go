package demo

import (
	"tocsin/internal/alert"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/pipeline"
	"tocsin/internal/enrichment"
)

// enrichments returns the rules that name the service of what Prometheus sends under a title such as "basket: slow".
func enrichments(m moments) []enrichment.Rules {
	return []enrichment.Rules{{
		IntegrationID: prometheusIntake,
		Rules: []pipeline.Enrichment{{
			Kind:     "extraction",
			Settings: pipeline.EnrichmentSettings{SourceField: "title", ResultLabel: "service", Pattern: "^(?P<result>[a-z]+):"},
		}},
		Status: "enabled", CreatorID: anna, UpdatedBy: jonas, CreatedAt: m.yearAgo(0, 9).Unix(), UpdatedAt: m.ago(15 * day).Unix(),
	}}
}

// pipelines returns the rules that change or drop alerts of Prometheus before they are routed.
func pipelines(m moments) []alert.Pipeline {
	when := func(c ...filter.Condition) filter.Written { return filter.Groups(filter.Filter{c}) }
	return []alert.Pipeline{{
		IntegrationID: prometheusIntake,
		Rules: []pipeline.Rule{
			{
				Kind:     pipeline.TitleReset,
				If:       when(in("labels.provider", "*")),
				Settings: pipeline.Settings{Title: "{{.title}}: {{.labels.provider}}"},
			},
			{
				Kind:     pipeline.SeverityReset,
				If:       when(in("labels.environment", "staging"), in("severity", "Critical")),
				Settings: pipeline.Settings{Severity: "Info"},
			},
			{Kind: pipeline.AlertDrop, If: when(in("labels.check", "selftest"))},
			{ // replicas fall behind a primary that is down, and everyone knows why
				Kind:     pipeline.AlertInhibit,
				If:       when(in("labels.check", "lag_seconds", "replication_lag")),
				Settings: pipeline.Settings{Equals: []string{"labels.cluster"}, SourceFilters: when(in("labels.check", "primary_down"))},
			},
		},
		Status: "enabled", CreatorID: anna, UpdatedBy: jonas, CreatedAt: m.yearAgo(0, 9).Unix(), UpdatedAt: m.ago(15 * day).Unix(),
	}}
}
