package alertrule

import (
	"cmp"

	"tocsin/internal/core/evaluate"
)

// Rule is an alert rule as the API shows it and takes it. It is a record of the account file's alert_rules.
type Rule struct {
	ID       uint64 `json:"id,omitzero" doc:"The rule; unique within the account. It must be left out or 0 when a rule is created."`
	FolderID int64  `json:"folder_id,omitzero" minimum:"0" doc:"The folder that it is in; absent or 0: folder 1 for a new rule, else that which it is in."`
	Name     string `json:"name" minLength:"1" maxLength:"255" doc:"Its name, unique in its folder; it begins the title of its alerts."`
	DSType   string `json:"ds_type" enum:"prometheus,loki,mysql,oracle,postgres,clickhouse,elasticsearch,sls,victorialogs" doc:"The type of its datasources, one of those of /monit/rule/dstypes."`
	Enabled  *bool  `json:"enabled,omitzero" doc:"Whether it is evaluated; absent: yes for a new rule, else as it is."`
	Head
	Sources
	Body
	ChannelIDs []int64 `json:"channel_ids" required:"false" maxItems:"100" doc:"The channels that get its alerts; empty: as the route of the account's integration for monitors says."`
	Stamps
	Revision int64 `json:"-"` // the account's revision that changed it last
}

// On reports whether the rule is evaluated.
func (r *Rule) On() bool { return r.Enabled == nil || *r.Enabled }

// Head is what lists show of a rule besides its columns.
type Head struct {
	Labels          map[string]string `json:"labels" required:"false" maxProperties:"50" maxLength:"2048" doc:"Labels that each of its alerts gets."`
	DebugLogEnabled bool              `json:"debug_log_enabled" required:"false" doc:"Stored and shown; what is evaluated is kept for every rule."`
	CronPattern     string            `json:"cron_pattern" minLength:"1" maxLength:"255" doc:"When it is evaluated: five fields of cron, six with seconds first, or @every and a duration of at least one second."`
	Timezone        string            `json:"timezone" required:"false" maxLength:"255" doc:"The IANA zone of cron_pattern and enabled_times; empty: the account's."`
	DelaySeconds    int64             `json:"delay_seconds" required:"false" minimum:"0" maximum:"86400" doc:"How much earlier than the moment of the evaluation the queries ask; 0: the default of the datasource's type."`
}

// Sources names the datasources on which a rule is evaluated: those of its type that either list names.
type Sources struct {
	DSList []string `json:"ds_list" required:"false" maxItems:"1000" maxLength:"255" doc:"Names of datasources, in which * stands for any characters. Either this or ds_ids must not be empty."`
	DSIDs  []uint64 `json:"ds_ids" required:"false" maxItems:"1000" doc:"Datasources by identifier."`
}

// Body is the rest of what callers send of a rule.
type Body struct {
	RuleConfigs     evaluate.Config   `json:"rule_configs" doc:"What is asked, and what of the answers is an alert."`
	EnabledTimes    []evaluate.Window `json:"enabled_times" required:"false" maxItems:"100" doc:"When alerts may begin; empty: always. What is open is evaluated at all times, so that it can end."`
	Annotations     map[string]string `json:"annotations" required:"false" maxProperties:"50" maxLength:"4096" doc:"Texts for the description; no name begins with $."`
	DescriptionType string            `json:"description_type" required:"false" enum:"text,markdown," doc:"What the description is written in; empty: text."`
	Description     string            `json:"description" required:"false" maxLength:"16384" doc:"The template of its alerts' description."`
	RepeatInterval  int64             `json:"repeat_interval" required:"false" minimum:"0" maximum:"31536000" doc:"Seconds after which an alert that goes on is sent again, which notifies no person again; 0: 3600."`
	RepeatTotal     int64             `json:"repeat_total" required:"false" minimum:"0" doc:"How often it is sent again at most; 0: without end."`
}

// kept is what the column body holds.
type kept struct {
	Body
	ChannelIDs []int64 `json:"channel_ids"`
}

// Stamps are what the server sets. In requests they are ignored.
type Stamps struct {
	AccountID   int64  `json:"account_id" required:"false" doc:"The account; ignored in requests."`
	CreatorID   int64  `json:"creator_id" required:"false" doc:"The person who created it; ignored in requests."`
	CreatorName string `json:"creator_name" required:"false" maxLength:"1024" doc:"Their name; ignored in requests."`
	UpdaterID   int64  `json:"updater_id" required:"false" doc:"The person who changed it last; ignored in requests."`
	UpdaterName string `json:"updater_name" required:"false" maxLength:"1024" doc:"Their name; ignored in requests."`
	CreatedAt   int64  `json:"created_at" required:"false" doc:"Unix seconds; ignored in requests."`
	UpdatedAt   int64  `json:"updated_at" required:"false" doc:"Unix seconds; ignored in requests."`
}

// normalise sets the members that have another value when they are left out.
func (r *Rule) normalise() {
	on := r.On()
	r.Enabled = &on
	r.Labels = orEmpty(r.Labels)
	r.Annotations = orEmpty(r.Annotations)
	r.DSList = append([]string{}, r.DSList...)
	r.DSIDs = append([]uint64{}, r.DSIDs...)
	r.ChannelIDs = append([]int64{}, r.ChannelIDs...)
	r.EnabledTimes = append([]evaluate.Window{}, r.EnabledTimes...)
	r.DescriptionType = cmp.Or(r.DescriptionType, "text")
	r.RepeatInterval = cmp.Or(r.RepeatInterval, 3600)
	if check := r.RuleConfigs.CheckThreshold; check != nil {
		check.Recovery.Mode = cmp.Or(check.Recovery.Mode, "invert")
	}
	if check := r.RuleConfigs.CheckAnydata; check != nil {
		check.Recovery.Mode = cmp.Or(check.Recovery.Mode, "nodata")
	}
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}
