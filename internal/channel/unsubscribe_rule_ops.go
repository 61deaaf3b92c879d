package channel

import (
	"tocsin/internal/api"
	"tocsin/internal/filter"
)

type dropBody struct {
	ruleBody
	Filters filter.Filter `json:"filters,omitzero" maxItems:"100" doc:"What it applies to; needed on creation."`
}

type dropUpdate struct {
	ruleID
	dropBody
}

func (b dropBody) onto(_ *api.Call, r *DropRule) (warnings []string, err error) {
	b.ruleBody.onto(&r.Rule)
	setList(&r.Filters, b.Filters)
	return filterWarnings("filters", r.Filters), checkFilters("", "filters", r.Filters, true)
}

func dropOps() []api.Op {
	return ruleOps[dropBody, dropUpdate](ruleRoom[DropRule]{
		kind: Drops, path: "/channel/unsubscribe/rule", noun: "drop rule",
		example: `"rule_name": "Test systems", "filters": [[{"key": "labels.env", "oper": "IN", "vals": ["test"]}]]`,
		list:    ruleList[DropRule](Drops, nil),
	})
}
