package alertrule

import (
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/db"
)

// This file has what the engine reads that evaluates the rules.

// Accounts returns the accounts that have a rule, or had one in the last 30 days, each with the revision of its configuration:
// nothing of its rules and datasources has changed as long as that is the same. An account file may remove the last rule while
// its alerts are open, so an account without rules is listed too.
func Accounts(tx *db.Tx) ([]configstore.AccountRevision, error) {
	accounts, err := db.All(tx, db.Column[int64], `WITH RECURSIVE has (account_id) AS (
			SELECT min(account_id) FROM alert_rule
			UNION ALL
			SELECT (SELECT min(r.account_id) FROM alert_rule r WHERE r.account_id > has.account_id) FROM has WHERE has.account_id IS NOT NULL),
		had (account_id) AS (
			SELECT min(account_id) FROM alert_rule_deleted
			UNION ALL
			SELECT (SELECT min(d.account_id) FROM alert_rule_deleted d WHERE d.account_id > had.account_id)
				FROM had WHERE had.account_id IS NOT NULL)
		SELECT account_id FROM has WHERE account_id IS NOT NULL UNION SELECT account_id FROM had WHERE account_id IS NOT NULL ORDER BY 1`)
	if err != nil {
		return nil, err
	}
	var list []configstore.AccountRevision
	for _, account := range accounts {
		revision, err := configstore.Revision(tx, account)
		if err != nil {
			return nil, err
		}
		list = append(list, configstore.AccountRevision{ID: account, Revision: revision})
	}
	return list, nil
}

// Changed returns the rules of an account that were changed behind a revision, those that are off too, and the rules that
// were deleted behind it within the last 30 days. Behind revision -1 all rules are.
func Changed(tx *db.Tx, account, since int64) (rules []Rule, deleted []uint64, err error) {
	rules, err = db.All(tx, scanRule(account, true),
		`SELECT `+columns+` FROM alert_rule WHERE account_id = $1 AND revision > $2 ORDER BY revision, rule_id`, account, since)
	if err != nil {
		return nil, nil, err
	}
	if err := named(tx, rules); err != nil {
		return nil, nil, err
	}
	deleted, err = db.All(tx, func(scan db.Scan) (uint64, error) {
		id, err := db.Column[int64](scan)
		return uint64(id), err
	}, `SELECT rule_id FROM alert_rule_deleted WHERE account_id = $1 AND revision > $2 ORDER BY revision, rule_id`, account, since)
	return rules, deleted, err
}

// Watchable returns what a watch needs of the rule. zone is the account's, which a rule without a zone of its own has.
func (r *Rule) Watchable(zone *time.Location) evaluate.Rule {
	w := evaluate.Rule{
		ID: r.ID, Revision: r.Revision, Name: r.Name, ChangedBy: r.UpdaterName, Labels: r.Labels, Config: r.RuleConfigs,
		Windows: r.EnabledTimes, Zone: zone,
		RepeatInterval: time.Duration(r.RepeatInterval) * time.Second, RepeatTotal: r.RepeatTotal,
	}
	if own, err := time.LoadLocation(r.Timezone); err == nil && r.Timezone != "" { // checked when it was stored
		w.Zone = own
	}
	if schedule, err := evaluate.ParseSchedule(r.CronPattern); err == nil { // likewise
		w.Interval = schedule.Interval()
	}
	return w
}

// Matches reports whether the rule names a datasource, which may be off.
func (r *Rule) Matches(d *datasource.Item) bool { return r.Sources.match(r.DSType, d) }

func (s *Sources) match(dsType string, d *datasource.Item) bool {
	if d.TypeIdent != dsType {
		return false
	}
	for _, id := range s.DSIDs {
		if id == d.ID {
			return true
		}
	}
	for _, pattern := range s.DSList {
		if datasource.Wildcard(pattern, d.Name) {
			return true
		}
	}
	return false
}
