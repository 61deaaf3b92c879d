package alertrule

import (
	"github.com/go-json-experiment/json"

	"tocsin/internal/api"
	"tocsin/internal/platform/db"
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

// AuditsRequest asks for the changes of a rule.
type AuditsRequest struct {
	ID uint64 `json:"id" minimum:"1" doc:"The rule; it may be one that was deleted."`
}

// audits answers /monit/rule/audits: the changes of a rule, the newest first.
func audits(c *api.Call, in AuditsRequest) ([]Change, error) {
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
		list[i].CreatorName, err = names.of(c.Tx, account, list[i].CreatorID)
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}
