package channel

import (
	"cmp"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/calendar"
	"tocsin/internal/configstore"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/lint"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// SilenceRule keeps matching alerts from becoming incidents: in one window (TimeFilter), or in recurring
// windows (TimeFilters). It has exactly one of the two.
type SilenceRule struct {
	Rule
	Filters           filter.Filter   `json:"filters" doc:"What it applies to: groups joined by OR, the conditions of a group by AND."`
	FromIncidentID    string          `json:"from_incident_id" maxLength:"24" doc:"The incident it was made from; 24 zeros: none."`
	TimeFilters       []TimeFilter    `json:"time_filters" maxItems:"100" doc:"Recurring windows; empty on a one-off rule."`
	TimeFilter        *OnceTimeFilter `json:"time_filter" doc:"The window of a one-off rule; null on a recurring rule."`
	IsDirectlyDiscard bool            `json:"is_directly_discard" doc:"Matching alerts leave no record."`
	IsEffective       *bool           `json:"is_effective,omitempty" required:"true" doc:"The rule is enabled and the time of the call is in one of its windows."`
	IsAutoDelete      bool            `json:"is_auto_delete" doc:"A one-off rule is deleted after its window."`
	FromAlertID       string          `json:"from_alert_id,omitzero" maxLength:"24" doc:"The alert that /alert/silence made it from."`
	IsByResponder     bool            `json:"is_by_responder,omitzero" doc:"Made by /alert/silence or /incident/silence, and not changed since: /alert/silence/undo may delete it."`
}

// OnceTimeFilter is a window that does not recur.
type OnceTimeFilter struct {
	StartTime int64 `json:"start_time" doc:"Unix seconds, inside the window."`
	EndTime   int64 `json:"end_time" doc:"Unix seconds, the first second after the window."`
}

// Silences is how silence rules are stored. In an account file is_effective is accepted but not stored,
// because it depends on the time of the call.
var Silences = configstore.Kind[SilenceRule]{
	Name: configstore.Silence, Section: "silence_rules",
	Head:     func(r *SilenceRule) configstore.Head { return r.head() },
	Refs:     func(r *SilenceRule) []configstore.Target { return calendarRefs(r.TimeFilters) },
	CheckAll: checkAll[SilenceRule],
	Check: func(tx *db.Tx, at configstore.RecordPath, account int64, r *SilenceRule) error {
		r.normalise(account)
		return configstore.FirstError(r.Rule.check(tx, at, account), r.check(at))
	},
}

// normalise fills in what may be left out. Some clients write "none" as a one-off window of zeros beside
// recurring windows.
func (r *SilenceRule) normalise(account int64) {
	r.Rule.normalise(account)
	r.IsEffective = nil
	r.FromIncidentID = strings.ToLower(cmp.Or(r.FromIncidentID, id.NilObject))
	r.FromAlertID = strings.ToLower(r.FromAlertID)
	if r.TimeFilter != nil && *r.TimeFilter == (OnceTimeFilter{}) && len(r.TimeFilters) > 0 {
		r.TimeFilter = nil
	}
}

func (r *SilenceRule) check(at configstore.RecordPath) error {
	if err := configstore.FirstError(
		checkFilters(at, r.Filters, true),
		at.Object("from_incident_id", r.FromIncidentID),
		at.Object("from_alert_id", cmp.Or(r.FromAlertID, id.NilObject)),
	); err != nil {
		return err
	}
	once := r.TimeFilter
	switch {
	case once == nil && len(r.TimeFilters) == 0:
		return at.Invalid("time_filter", "a silence rule needs time_filter or time_filters")
	case once != nil && len(r.TimeFilters) > 0:
		return at.Invalid("time_filter", "must be null beside time_filters")
	case once != nil && (once.StartTime < 1 || once.EndTime <= once.StartTime):
		return at.Invalid("time_filter", "start_time must be at least 1 and before end_time, got %d and %d", once.StartTime, once.EndTime)
	}
	return checkWindows(at, r.TimeFilters)
}

func checkWindows(at configstore.RecordPath, windows []TimeFilter) error {
	if err := atMost(at, "time_filters", len(windows), maxWindows); err != nil {
		return err
	}
	for i, w := range windows {
		if err := w.check(at.Element("time_filters", i)); err != nil {
			return err
		}
	}
	return nil
}

func calendarRefs(windows []TimeFilter) (refs []configstore.Target) {
	for _, w := range windows {
		refs = append(refs, configstore.RefTo(configstore.Calendar, w.calendar()))
	}
	return refs
}

// SilenceBody is what a caller sends of a silence rule.
type SilenceBody struct {
	RuleBody
	FromIncidentID    *string         `json:"from_incident_id,omitzero" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The incident it is made from."`
	TimeFilters       []TimeFilter    `json:"time_filters,omitzero" maxItems:"100" doc:"Recurring windows; not together with time_filter."`
	TimeFilter        *OnceTimeFilter `json:"time_filter,omitzero" doc:"A window that does not recur; not together with time_filters."`
	Filters           filter.Filter   `json:"filters,omitzero" doc:"What it applies to; needed on creation."`
	IsDirectlyDiscard *bool           `json:"is_directly_discard,omitzero" doc:"Matching alerts leave no record."`
	IsAutoDelete      *bool           `json:"is_auto_delete,omitzero" doc:"A one-off rule is deleted after its window."`
}

// SilenceUpdate is what a caller sends to change a silence rule.
type SilenceUpdate struct {
	RuleKey
	SilenceBody
}

// applyTo changes the members of r that were sent.
func (b SilenceBody) applyTo(c *api.Call, r *SilenceRule) (warnings []string, err error) {
	b.RuleBody.applyTo(&r.Rule)
	r.IsByResponder = false // the changed rule is configuration, which a responder must not delete
	configstore.SetIfSent(&r.FromIncidentID, b.FromIncidentID)
	setList(&r.Filters, b.Filters)
	configstore.SetIfSent(&r.IsDirectlyDiscard, b.IsDirectlyDiscard)
	configstore.SetIfSent(&r.IsAutoDelete, b.IsAutoDelete)
	if b.TimeFilter != nil || len(b.TimeFilters) > 0 { // setting one clears the other
		r.TimeFilter, r.TimeFilters = b.TimeFilter, b.TimeFilters
	}
	r.normalise(c.Who.AccountID)
	if err := r.check(""); err != nil {
		return nil, err
	}
	if once := r.TimeFilter; once != nil && once.EndTime <= c.Unix() {
		warnings = append(warnings, "time_filter: its window is over")
	} else if once != nil && lint.TooLong(once.StartTime, once.EndTime) {
		warnings = append(warnings, "time_filter: its window is longer than 30 days")
	}
	more, err := windowWarnings(c, r.TimeFilters)
	return append(append(warnings, more...), mutingWarnings(r.Filters, "silenced")...), err
}

const silenceExample = `"rule_name": "Backup", "time_filters": [{"start": "01:00", "end": "03:30", "repeat": [0]}],` +
	` "filters": [[{"key": "labels.check", "oper": "IN", "vals": ["replication_lag"]}]]`

func silenceOps() []api.Op {
	return []api.Op{
		{
			Path: "/channel/silence/rule/list", Allow: read, Effect: api.Snapshot,
			Doc:     "The silence rules of a channel in the order in which they are evaluated.",
			Example: exampleChannel, Do: api.Do(listSilenceRules),
		},
		{
			Path: "/channel/silence/rule/list-effective", Allow: read, Effect: api.Snapshot,
			Doc:     "Lists the silence rules of all channels that are in force now, those that end first before the others.",
			Notes:   "Rules of private channels are shown only to callers who may read these.",
			Example: `{"limit": 20}`, Do: api.Do(listEffectiveSilences),
		},
		{
			Path: "/channel/silence/rule/create", Allow: manage, Effect: api.Write, Audit: "silence_rule:write:create",
			Doc: "Creates a silence rule, enabled.", Notes: suspicious,
			Example: `{"channel_id": 1001, ` + silenceExample + `}`, Do: api.Do(createSilenceRule),
		},
		{
			Path: "/channel/silence/rule/update", Allow: manage, Effect: api.Write, Audit: "silence_rule:write:update",
			Doc: "Changes a silence rule.", Notes: partial + suspicious,
			Example: `{` + silenceKey + `, ` + silenceExample + `}`, Do: api.Do(updateSilenceRule),
		},
		{
			Path: "/channel/silence/rule/enable", Allow: manage, Effect: api.Write, Audit: "silence_rule:write:enable",
			Doc: "Puts a silence rule in use.", Example: `{` + silenceKey + `}`, Do: api.Do(enableSilenceRule),
		},
		{
			Path: "/channel/silence/rule/disable", Allow: manage, Effect: api.Write, Audit: "silence_rule:write:disable",
			Doc: "Takes a silence rule out of use without deleting it.", Example: `{` + silenceKey + `}`, Do: api.Do(disableSilenceRule),
		},
		{
			Path: "/channel/silence/rule/delete", Allow: manage, Effect: api.Write, Audit: "silence_rule:write:delete", Danger: true,
			Errors: api.Referenced,
			Doc:    "Deletes a silence rule.", Example: `{` + silenceKey + `}`, Do: api.Do(deleteSilenceRule),
		},
	}
}

func listSilenceRules(c *api.Call, in RulesRequest) (RulePage[SilenceRule], error) {
	return listRules(c, Silences, in, setEffective)
}

func createSilenceRule(c *api.Call, in SilenceBody) (RuleCreated, error) {
	return createRule(c, Silences, in, nil)
}

func updateSilenceRule(c *api.Call, in SilenceUpdate) (api.Warnings, error) {
	return updateRule(c, Silences, in, nil)
}

func enableSilenceRule(c *api.Call, in RuleRequest) (api.Empty, error) {
	return setRuleStatus(c, Silences, in, "enabled")
}

func disableSilenceRule(c *api.Call, in RuleRequest) (api.Empty, error) {
	return setRuleStatus(c, Silences, in, "disabled")
}

func deleteSilenceRule(c *api.Call, in RuleDelete) (api.Removal, error) {
	return deleteRule(c, Silences, in)
}

// setEffective sets IsEffective of each rule for the time of the call.
func setEffective(c *api.Call, rules []SilenceRule) error {
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

// silenceKey names a rule of the demo account.
const silenceKey = `"channel_id": 1001, "rule_id": "67a1c0de0000000500000001"`
