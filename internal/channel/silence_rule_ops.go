package channel

import (
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/calendar"
	"tocsin/internal/core/filter"
)

type SilenceBody struct {
	RuleBody
	FromIncidentID    *string         `json:"from_incident_id,omitzero" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The incident it is made from."`
	TimeFilters       []TimeFilter    `json:"time_filters,omitzero" maxItems:"100" doc:"Windows that come again; not together with time_filter."`
	TimeFilter        *OnceTimeFilter `json:"time_filter,omitzero" doc:"A window that comes once; not together with time_filters."`
	Filters           filter.Filter   `json:"filters,omitzero" doc:"What it applies to; needed on creation."`
	IsDirectlyDiscard *bool           `json:"is_directly_discard,omitzero" doc:"Matching alerts leave no record."`
	IsAutoDelete      *bool           `json:"is_auto_delete,omitzero" doc:"It goes away after its window."`
}

type silenceUpdate struct {
	RuleKey
	SilenceBody
}

func (b SilenceBody) onto(c *api.Call, r *SilenceRule) (warnings []string, err error) {
	b.RuleBody.onto(&r.Rule)
	set(&r.FromIncidentID, b.FromIncidentID)
	setList(&r.Filters, b.Filters)
	set(&r.IsDirectlyDiscard, b.IsDirectlyDiscard)
	set(&r.IsAutoDelete, b.IsAutoDelete)
	if b.TimeFilter != nil || len(b.TimeFilters) > 0 { // one of the two puts the other out
		r.TimeFilter, r.TimeFilters = b.TimeFilter, b.TimeFilters
	}
	r.normal(c.Who.AccountID)
	if err := r.check(""); err != nil {
		return nil, err
	}
	if once := r.TimeFilter; once != nil && once.EndTime <= c.Unix() {
		warnings = append(warnings, "time_filter: its window is over")
	}
	more, err := windowWarnings(c, r.TimeFilters)
	return append(append(warnings, more...), filterWarnings("filters", r.Filters)...), err
}

func silenceOps() []api.Op {
	return ruleOps[SilenceBody, silenceUpdate](ruleRoom[SilenceRule]{
		kind: Silences, path: "/channel/silence/rule", noun: "silence rule", read: []auth.Permission{auth.ChannelsRead}, manage: []auth.Permission{auth.ChannelsManage},
		example: `"rule_name": "Backup", "time_filters": [{"start": "01:00", "end": "03:30", "repeat": [0]}], "filters": [[{"key": "labels.check", "oper": "IN", "vals": ["replication_lag"]}]]`,
		list:    ruleList[SilenceRule](Silences, showEffective),
	})
}

// showEffective says of each rule whether it holds at the moment of the call.
func showEffective(c *api.Call, rules []SilenceRule) error {
	var named []string
	for _, r := range rules {
		named = append(named, calendarsOf(r.TimeFilters)...)
	}
	calendars, err := calendar.Load(c.Tx, c.Who.AccountID, named)
	for i, r := range rules {
		effective := Effective(r, c.Now, c.Who.Zone, calendars)
		rules[i].IsEffective = &effective
	}
	return err
}
