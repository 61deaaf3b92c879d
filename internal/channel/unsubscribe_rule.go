package channel

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/db"
)

// DropRule discards matching events before they become alerts. The first rule that matches decides. Its
// operations are called "unsubscribe", the older name of the wire.
type DropRule struct {
	Rule
	Filters filter.Filter `json:"filters" doc:"What it applies to: groups joined by OR, the conditions of a group by AND."`
}

// Drops is how drop rules are stored.
var Drops = configstore.Kind[DropRule]{
	Name: configstore.Drop, Section: "drop_rules",
	Head:     func(r *DropRule) configstore.Head { return r.head() },
	CheckAll: checkAll[DropRule],
	Check: func(tx *db.Tx, at configstore.RecordPath, account int64, r *DropRule) error {
		r.normalise(account)
		return configstore.FirstError(r.Rule.check(tx, at, account), checkFilters(at, r.Filters, true))
	},
}

// DropBody is what a caller sends of a drop rule.
type DropBody struct {
	RuleBody
	Filters filter.Filter `json:"filters,omitzero" doc:"What it applies to; needed on creation."`
}

// DropUpdate is what a caller sends to change a drop rule.
type DropUpdate struct {
	RuleKey
	DropBody
}

// applyTo changes the members of r that were sent.
func (b DropBody) applyTo(_ *api.Call, r *DropRule) (warnings []string, err error) {
	b.RuleBody.applyTo(&r.Rule)
	setList(&r.Filters, b.Filters)
	if err := checkFilters("", r.Filters, true); err != nil {
		return nil, err
	}
	return mutingWarnings(r.Filters, "dropped"), nil
}

const dropExample = `"rule_name": "Test systems", "filters": [[{"key": "labels.env", "oper": "IN", "vals": ["test"]}]]`

// dropOps are the operations on drop rules. Any valid key may list the rules of a channel that its person may read.
func dropOps() []api.Op {
	return []api.Op{
		{
			Path: "/channel/unsubscribe/rule/list", Effect: api.Snapshot,
			Errors:  api.Private,
			Doc:     "The drop rules of a channel in the order in which they are evaluated.",
			Example: exampleChannel, Do: api.Do(listDropRules),
		},
		{
			Path: "/channel/unsubscribe/rule/create", Allow: manage, Effect: api.Write, Audit: "drop_rule:write:create",
			Doc: "Creates a drop rule, enabled.", Notes: suspicious,
			Example: `{"channel_id": 1001, ` + dropExample + `}`, Do: api.Do(createDropRule),
		},
		{
			Path: "/channel/unsubscribe/rule/update", Allow: manage, Effect: api.Write, Audit: "drop_rule:write:update",
			Doc: "Changes a drop rule.", Notes: partial + suspicious,
			Example: `{` + dropKey + `, ` + dropExample + `}`, Do: api.Do(updateDropRule),
		},
		{
			Path: "/channel/unsubscribe/rule/enable", Allow: manage, Effect: api.Write, Audit: "drop_rule:write:enable",
			Doc: "Puts a drop rule in use.", Example: `{` + dropKey + `}`, Do: api.Do(enableDropRule),
		},
		{
			Path: "/channel/unsubscribe/rule/disable", Allow: manage, Effect: api.Write, Audit: "drop_rule:write:disable",
			Doc: "Takes a drop rule out of use without deleting it.", Example: `{` + dropKey + `}`, Do: api.Do(disableDropRule),
		},
		{
			Path: "/channel/unsubscribe/rule/delete", Allow: manage, Effect: api.Write, Audit: "drop_rule:write:delete", Danger: true,
			Errors: api.Referenced,
			Doc:    "Deletes a drop rule.", Example: `{` + dropKey + `}`, Do: api.Do(deleteDropRule),
		},
	}
}

func listDropRules(c *api.Call, in RulesRequest) (RulePage[DropRule], error) {
	return listRules(c, Drops, in, nil)
}

func createDropRule(c *api.Call, in DropBody) (RuleCreated, error) {
	return createRule(c, Drops, in, nil)
}

func updateDropRule(c *api.Call, in DropUpdate) (api.Warnings, error) {
	return updateRule(c, Drops, in, nil)
}

func enableDropRule(c *api.Call, in RuleRequest) (api.Empty, error) {
	return setRuleStatus(c, Drops, in, "enabled")
}

func disableDropRule(c *api.Call, in RuleRequest) (api.Empty, error) {
	return setRuleStatus(c, Drops, in, "disabled")
}

func deleteDropRule(c *api.Call, in RuleDelete) (api.Removal, error) {
	return deleteRule(c, Drops, in)
}

// dropKey names a rule of the demo account.
const dropKey = `"channel_id": 1001, "rule_id": "67a1c0de0000000d00000001"`
