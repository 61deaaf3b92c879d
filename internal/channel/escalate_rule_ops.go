package channel

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/db"
	"tocsin/internal/filter"
	"tocsin/internal/object"
	"tocsin/internal/reference"
	"tocsin/internal/seal"
	"tocsin/internal/template"
)

// EscalateBody is what a caller says of an escalation rule.
type EscalateBody struct {
	RuleBody
	TemplateID  string        `json:"template_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The notification template; 000000000000000000000001 is the preset."`
	AggrWindow  *int64        `json:"aggr_window,omitzero" minimum:"0" maximum:"3600" doc:"Seconds to wait before the first layer."`
	Layers      []Layer       `json:"layers" minItems:"1" maxItems:"20" doc:"Who is told, in this order."`
	TimeFilters []TimeFilter  `json:"time_filters,omitzero" maxItems:"100" doc:"When the rule holds; empty: always."`
	Filters     filter.Filter `json:"filters,omitzero" maxItems:"100" doc:"For which incidents; empty: all."`
}

type escalateUpdate struct {
	RuleKey
	EscalateBody
}

// onto keeps secrets that come back empty, as a caller sees them who may only read.
func (b EscalateBody) onto(c *api.Call, r *EscalateRule) (warnings []string, err error) {
	b.RuleBody.onto(&r.Rule)
	r.TemplateID, r.Layers = b.TemplateID, b.Layers
	set(&r.AggrWindow, b.AggrWindow)
	setList(&r.TimeFilters, b.TimeFilters)
	setList(&r.Filters, b.Filters)
	if err := r.check(""); err != nil {
		return nil, err
	}
	if r.TemplateID != template.Preset {
		if err := object.Need(c.Tx, c.Who.AccountID, "template_id", reference.To(reference.Template, r.TemplateID)); err != nil {
			return nil, err
		}
	}
	for _, named := range r.named() {
		if err := object.Need(c.Tx, c.Who.AccountID, named.path, named.to); err != nil {
			return nil, err
		}
		warning, err := unreachable(c, named)
		if err != nil {
			return nil, err
		}
		warnings = append(warnings, warning...)
	}
	more, err := windowWarnings(c, r.TimeFilters)
	warnings = append(append(warnings, more...), filterWarnings("filters", r.Filters)...)
	for i, l := range r.Layers {
		if l.MaxTimes > 0 && l.NotifyStep == 0 {
			warnings = append(warnings, fmt.Sprintf("layers[%d].notify_step: is not set, so nobody is told again in spite of max_times", i))
		}
	}
	return warnings, err
}

// unreachable names somebody who exists but cannot be told just now.
func unreachable(c *api.Call, n namedAt) ([]string, error) {
	var query, words string
	switch n.to.Kind {
	case reference.Person:
		query, words = `SELECT 1 FROM person WHERE account_id = $1 AND person_id = CAST($2 AS BIGINT) AND status = 'pending'`, "has been invited and is not there yet"
	case reference.Team:
		query, words = `SELECT 1 FROM team t WHERE account_id = $1 AND team_id = CAST($2 AS BIGINT) AND NOT EXISTS (SELECT 1 FROM team_person p WHERE p.account_id = t.account_id AND p.team_id = t.team_id)`, "has nobody in it"
	case reference.Schedule:
		query, words = `SELECT 1 FROM schedule WHERE account_id = $1 AND schedule_id = CAST($2 AS BIGINT) AND (status = 1 OR layers = '[]')`, "is disabled or has no layers, so that nobody is on call in it"
	}
	_, found, err := db.One(c.Tx, db.Column[int64], query, c.Who.AccountID, n.to.ID)
	if err != nil || !found {
		return nil, err
	}
	return []string{fmt.Sprintf("%s: %s %s %s", n.path, n.to.Kind, n.to.ID, words)}, nil
}

func escalateOps(box *seal.Box) []api.Op {
	room := ruleRoom[EscalateRule]{
		kind: Escalates, path: "/channel/escalate/rule", noun: "escalation rule", read: []auth.Permission{auth.ChannelsRead}, manage: []auth.Permission{auth.ChannelsManage},
		example: `"rule_name": "On call", "template_id": "000000000000000000000001", "layers": [{"escalate_window": 15, "max_times": 2, "notify_step": 5, "target": {"schedule_to_role_ids": {"5789640530410": [0]}, "by": {"follow_preference": true}}}]`,
		seal:    func(c *api.Call, stored, sent *EscalateRule) error { return sealEscalate(box, c, stored, sent) },
	}
	show := func(c *api.Call, rules []EscalateRule) (err error) {
		for i := 0; i < len(rules) && err == nil; i++ {
			if c.Who.May(auth.ChannelsManage) {
				err = Escalates.Open(box, c.Who.AccountID, &rules[i])
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

// sealEscalate seals what was sent. A secret that comes back as the empty text it is shown as to readers
// keeps the value that is stored.
func sealEscalate(box *seal.Box, c *api.Call, stored, sent *EscalateRule) error {
	kept := map[string]string{}
	if stored != nil {
		old := *stored
		if err := Escalates.Open(box, c.Who.AccountID, &old); err != nil {
			return err
		}
		if err := rewriteWebhooks(&old, func(place, text string) (string, error) { kept[place] = text; return text, nil }); err != nil {
			return err
		}
	}
	for i := range sent.Layers {
		for j := range sent.Layers[i].Target.Webhooks {
			settings := sent.Layers[i].Target.Webhooks[j].Settings
			for name, value := range settings {
				if text, ok := kept[fmt.Sprintf("layers/%d/webhooks/%d/%s", i, j, name)]; ok && string(value) == `""` {
					value, err := json.Marshal(text)
					if err != nil {
						return err
					}
					settings[name] = value
				}
			}
		}
	}
	return Escalates.Seal(box, c.Who.AccountID, sent)
}
