package channel

import (
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/secret"
)

// EscalateBody is what a caller says of an escalation rule.
type EscalateBody struct {
	RuleBody
	TemplateID  string        `json:"template_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The notification template; 000000000000000000000001 is the preset."`
	AggrWindow  *int64        `json:"aggr_window,omitzero" minimum:"0" maximum:"3600" doc:"Seconds to wait before the first layer."`
	Layers      []Layer       `json:"layers" minItems:"1" maxItems:"20" doc:"Who is told, in this order."`
	TimeFilters []TimeFilter  `json:"time_filters,omitzero" maxItems:"100" doc:"When the rule holds; empty: always."`
	Filters     filter.Filter `json:"filters,omitzero" doc:"For which incidents; empty: all."`
}

type escalateUpdate struct {
	RuleKey
	EscalateBody
}

func (b EscalateBody) onto(c *api.Call, r *EscalateRule) (warnings []string, err error) {
	b.RuleBody.onto(&r.Rule)
	r.TemplateID, r.Layers = b.TemplateID, b.Layers
	set(&r.AggrWindow, b.AggrWindow)
	setList(&r.TimeFilters, b.TimeFilters)
	setList(&r.Filters, b.Filters)
	if err := r.check(""); err != nil {
		return nil, err
	}
	return r.vet(c)
}

func escalateOps(keyring *secret.Keyring) []api.Op {
	room := ruleRoom[EscalateRule]{
		kind: Escalates, path: "/channel/escalate/rule", noun: "escalation rule", read: []auth.Permission{auth.ChannelsRead}, manage: []auth.Permission{auth.ChannelsManage},
		example: `"rule_name": "On call", "template_id": "000000000000000000000001", "layers": [{"escalate_window": 15, "max_times": 2, "notify_step": 5, "target": {"schedule_to_role_ids": {"5789640530410": [0]}, "by": {"follow_preference": true}}}]`,
		seal:    func(c *api.Call, stored, sent *EscalateRule) error { return sealEscalate(keyring, c, stored, sent) },
	}
	show := func(c *api.Call, rules []EscalateRule) (err error) {
		for i := 0; i < len(rules) && err == nil; i++ {
			if c.Who.May(auth.ChannelsManage) {
				err = Escalates.Show(keyring, c.Who.AccountID, &rules[i], c.Report)
			} else {
				err = Escalates.Blank(&rules[i])
			}
		}
		return err
	}
	room.list = ruleList[EscalateRule](Escalates, show)
	room.more = []api.Op{{
		Path: "/channel/escalate/rule/info", Allow: room.read, Effect: api.Snapshot, Doc: "Shows one escalation rule.",
		Example: `{"channel_id": 1001, "rule_id": "69db2f72a0fe7db6448b1506"}`,
		Do: api.Do(func(c *api.Call, in RuleRequest) (EscalateRule, error) {
			r, err := findRule[EscalateRule](c, room, in.ChannelID, in.RuleID)
			if err != nil {
				return EscalateRule{}, err
			}
			one := []EscalateRule{*r}
			err = show(c, one)
			return one[0], err
		}),
	}}
	return ruleOps[EscalateBody, escalateUpdate](room)
}
