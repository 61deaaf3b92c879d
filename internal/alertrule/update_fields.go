package alertrule

import (
	"tocsin/internal/api"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/fault"
)

// FieldsRequest asks for a change of some members of rules.
type FieldsRequest struct {
	IDs             []uint64          `json:"ids" minItems:"1" maxItems:"1000" doc:"The rules."`
	Fields          []string          `json:"fields" minItems:"1" maxItems:"15" enum:"labels,ds_type,ds_list,ds_ids,enabled,debug_log_enabled,cron_pattern,timezone,delay_seconds,enabled_times,annotations,description,channel_ids,repeat_interval,repeat_total" doc:"The members that are set."`
	Labels          map[string]string `json:"labels,omitzero" maxProperties:"50" maxLength:"2048" doc:"As for /monit/rule/create, like the following ones."`
	DSType          string            `json:"ds_type,omitzero" enum:",prometheus,loki,mysql,oracle,postgres,clickhouse,elasticsearch,sls,victorialogs" doc:"The type of the datasources."`
	DSList          []string          `json:"ds_list,omitzero" maxItems:"1000" maxLength:"255" doc:"Names of datasources, with *."`
	DSIDs           []uint64          `json:"ds_ids,omitzero" maxItems:"1000" doc:"Datasources by identifier."`
	Enabled         *bool             `json:"enabled,omitzero" doc:"Whether they are evaluated; absent: yes."`
	DebugLogEnabled bool              `json:"debug_log_enabled,omitzero" doc:"Stored and shown."`
	CronPattern     string            `json:"cron_pattern,omitzero" maxLength:"255" doc:"When they are evaluated."`
	Timezone        string            `json:"timezone,omitzero" maxLength:"255" doc:"The zone; empty: the account's."`
	DelaySeconds    int64             `json:"delay_seconds,omitzero" minimum:"0" maximum:"86400" doc:"How much earlier the queries ask."`
	EnabledTimes    []evaluate.Window `json:"enabled_times,omitzero" maxItems:"100" doc:"When alerts may begin."`
	Annotations     map[string]string `json:"annotations,omitzero" maxProperties:"50" maxLength:"4096" doc:"Texts for the description."`
	Description     string            `json:"description,omitzero" maxLength:"16384" doc:"The template of the description."`
	ChannelIDs      []int64           `json:"channel_ids,omitzero" maxItems:"100" doc:"The channels."`
	RepeatInterval  int64             `json:"repeat_interval,omitzero" minimum:"0" maximum:"31536000" doc:"Seconds between repeats."`
	RepeatTotal     int64             `json:"repeat_total,omitzero" minimum:"0" doc:"How many repeats."`
}

// set sets the members of a rule that the request names.
func (in *FieldsRequest) set(r *Rule) {
	for _, field := range in.Fields {
		switch field {
		case "labels":
			r.Labels = in.Labels
		case "ds_type":
			r.DSType = in.DSType
		case "ds_list":
			r.DSList = in.DSList
		case "ds_ids":
			r.DSIDs = in.DSIDs
		case "enabled":
			r.Enabled = in.Enabled
		case "debug_log_enabled":
			r.DebugLogEnabled = in.DebugLogEnabled
		case "cron_pattern":
			r.CronPattern = in.CronPattern
		case "timezone":
			r.Timezone = in.Timezone
		case "delay_seconds":
			r.DelaySeconds = in.DelaySeconds
		case "enabled_times":
			r.EnabledTimes = in.EnabledTimes
		case "annotations":
			r.Annotations = in.Annotations
		case "description":
			r.Description = in.Description
		case "channel_ids":
			r.ChannelIDs = in.ChannelIDs
		case "repeat_interval":
			r.RepeatInterval = in.RepeatInterval
		case "repeat_total":
			r.RepeatTotal = in.RepeatTotal
		}
	}
}

// updateFields answers /monit/rule/update/fields.
func (s *Service) updateFields(c *api.Call, in FieldsRequest) ([]Done, error) {
	within, err := scopeOf(c)
	if err != nil {
		return nil, err
	}
	return each(c, in.IDs, func(before Rule) error {
		r := before
		in.set(&r)
		if r.DSType == "" {
			return fault.Invalid("ds_type", "is required")
		}
		if err := r.check(""); err != nil {
			return err
		}
		return s.replace(c, &within, &r, &before, fields)
	})
}
