package channel

import (
	"reflect"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/lint"
	"tocsin/internal/platform/db"
)

// InhibitRule suppresses an alert (the target) while another alert (the source) is active: the target
// becomes no incident. Both match their filters and agree in the fields of Equals.
type InhibitRule struct {
	Rule
	SourceFilters     filter.Written `json:"source_filters" doc:"The alert that inhibits: groups joined by OR, the conditions of a group by AND, or the conditions of one group; empty: any."`
	TargetFilters     filter.Written `json:"target_filters" doc:"The alert that is inhibited, likewise."`
	Equals            []string       `json:"equals" maxItems:"20" maxLength:"255" doc:"Fields such as labels.cluster in which both must agree; an alert without one of them agrees with none. Empty: any source inhibits any target."`
	IsDirectlyDiscard bool           `json:"is_directly_discard" doc:"Inhibited alerts leave no record."`
}

// Inhibits is how inhibit rules are stored.
var Inhibits = configstore.Kind[InhibitRule]{
	Name: configstore.Inhibit, Section: "inhibit_rules",
	Head:     func(r *InhibitRule) configstore.Head { return r.head() },
	CheckAll: checkAll[InhibitRule],
	Check: func(tx *db.Tx, at configstore.RecordPath, account int64, r *InhibitRule) error {
		r.normalise(account)
		return configstore.FirstError(r.Rule.check(tx, at, account), r.check(at))
	},
}

// maxEquals is the number of fields in which source and target may have to agree.
const maxEquals = 20

func (r *InhibitRule) check(at configstore.RecordPath) error {
	if err := atMost(at, "equals", len(r.Equals), maxEquals); err != nil {
		return err
	}
	for i, field := range r.Equals {
		if err := at.Element("equals", i).Length("", field, 1, 255); err != nil {
			return err
		}
	}
	return configstore.FirstError(
		checkWritten(at, "source_filters", r.SourceFilters),
		checkWritten(at, "target_filters", r.TargetFilters),
	)
}

// InhibitBody is what a caller sends of an inhibit rule.
type InhibitBody struct {
	RuleBody
	SourceFilters     filter.Written `json:"source_filters,omitzero" doc:"The alert that inhibits; empty: any."`
	TargetFilters     filter.Written `json:"target_filters,omitzero" doc:"The alert that is inhibited; empty: any."`
	Equals            []string       `json:"equals,omitzero" maxItems:"20" minLength:"1" maxLength:"255" doc:"Fields such as labels.cluster in which both must agree; empty, and absent when the rule is created: any source inhibits any target."`
	IsDirectlyDiscard *bool          `json:"is_directly_discard,omitzero" doc:"Inhibited alerts leave no record."`
}

// InhibitUpdate is what a caller sends to change an inhibit rule.
type InhibitUpdate struct {
	RuleKey
	InhibitBody
}

// applyTo changes the members of r that were sent.
func (b InhibitBody) applyTo(_ *api.Call, r *InhibitRule) (warnings []string, err error) {
	b.RuleBody.applyTo(&r.Rule)
	setWritten(&r.SourceFilters, b.SourceFilters)
	setWritten(&r.TargetFilters, b.TargetFilters)
	setList(&r.Equals, b.Equals)
	configstore.SetIfSent(&r.IsDirectlyDiscard, b.IsDirectlyDiscard)
	if err := r.check(""); err != nil {
		return nil, err
	}
	if len(r.Equals) == 0 {
		warnings = append(warnings, "equals: names no field, so an active source inhibits every target of the channel")
	}
	if reflect.DeepEqual(r.SourceFilters.Value, r.TargetFilters.Value) {
		warnings = append(warnings,
			"source_filters and target_filters are the same: of two such alerts the first inhibits the second")
	}
	warnings = append(warnings, writtenWarnings("source_filters", r.SourceFilters, lint.OfAlert)...)
	return append(warnings, writtenWarnings("target_filters", r.TargetFilters, lint.OfAlert)...), nil
}

const inhibitExample = `"rule_name": "Info while Critical", "equals": ["labels.cluster"],` +
	` "source_filters": [[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]],` +
	` "target_filters": [[{"key": "severity", "oper": "IN", "vals": ["Info"]}]]`

func inhibitOps() []api.Op {
	return []api.Op{
		{
			Path: "/channel/inhibit/rule/list", Allow: read, Effect: api.Snapshot,
			Doc:     "The inhibit rules of a channel in the order in which they are evaluated.",
			Example: exampleChannel, Do: api.Do(listInhibitRules),
		},
		{
			Path: "/channel/inhibit/rule/create", Allow: manage, Effect: api.Write, Audit: "inhibit_rule:write:create",
			Doc: "Creates an inhibit rule, enabled.", Notes: suspicious,
			Example: `{"channel_id": 1001, ` + inhibitExample + `}`, Do: api.Do(createInhibitRule),
		},
		{
			Path: "/channel/inhibit/rule/update", Allow: manage, Effect: api.Write, Audit: "inhibit_rule:write:update",
			Doc: "Changes an inhibit rule.", Notes: partial + suspicious,
			Example: `{` + inhibitKey + `, ` + inhibitExample + `}`, Do: api.Do(updateInhibitRule),
		},
		{
			Path: "/channel/inhibit/rule/enable", Allow: manage, Effect: api.Write, Audit: "inhibit_rule:write:enable",
			Doc: "Puts an inhibit rule in use.", Example: `{` + inhibitKey + `}`, Do: api.Do(enableInhibitRule),
		},
		{
			Path: "/channel/inhibit/rule/disable", Allow: manage, Effect: api.Write, Audit: "inhibit_rule:write:disable",
			Doc: "Takes an inhibit rule out of use without deleting it.", Example: `{` + inhibitKey + `}`, Do: api.Do(disableInhibitRule),
		},
		{
			Path: "/channel/inhibit/rule/delete", Allow: manage, Effect: api.Write, Audit: "inhibit_rule:write:delete", Danger: true,
			Errors: api.Referenced,
			Doc:    "Deletes an inhibit rule.", Example: `{` + inhibitKey + `}`, Do: api.Do(deleteInhibitRule),
		},
	}
}

func listInhibitRules(c *api.Call, in RulesRequest) (RulePage[InhibitRule], error) {
	return listRules(c, Inhibits, in, nil)
}

func createInhibitRule(c *api.Call, in InhibitBody) (RuleCreated, error) {
	return createRule(c, Inhibits, in, nil)
}

func updateInhibitRule(c *api.Call, in InhibitUpdate) (api.Warnings, error) {
	return updateRule(c, Inhibits, in, nil)
}

func enableInhibitRule(c *api.Call, in RuleRequest) (api.Empty, error) {
	return setRuleStatus(c, Inhibits, in, "enabled")
}

func disableInhibitRule(c *api.Call, in RuleRequest) (api.Empty, error) {
	return setRuleStatus(c, Inhibits, in, "disabled")
}

func deleteInhibitRule(c *api.Call, in RuleDelete) (api.Removal, error) {
	return deleteRule(c, Inhibits, in)
}

// inhibitKey names a rule of the demo account.
const inhibitKey = `"channel_id": 1001, "rule_id": "67a1c0de0000000800000001"`
