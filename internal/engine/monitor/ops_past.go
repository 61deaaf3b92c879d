package monitor

import (
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/fault"
)

// maxTried bounds the body of an operation on a rule that is not stored.
const maxTried = 512 << 10

// neverMissing is needsRules of an operation whose ds_id is a parameter: an unknown datasource is not valid.
var neverMissing = api.Errors{fault.AccessDenied: needsRules[fault.AccessDenied], fault.NotFound: ""}

// pastOps returns the operations that ask datasources about rules, mostly about the past.
func (r *Service) pastOps() []api.Op {
	ask := []auth.Permission{auth.DatasourcesRead}
	return []api.Op{
		{
			Path: "/monit/rule/graph", Allow: ask, Effect: api.Snapshot, Rate: previews, Errors: needsRules,
			Doc: "Shows the queries of an alert rule over time, with the numbers that it compares and the times in which it fired.",
			Notes: "The caller needs Alerting Rules Read (monit) as well. The steps are the rule's interval, or a multiple of it, so that a " +
				"series has at most 720 points. Only datasources of the types prometheus, loki and victorialogs can be asked about the past; of " +
				"victorialogs only a query that begins with a filter such as _time:5m of one step.",
			Example: `{"id": 1, "from": 1776052000000, "to": 1776055600000}`,
			Do:      api.DoOutside(r.graph),
		},
		{
			Path: "/monit/rule/test", Allow: ask, Effect: api.Snapshot, Rate: previews, Errors: needsRules, MaxBody: maxTried,
			Doc: "Evaluates an alert rule once without storing anything, and shows whom its alert would notify now.",
			Notes: "The caller needs Alerting Rules Read (monit) as well. Evaluations in a row and enabled_times are left out: pending shows " +
				"that further evaluations must hold. What was asked is in the audit log, with the hashes of the queries.",
			Example: `{"rule": {"name": "Disk almost full", "ds_type": "prometheus", "ds_list": ["Prometheus*"], "cron_pattern": "@every 30s", ` +
				`"rule_configs": {"queries": [{"name": "A", "expr": "max by (instance, mountpoint) (disk_used_percent)"}], ` +
				`"check_threshold": {"enabled": true, "critical": "$A > 95"}}}}`,
			Do: api.DoOutside(r.tryRule),
		},
		{
			Path: "/monit/rule/backtest", Allow: ask, Effect: api.Snapshot, Rate: previews, Errors: needsRules, MaxBody: maxTried,
			Doc: "Evaluates an alert rule on the past without storing anything, and counts whom its alerts would have notified.",
			Notes: "The caller needs Alerting Rules Read (monit) as well. The answers are those that the datasource has now about each moment of " +
				"the schedule, at most 31 days and 11,000 moments. A person counts once for an incident, if its first notification comes before " +
				"its end: as if that was acknowledged. Channels, schedules and escalation rules are those of now, and who was on call is as the " +
				"schedules have it for that moment. Only datasources that /monit/rule/graph can show can be asked, and recovery by query cannot.",
			Example: `{"rule": {"name": "Disk almost full", "ds_type": "prometheus", "ds_list": ["Prometheus*"], "cron_pattern": "@every 1m", ` +
				`"rule_configs": {"queries": [{"name": "A", "expr": "max by (instance, mountpoint) (disk_used_percent)"}], ` +
				`"check_threshold": {"enabled": true, "critical": "$A > 95"}}}, ` +
				`"from": 1776009600000, "to": 1776052800000}`,
			Do: api.DoOutside(r.backtest),
		},
		{
			Path: "/monit/rule/import/prove", Allow: ask, Effect: api.Snapshot, Rate: previews, Errors: neverMissing,
			Doc:   "Compares what alert rules of Prometheus mean there with what they mean here, on the answers of the last 24 hours.",
			Notes: "The caller needs Alerting Rules Read (monit) as well. Nothing is stored.",
			Example: `{"ds_id": 1, "text": "groups: [{name: disks, interval: 30s, ` +
				`rules: [{alert: DiskFull, expr: disk_used_percent > 95, for: 5m, labels: {severity: critical}}]}]"}`,
			Do: api.DoOutside(r.prove),
		},
	}
}
