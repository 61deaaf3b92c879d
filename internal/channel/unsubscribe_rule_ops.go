package channel

import (
	"tocsin/internal/api"
	"tocsin/internal/core/filter"
)

type DropBody struct {
	RuleBody
	Filters filter.Filter `json:"filters,omitzero" doc:"What it applies to; needed on creation."`
}

type dropUpdate struct {
	RuleKey
	DropBody
}

func (b DropBody) onto(_ *api.Call, r *DropRule) (warnings []string, err error) {
	b.RuleBody.onto(&r.Rule)
	setList(&r.Filters, b.Filters)
	if err := checkFilters("", "filters", r.Filters, true); err != nil {
		return nil, err
	}
	return filterWarnings("filters", r.Filters), nil
}

func dropOps() []api.Op {
	return ruleOps[DropBody, dropUpdate](ruleRoom[DropRule]{
		kind: Drops, path: "/channel/unsubscribe/rule", noun: "drop rule", manage: manage,
		example: `"rule_name": "Test systems", "filters": [[{"key": "labels.env", "oper": "IN", "vals": ["test"]}]]`,
		list:    ruleList[DropRule](Drops, nil),
	})
}
