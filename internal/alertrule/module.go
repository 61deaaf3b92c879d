// Package alertrule stores the alert rules: what is asked of which datasources, when, what of the answers is an alert, and
// in which channels.
//
// It must never know how a rule is evaluated, nor ask a datasource.
package alertrule

import (
	"time"

	"tocsin/internal/module"
	"tocsin/internal/platform/db"
)

// Module returns the package's operations, retention and sections of an account file.
func (s *Service) Module() module.Module {
	return module.Module{
		Name: "alertrule", Ops: s.Ops(), Sections: []string{section},
		Prune: []module.Retention{{Period: module.Audit, Of: pruneChanges}, {Period: module.Ended, Of: prune}},
	}
}

const (
	tombstoneDays = 30  // how long a process that evaluates may be away and learn what was deleted
	countDays     = 400 // of the number of rules
	batch         = 500
)

// pruneChanges deletes changes of an account before a moment, a batch at most.
func pruneChanges(tx *db.Tx, account int64, before time.Time) (more bool, err error) {
	n, err := tx.Exec(`DELETE FROM alert_rule_change WHERE account_id = $1 AND change_id IN
		(SELECT change_id FROM alert_rule_change WHERE account_id = $1 AND changed_at < $2 ORDER BY changed_at LIMIT $3 + 0)`,
		account, before.Unix(), batch)
	return n == batch, err
}

// prune deletes what carries its own end: a batch of deleted rules, and the counts of days that are too long ago.
func prune(tx *db.Tx, account int64, now time.Time) (more bool, err error) {
	if err := tx.Do(`DELETE FROM alert_rule_count WHERE account_id = $1 AND day < $2`, account, day(now.Unix())-countDays); err != nil {
		return false, err
	}
	n, err := tx.Exec(`DELETE FROM alert_rule_deleted WHERE account_id = $1 AND rule_id IN
		(SELECT rule_id FROM alert_rule_deleted WHERE account_id = $1 AND deleted_at < $2 ORDER BY deleted_at LIMIT $3 + 0)`,
		account, now.AddDate(0, 0, -tombstoneDays).Unix(), batch)
	return n == batch, err
}

// day returns the days from 1970-01-01 to a moment, in UTC.
func day(unix int64) int64 { return unix / int64((24 * time.Hour).Seconds()) }

// countToday stores how many rules the account has.
func countToday(tx *db.Tx, account, now int64) error {
	return tx.Do(`INSERT INTO alert_rule_count (account_id, day, num) SELECT $1, $2, count(*) FROM alert_rule WHERE account_id = $1
		ON CONFLICT (account_id, day) DO UPDATE SET num = excluded.num`, account, day(now))
}
