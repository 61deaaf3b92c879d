package alertrule

import (
	"embed"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
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

const exampleRule = `"name": "Disk almost full", "ds_type": "prometheus", "ds_list": ["Prometheus*"], "cron_pattern": "@every 30s",
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
			Notes: "An account has at most 20,000 rules, a folder 2,000, and a rule 256 KiB. A rule matches at most 1,000 datasources. The rules of an " +
				"account are evaluated at most 1,000 times a second, on each datasource that they match. cron_pattern has no time zone: timezone is that.",
			Example: `{` + exampleRule + `}`,
			Do:      api.Do(s.create),
		},
		{
			Path: "/monit/rule/update", Allow: manage, Effect: api.Write, Audit: "monitor_rule:write:update", MaxBody: 2 * maxRule,
			Errors: api.Missing("alert rule"),
			Doc:    "Replaces an alert rule and returns it.",
			Notes: "All members are overwritten but enabled and folder_id, which are kept if they are absent. Alerts that are open go on, if their series is in " +
				"the first answer to the new rule.",
			Example: `{"id": 1, ` + exampleRule + `}`,
			Do:      api.Do(s.update),
		},
		{
			Path: "/monit/rule/delete", Allow: manage, Effect: api.Write, Audit: "monitor_rule:write:delete", Danger: true,
			Doc:     "Deletes an alert rule; its alerts end.",
			Notes:   "With dry_run nothing is deleted, and the reply states whether it could be.",
			Example: `{"id": 1}`,
			Do:      api.Do(s.delete),
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
	}
}
