package alertrule

import (
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// maxChanges is how many changes of a rule are listed.
const maxChanges = 500

// Change is what became of a rule by one change.
type Change struct {
	ID          int64  `json:"id" doc:"The change."`
	AccountID   int64  `json:"account_id" doc:"The account."`
	AlertRuleID uint64 `json:"alert_rule_id" doc:"The rule."`
	Action      string `json:"action" enum:"create,update,fields,move,import,delete" doc:"What was done: fields by /monit/rule/update/fields."`
	CreatorID   int64  `json:"creator_id" doc:"The person who did it."`
	CreatorName string `json:"creator_name" doc:"Their name."`
	CreatedAt   int64  `json:"created_at" doc:"Unix seconds."`
}

// Detail is a change with the rule.
type Detail struct {
	Change
	Content string `json:"content" doc:"The rule as it was then, as a text of JSON; of a rule that was deleted, as it was before."`
}

const changeColumns = `change_id, account_id, rule_id, action, person_id, changed_at`

// scan reads changeColumns, and what follows them.
func (ch *Change) scan(scan db.Scan, more ...any) error {
	var rule int64
	err := scan(append([]any{&ch.ID, &ch.AccountID, &rule, &ch.Action, &ch.CreatorID, &ch.CreatedAt}, more...)...)
	ch.AlertRuleID = uint64(rule)
	return err
}

// record stores what a change made of the rule.
func (r *Rule) record(c *api.Call, action string) error {
	change, err := nextChange(c.Tx, r.AccountID)
	if err != nil {
		return err
	}
	body, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		return err
	}
	return c.Tx.Do(`INSERT INTO alert_rule_change (account_id, change_id, rule_id, action, body, person_id, changed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`, r.AccountID, change, int64(r.ID), action, string(body), c.Who.PersonID, c.Unix())
}

type auditsRequest struct {
	ID uint64 `json:"id" minimum:"1" doc:"The rule; it may be one that was deleted."`
}

// audits answers /monit/rule/audits: the changes of a rule, the newest first.
func audits(c *api.Call, in auditsRequest) ([]Change, error) {
	account := c.Who.AccountID
	list, err := db.All(c.Tx, func(scan db.Scan) (ch Change, err error) {
		err = ch.scan(scan)
		return ch, err
	}, `SELECT `+changeColumns+` FROM alert_rule_change WHERE account_id = $1 AND rule_id = $2 ORDER BY change_id DESC LIMIT $3 + 0`,
		account, int64(in.ID), maxChanges)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		if _, err := get(c.Tx, account, in.ID); err != nil {
			return nil, err
		}
	}
	names := nameCache{}
	for i := range list {
		if list[i].CreatorName, err = names.of(c.Tx, account, list[i].CreatorID); err != nil {
			return nil, err
		}
	}
	return list, nil
}

type detailRequest struct {
	ID int64 `json:"id" minimum:"1" doc:"The change, from /monit/rule/audits."`
}

// auditDetail answers /monit/rule/audit/detail.
func auditDetail(c *api.Call, in detailRequest) (Detail, error) {
	d, found, err := db.One(c.Tx, func(scan db.Scan) (d Detail, err error) {
		err = d.scan(scan, &d.Content)
		return d, err
	}, `SELECT `+changeColumns+`, body FROM alert_rule_change WHERE account_id = $1 AND change_id = $2`, c.Who.AccountID, in.ID)
	if err != nil {
		return Detail{}, err
	}
	if !found {
		return Detail{}, fault.Missing("change of an alert rule", in.ID)
	}
	d.CreatorName, err = nameCache{}.of(c.Tx, c.Who.AccountID, d.CreatorID)
	return d, err
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
