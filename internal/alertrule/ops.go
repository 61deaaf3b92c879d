package alertrule

import (
	"context"
	"embed"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/ratelimit"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Config holds the dependencies: what the engine does that evaluates the rules. Each may be nil.
type Config struct {
	// First is called before rules are created, in the transaction that stores them.
	First func(tx *db.Tx, account, person int64, now time.Time) error
	// Changed is called in the transaction that changes a rule, with the rule as it is then. action is update, fields or
	// move, or delete, and then the rule as it was.
	Changed func(tx *db.Tx, account int64, rule *Rule, action string, person int64, now time.Time) error
	// Try asks the first datasource that a rule matches for an answer to its queries, for a few seconds at most.
	Try func(ctx context.Context, account int64, r Rule) []Trial
	// States returns what is known of rules. A rule that it does not return is evaluated as it should be.
	States func(tx *db.Tx, account int64, rules []uint64, now time.Time) (map[uint64]State, error)
}

// Service holds the operations on alert rules.
type Service struct{ Config }

// New returns the operations with their dependencies.
func New(c Config) *Service { return &Service{c} }

const (
	create  = "create"
	update  = "update"
	fields  = "fields"
	move    = "move"
	deleted = "delete"
	carried = "import"
)

// The rates of the operations on many rules, as the public API has them.
var (
	batchRate  = ratelimit.Rate{PerSecond: 5, PerMinute: 30}
	importRate = ratelimit.Rate{PerSecond: 2, PerMinute: 20}
	exportRate = ratelimit.Rate{PerSecond: 1, PerMinute: 10}
)

const exampleRule = `"ds_type": "prometheus", "ds_list": ["Prometheus*"], "cron_pattern": "@every 30s",
	"labels": {"team": "platform"}, "rule_configs": {"queries": [{"name": "A", "expr": "max by (instance) (disk_used_percent)"}],
	"check_threshold": {"enabled": true, "alerting_check_times": 3, "critical": "$A > 95", "warning": "$A > 85"}}`

// Ops returns the operations on alert rules.
func (s *Service) Ops() []api.Op {
	return api.WithReplies(golden, append(s.writes(), s.reads()...))
}

func (s *Service) writes() []api.Op {
	manage := []auth.Permission{auth.AlertingRulesManage}
	return []api.Op{
		{
			Path: "/monit/rule/create", Allow: manage, Effect: api.Write, Audit: "monitor_rule:write:create", MaxBody: 2 * maxRule,
			Doc: "Creates an alert rule and returns it.",
			Notes: "An account has at most 20,000 rules, a folder 2,000, and a rule 256 KiB. A rule matches at most 1,000 datasources. " +
				"The rules of an account are evaluated at most 1,000 times a second, on each datasource that they match. " +
				"cron_pattern has no time zone: timezone is that.",
			Example: `{"name": "Disk almost full", ` + exampleRule + `}`,
			Do:      api.DoAfter(s.try, s.create),
		},
		{
			Path: "/monit/rule/update", Allow: manage, Effect: api.Write, Audit: "monitor_rule:write:update", MaxBody: 2 * maxRule,
			Errors: api.Missing("alert rule"),
			Doc:    "Replaces an alert rule and returns it.",
			Notes: "All members are overwritten but enabled and folder_id, which are kept if they are absent. " +
				"Alerts that are open go on, if their series is in the first answer to the new rule.",
			Example: `{"id": 1, "name": "Disk is filling up", ` + exampleRule + `}`,
			Do:      api.DoAfter(s.try, s.update),
		},
		{
			Path: "/monit/rule/delete", Allow: manage, Effect: api.Write, Audit: "monitor_rule:write:delete", Danger: true,
			Doc:     "Deletes an alert rule; its alerts end.",
			Notes:   "With dry_run nothing is deleted, and the reply states whether it could be.",
			Example: `{"id": 1}`,
			Do:      api.Do(s.delete),
		},
		{
			Path: "/monit/rule/delete/batch", Allow: manage, Effect: api.Write, Audit: "monitor_rule:write:delete", Danger: true, Rate: batchRate,
			Errors:  api.Missing("alert rule"),
			Doc:     "Deletes alert rules, all or none; their alerts end.",
			Notes:   "With dry_run nothing is deleted, and the reply states whether they could be.",
			Example: `{"ids": [2]}`,
			Do:      api.Do(s.deleteBatch),
		},
		{
			Path: "/monit/rule/update/fields", Allow: manage, Effect: api.Write, Audit: "monitor_rule:write:fields", MaxBody: 2 * maxRule,
			Errors: api.NeverMissing,
			Doc:    "Sets the members that fields names to the same values in several alert rules.",
			Notes: "Members that fields does not name are ignored; one that it names and that is absent gets its default. " +
				"A rule that would not be valid stays as it is, and its item has the reason as message; " +
				"the message of a rule that was changed is empty.",
			Example: `{"ids": [1], "fields": ["enabled"], "enabled": false}`,
			Do:      api.Do(s.updateFields),
		},
		{
			Path: "/monit/rule/move", Allow: manage, Effect: api.Write, Audit: "monitor_rule:write:move",
			Errors: api.Missing("folder"),
			Doc:    "Moves alert rules into another folder.",
			Notes: "A rule whose name another one has there stays where it is, and its item has the reason as message; the message of a rule that " +
				"was moved is empty.",
			Example: `{"ids": [1], "dest_folder_id": 1}`,
			Do:      api.Do(s.move),
		},
		{
			Path: "/monit/rule/import", Allow: manage, Effect: api.Write, Audit: "monitor_rule:write:import", Rate: importRate,
			Doc: "Creates alert rules from an array of them, such as a reply of /monit/rule/export.",
			Notes: "folder_id of each names its folder; id is ignored. A rule that is not valid, or whose name another one has in the folder, " +
				"is not created, and its item has the reason as message; the message of a rule that was created is empty. " +
				"At most 1,000 rules in a call.",
			Example: `[{"name": "Disk of a database almost full", ` + exampleRule + `}]`,
			Do:      api.Do(s.importRules),
		},
		{
			Path: "/monit/rule/import/file", Allow: manage, Effect: api.Write, Audit: "monitor_rule:write:import-file", Rate: importRate,
			Errors: api.NeverMissing,
			Doc:    "Creates alert rules from a rule file of Prometheus or an export of Grafana, and lists what of each rule is carried.",
			Notes: "A rule of the same name in the folder is updated, and keeps its channels, hours and repeats, and stays disabled if it is. " +
				"With dry_run nothing is stored, and the reply is what it would be. At most 512 KiB and 1,000 rules; see docs/monitors.md for what " +
				"has an equal here.",
			Example: `{"ds_id": 1, "dry_run": true, "text": "groups: [{name: disks, interval: 30s, ` +
				`rules: [{alert: DiskFull, expr: disk_used_percent > 95, for: 5m, labels: {severity: critical}}]}]"}`,
			Do: api.DoAfter(readFile, s.importFile),
		},
	}
}

func (s *Service) reads() []api.Op {
	read := []auth.Permission{auth.AlertingRulesRead}
	return []api.Op{
		{
			Path: "/monit/rule/info", Allow: read, Effect: api.Snapshot,
			Doc:     "Reads an alert rule.",
			Example: `{"id": 1}`,
			Do:      api.Do(info),
		},
		{
			Path: "/monit/rule/list/basic", Allow: read, Effect: api.Snapshot,
			Doc:     "Lists the alert rules of a folder by id, without those of folders below and without their queries.",
			Notes:   "folder_id 0 lists the rules of all folders.",
			Errors:  api.Missing("folder"),
			Example: `{"folder_id": 1}`,
			Do:      api.Do(s.listBasic),
		},
		{
			Path: "/monit/rule/status", Allow: read, Effect: api.Snapshot,
			Doc:     "Counts the alert rules of the folders in a folder, each with all below it, and those with alerts that are open.",
			Notes:   "folder_id 0 counts those of all folders, each with what is below it.",
			Errors:  api.Missing("folder"),
			Example: `{"folder_id": 0}`,
			Do:      api.Do(s.status),
		},
		{
			Path: "/monit/rule/counter/status", Allow: read, Effect: api.Snapshot,
			Doc:     "Counts the alert rules of the folders that are in no other, each with all below it, and those with alerts that are open.",
			Example: `{}`,
			Do:      api.Do(s.counterStatus),
		},
		{
			Path: "/monit/rule/counter/channel", Allow: read, Effect: api.Snapshot,
			Doc: "Counts the alert rules by the name of each channel that gets their alerts.",
			Notes: "A channel that does not exist has its identifier in place of a name. " +
				"Private channels that the caller may not read are left out.",
			Example: `{}`,
			Do:      api.Do(counterChannel),
		},
		{
			Path: "/monit/rule/counter/total", Allow: read, Effect: api.Read,
			Doc:     "Lists how many alert rules the account had at the end of each of the last 400 days in UTC, the oldest first.",
			Example: `{}`,
			Do:      api.Do(counterTotal),
		},
		{
			Path: "/monit/rule/export", Allow: read, Effect: api.Read, Rate: exportRate,
			Errors:  api.Missing("alert rule"),
			Doc:     "Reads alert rules without what belongs to this account, for /monit/rule/import of this account or another one.",
			Example: `{"ids": [1]}`,
			Do:      api.Do(exportRules),
		},
		{
			Path: "/monit/rule/audits", Allow: read, Effect: api.Snapshot,
			Doc:     "Lists the latest 500 changes of an alert rule, the newest first.",
			Notes:   "Changes are kept as long as the audit log. A rule that was deleted has its changes as long.",
			Example: `{"id": 1}`,
			Do:      api.Do(audits),
		},
		{
			Path: "/monit/rule/audit/detail", Allow: read, Effect: api.Snapshot,
			Doc:     "Reads a change of an alert rule, with the rule as it was then.",
			Example: `{"id": 1}`,
			Do:      api.Do(auditDetail),
		},
		{
			Path: "/monit/rule/dstypes", Allow: read, Effect: api.Read,
			Doc:     "Lists the types of datasources that alert rules may have.",
			Example: `{}`,
			Do:      api.Do(dstypes),
		},
	}
}
