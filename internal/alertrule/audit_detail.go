package alertrule

import (
	"tocsin/internal/api"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Detail is a change with the rule.
type Detail struct {
	Change
	Content string `json:"content" doc:"The rule as it was then, as a text of JSON; of a rule that was deleted, as it was before."`
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
