package channel

import (
	"reflect"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/db"
)

// InhibitRule keeps an alert (the target) from becoming an incident while another one (the source) is
// active that says more: both match their filters and agree in the labels of Equals.
type InhibitRule struct {
	Rule
	SourceFilters     filter.Filter `json:"source_filters" doc:"The alert that inhibits: groups joined by OR, the conditions of a group by AND; empty: any."`
	TargetFilters     filter.Filter `json:"target_filters" doc:"The alert that is inhibited, likewise."`
	Equals            []string      `json:"equals" doc:"Fields such as labels.cluster in which both must agree; an alert without one of them agrees with none."`
	IsDirectlyDiscard bool          `json:"is_directly_discard" doc:"Inhibited alerts leave no record."`
}

// Inhibits is how inhibit rules are kept.
var Inhibits = configstore.Kind[InhibitRule]{
	Name: configstore.Inhibit, Section: "inhibit_rules",
	Head:     func(r *InhibitRule) configstore.Head { return r.head() },
	CheckAll: checkAll[InhibitRule],
	Check: func(tx *db.Tx, at configstore.RecordPath, account int64, r *InhibitRule) error {
		r.normal(account)
		return configstore.FirstError(r.Rule.check(tx, at, account), r.check(at))
	},
}

// maxEquals is how many fields source and target may have to agree in.
const maxEquals = 20

func (r *InhibitRule) check(at configstore.RecordPath) error {
	if len(r.Equals) == 0 || len(r.Equals) > maxEquals {
		return at.Invalid("equals", "must name 1 to %d fields, got %d", maxEquals, len(r.Equals))
	}
	for i, field := range r.Equals {
		if err := at.Element("equals", i).Length("", field, 1, 255); err != nil {
			return err
		}
	}
	return configstore.FirstError(checkFilters(at, "source_filters", r.SourceFilters, false), checkFilters(at, "target_filters", r.TargetFilters, false))
}

type InhibitBody struct {
	RuleBody
	SourceFilters     filter.Filter `json:"source_filters,omitzero" doc:"The alert that inhibits; empty: any."`
	TargetFilters     filter.Filter `json:"target_filters,omitzero" doc:"The alert that is inhibited; empty: any."`
	Equals            []string      `json:"equals" minItems:"1" maxItems:"20" minLength:"1" maxLength:"255" doc:"Fields such as labels.cluster in which both must agree."`
	IsDirectlyDiscard *bool         `json:"is_directly_discard,omitzero" doc:"Inhibited alerts leave no record."`
}

type inhibitUpdate struct {
	RuleKey
	InhibitBody
}

func (b InhibitBody) onto(_ *api.Call, r *InhibitRule) (warnings []string, err error) {
	b.RuleBody.onto(&r.Rule)
	setList(&r.SourceFilters, b.SourceFilters)
	setList(&r.TargetFilters, b.TargetFilters)
	setList(&r.Equals, b.Equals)
	set(&r.IsDirectlyDiscard, b.IsDirectlyDiscard)
	if err := r.check(""); err != nil {
		return nil, err
	}
	if reflect.DeepEqual(r.SourceFilters, r.TargetFilters) {
		warnings = append(warnings, "source_filters and target_filters are the same: whichever of two such alerts comes first keeps the other one silent")
	}
	warnings = append(warnings, filterWarnings("source_filters", r.SourceFilters)...)
	return append(warnings, filterWarnings("target_filters", r.TargetFilters)...), nil
}

func inhibitOps() []api.Op {
	return ruleOps[InhibitBody, inhibitUpdate](ruleRoom[InhibitRule]{
		kind: Inhibits, path: "/channel/inhibit/rule", noun: "inhibit rule", read: []auth.Permission{auth.ChannelsRead}, manage: []auth.Permission{auth.ChannelsManage},
		example: `"rule_name": "Info while Critical", "equals": ["labels.cluster"], "source_filters": [[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]], "target_filters": [[{"key": "severity", "oper": "IN", "vals": ["Info"]}]]`,
		list:    ruleList[InhibitRule](Inhibits, nil),
	})
}
