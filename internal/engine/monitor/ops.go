package monitor

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/ratelimit"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// previews bounds the operations that ask a datasource.
var previews = ratelimit.Rate{PerMinute: 60}

// Ops returns the operations on what alert rules found.
func (r *Service) Ops() []api.Op {
	read := []auth.Permission{auth.AlertingRulesRead}
	ask := []auth.Permission{auth.DatasourcesRead}
	return api.WithReplies(golden, append([]api.Op{
		{
			Path: "/monit/rule/state", Allow: read, Effect: api.Snapshot,
			Doc: "Shows the state of an alert rule: what is open or pending, and each datasource that it is evaluated on.",
			Notes: "Pending instances and the last evaluations are shown by the process that evaluates the rule; others show what is stored. " +
				"The state unknown means that the last answers were not complete: then nothing begins and nothing ends.",
			Example: `{"id": 1}`,
			Do:      api.Do(r.state),
		},
		{
			Path: "/monit/rule/history", Allow: read, Effect: api.Snapshot,
			Doc:     "Lists what became of the instances of an alert rule, newest first.",
			Example: `{"id": 1, "limit": 20}`,
			Do:      api.Do(history),
		},
		{
			Path: "/monit/rule/explain", Allow: read, Effect: api.Snapshot,
			Doc: "Explains the last change that an alert rule found on a datasource: the queries, the moment that they asked about, " +
				"the values and the clause that decided.",
			Example: `{"rule_id": 1, "ds_id": 1}`,
			Do:      api.Do(explain),
		},
		{
			Path: "/monit/datasource/state", Allow: ask, Effect: api.Snapshot,
			Doc: "Shows how each datasource answers the alert rules on it.",
			Notes: "Answers are known to the process that evaluates the rules. A datasource is lost when none of its queries was answered for a " +
				"minute.",
			Example: `{}`,
			Do:      api.Do(r.datasourceStates),
		},
		{
			Path: "/monit/preview/sync", Allow: ask, Effect: api.Snapshot, Rate: previews, Errors: needsRules,
			Doc:     "Asks a datasource a query, and returns at most 1,000 rows.",
			Notes:   "The caller needs Alerting Rules Read (monit) as well.",
			Example: `{"ds_type": "prometheus", "ds_name": "Prometheus Frankfurt", "expr": "up"}`,
			Do:      api.DoOutside(r.preview),
		},
		{
			Path: "/monit/query/data", Allow: ask, Effect: api.Snapshot, Rate: previews, Errors: needsRules,
			Doc:     "Asks a datasource a query, and returns at most 1,000 rows with the name of their format.",
			Notes:   "The caller needs Alerting Rules Read (monit) as well.",
			Example: `{"ds_type": "prometheus", "ds_name": "Prometheus Frankfurt", "expr": "up"}`,
			Do:      api.DoOutside(r.queryData),
		},
	}, r.pastOps()...))
}
