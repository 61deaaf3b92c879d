package channel

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/configstore"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/db"
)

// EscalateRule says who is told of a channel's incidents: its layers one after the other, until somebody
// takes care.
type EscalateRule struct {
	Rule
	TemplateID  string        `json:"template_id" doc:"The notification template; 24 hexadecimal digits."`
	AggrWindow  int64         `json:"aggr_window" doc:"Seconds to wait before the first layer; nobody is told of an incident that is over by then."`
	Layers      []Layer       `json:"layers" doc:"Who is told, in this order."`
	TimeFilters []TimeFilter  `json:"time_filters" doc:"When the rule holds; empty: always."`
	Filters     filter.Filter `json:"filters" doc:"For which incidents: groups joined by OR, the conditions of a group by AND; empty: all."`
}

// Layer is one step of an escalation.
type Layer struct {
	MaxTimes       *int64   `json:"max_times,omitzero" minimum:"0" maximum:"6" doc:"How often those of the layer are told again, until the next layer takes over; absent or 0: not again."`
	NotifyStep     *float64 `json:"notify_step,omitzero" minimum:"0.5" maximum:"120" doc:"Minutes between one time and the next; absent: they are not told again."`
	EscalateWindow *int64   `json:"escalate_window,omitzero" minimum:"0" maximum:"720" doc:"Minutes until the next layer is told; absent or 0: 30."`
	ForceEscalate  *bool    `json:"force_escalate,omitzero" doc:"The next layer is told even if the incident is acknowledged."`
	Target         Target   `json:"target" doc:"Who is told."`
	OnNobody       *Nobody  `json:"on_nobody,omitzero" doc:"What happens when none of the target's persons can be told, as when nobody is on call; absent: skip."`
}

// Nobody says what happens when a layer has nobody to tell. An incident is never left there.
type Nobody struct {
	Then     string `json:"then" enum:"skip,wait,fallback" doc:"skip: the next layer takes over at once; wait: until the next turn of one of its schedules begins, at most 24 hours, else skip; fallback: person_id is told."`
	PersonID int64  `json:"person_id,omitzero" minimum:"0" doc:"Of fallback: who."`
}

// What Nobody.Then can be.
const (
	Skip     = "skip"
	Wait     = "wait"
	Fallback = "fallback"
)

// Target is who is told, and how.
type Target struct {
	PersonIDs         []int64            `json:"person_ids,omitzero" maxItems:"100" doc:"Persons."`
	TeamIDs           []int64            `json:"team_ids,omitzero" maxItems:"100" doc:"Everybody in these teams."`
	ScheduleToRoleIDs map[string][]int64 `json:"schedule_to_role_ids,omitzero" maxProperties:"100" innerMaxItems:"100" doc:"Whoever is on call in a schedule: its id, and the roles of the layer that are meant (0 primary, 1 backup); no roles: all."`
	Emails            []string           `json:"emails,omitzero" maxItems:"100" maxLength:"255" doc:"Further e-mail addresses."`
	By                *By                `json:"by,omitzero" doc:"How persons are told."`
	Webhooks          []Webhook          `json:"webhooks,omitzero" maxItems:"20" doc:"Chats that are told."`
}

// By is how persons are told, by the severity of the incident.
type By struct {
	FollowPreference *bool    `json:"follow_preference,omitzero" doc:"As everybody has chosen, whatever the lists say."`
	Critical         []string `json:"critical,omitzero" maxItems:"20" maxLength:"64" doc:"Ways such as voice, sms, email and the direct message of an app, slack_app:6113996590131."`
	Warning          []string `json:"warning,omitzero" maxItems:"20" maxLength:"64" doc:"Ways for Warning."`
	Info             []string `json:"info,omitzero" maxItems:"20" maxLength:"64" doc:"Ways for Info."`
}

// Webhook is a chat. What its settings hold of credentials and addresses is sealed where it is stored and
// empty to callers who may only read.
type Webhook struct {
	Type     string                    `json:"type" minLength:"1" maxLength:"64" doc:"Kind of chat, such as slack or feishu_app."`
	Settings map[string]jsontext.Value `json:"settings" maxProperties:"50" doc:"Where it is, as the kind needs it: token, url, alias, chat_ids and so on."`
}

// Escalates is how escalation rules are kept.
var Escalates = configstore.Kind[EscalateRule]{
	Name: configstore.Escalate, Section: "escalate_rules",
	Head:     func(r *EscalateRule) configstore.Head { return r.head() },
	Refs:     func(r *EscalateRule) []configstore.Target { return r.refs() },
	Secrets:  rewriteWebhooks,
	CheckAll: checkAll[EscalateRule],
	Check: func(tx *db.Tx, at configstore.RecordPath, account int64, r *EscalateRule) error {
		r.normal(account)
		return configstore.FirstError(r.Rule.check(tx, at, account), r.check(at))
	},
}

// refs is all that the rule needs to be there.
func (r *EscalateRule) refs() []configstore.Target {
	refs := calendarRefs(r.TimeFilters)
	for _, named := range r.named() {
		refs = append(refs, named.to)
	}
	return append(refs, configstore.RefTo(configstore.Template, r.TemplateID))
}

// namedAt is what a member of the rule refers to.
type namedAt struct {
	path  string
	to    configstore.Target
	roles []int64 // of a schedule: the wanted ones; none: all
}

// named lists the persons, teams and schedules of the layers with where they stand.
func (r *EscalateRule) named() (list []namedAt) {
	for i := range r.Layers {
		t, at := r.Layers[i].Target, fmt.Sprintf("layers[%d].target.", i)
		if nobody := r.Layers[i].OnNobody; nobody != nil && nobody.PersonID != 0 {
			list = append(list, namedAt{fmt.Sprintf("layers[%d].on_nobody.person_id", i), configstore.RefTo(configstore.Person, nobody.PersonID), nil})
		}
		for j, id := range t.PersonIDs {
			list = append(list, namedAt{fmt.Sprintf("%sperson_ids[%d]", at, j), configstore.RefTo(configstore.Person, id), nil})
		}
		for j, id := range t.TeamIDs {
			list = append(list, namedAt{fmt.Sprintf("%steam_ids[%d]", at, j), configstore.RefTo(configstore.Team, id), nil})
		}
		for _, id := range sortedKeys(t.ScheduleToRoleIDs) {
			list = append(list, namedAt{at + "schedule_to_role_ids." + id, configstore.RefTo(configstore.Schedule, id), t.ScheduleToRoleIDs[id]})
		}
	}
	return list
}
