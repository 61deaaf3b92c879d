package channel

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/core/filter"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
	"tocsin/internal/schedule"
	"tocsin/internal/team"
)

// EscalateRule names who is notified of a channel's incidents: its layers in order, until the incident is
// acknowledged or closed.
type EscalateRule struct {
	Rule
	TemplateID  string        `json:"template_id" maxLength:"24" doc:"The notification template; 24 hexadecimal digits."`
	AggrWindow  int64         `json:"aggr_window" doc:"Seconds to wait before the first layer; an incident that is over by then notifies no one."`
	Layers      []Layer       `json:"layers" maxItems:"20" doc:"Who is notified, in this order."`
	TimeFilters []TimeFilter  `json:"time_filters" maxItems:"100" doc:"When the rule applies; empty: always."`
	Filters     filter.Filter `json:"filters" doc:"For which incidents: groups joined by OR, the conditions of a group by AND; empty: all."`
	Repeat      *Repeat       `json:"repeat,omitzero" doc:"Whether all layers are notified again after the last one; absent: they are not."`
}

// Repeat is how all layers of a rule are notified again when the incident is still not acknowledged after the last one.
type Repeat struct {
	Times             *int64 `json:"times,omitzero" minimum:"0" maximum:"20" doc:"How often, at most; 0: not again. Or set until_acknowledged."`
	UntilAcknowledged *bool  `json:"until_acknowledged,omitzero" doc:"Until a person acknowledges the incident, or it is over."`
	Interval          *int64 `json:"interval,omitzero" minimum:"5" maximum:"1440" doc:"Minutes from the last notification of the last layer until the first layer is notified again; absent: 30."`
}

// Layer is one step of an escalation.
type Layer struct {
	MaxTimes       *int64       `json:"max_times,omitzero" minimum:"0" maximum:"6" doc:"How often the layer is notified again, until the next layer takes over; absent or 0: not again."`
	NotifyStep     *float64     `json:"notify_step,omitzero" minimum:"0.5" maximum:"120" doc:"Minutes between one notification and the next; absent: the layer is not notified again."`
	EscalateWindow *int64       `json:"escalate_window,omitzero" minimum:"0" maximum:"720" doc:"Minutes until the next layer is notified; absent or 0: 30."`
	ForceEscalate  *bool        `json:"force_escalate,omitzero" doc:"The next layer is notified even if the incident is acknowledged."`
	Target         Target       `json:"target" doc:"Who is notified."`
	OnNobody       *NoRecipient `json:"on_nobody,omitzero" doc:"What happens when none of the target's persons can be notified, as when no one is on call; absent: skip."`
}

// NoRecipient is what happens when no person of a layer can be notified. The escalation never ends there.
type NoRecipient struct {
	Then     string `json:"then" enum:"skip,wait,fallback" doc:"skip: the next layer takes over at once; wait: until the next shift of one of its schedules begins, at most 24 hours, else skip; fallback: person_id is notified."`
	PersonID int64  `json:"person_id,omitzero" minimum:"0" doc:"With fallback: the person to notify."`
}

// The values of NoRecipient.Then.
const (
	Skip     = "skip"
	Wait     = "wait"
	Fallback = "fallback"
)

// Target is who is notified, and by which methods.
type Target struct {
	PersonIDs         []int64            `json:"person_ids,omitzero" maxItems:"100" doc:"Persons."`
	TeamIDs           []int64            `json:"team_ids,omitzero" maxItems:"100" doc:"All members of these teams."`
	ScheduleToRoleIDs map[string][]int64 `json:"schedule_to_role_ids,omitzero" maxProperties:"100" innerMaxItems:"100" doc:"The persons on call in a schedule: its id, and the roles that are meant (0 primary, 1 backup); no roles: all."`
	Emails            []string           `json:"emails,omitzero" maxItems:"100" maxLength:"255" doc:"Further e-mail addresses."`
	By                *By                `json:"by,omitzero" doc:"How persons are notified."`
	Webhooks          []Webhook          `json:"webhooks,omitzero" maxItems:"20" doc:"Chats that are notified."`
}

// By names the methods that notify persons, by the severity of the incident.
type By struct {
	FollowPreference *bool    `json:"follow_preference,omitzero" doc:"By the methods that each person has chosen; the lists are ignored."`
	Critical         []string `json:"critical,omitzero" maxItems:"20" maxLength:"64" doc:"Methods such as voice, sms, push, email and the direct message of an app, slack_app:6113996590131."`
	Warning          []string `json:"warning,omitzero" maxItems:"20" maxLength:"64" doc:"Methods for Warning."`
	Info             []string `json:"info,omitzero" maxItems:"20" maxLength:"64" doc:"Methods for Info."`
}

// Webhook is a chat. Credentials and addresses in its settings are sealed in storage and empty to callers
// who may only read.
type Webhook struct {
	Type     string                    `json:"type" minLength:"1" maxLength:"64" doc:"Kind of chat, such as slack or feishu_app."`
	Settings map[string]jsontext.Value `json:"settings" maxProperties:"50" secret:"value" doc:"The settings that the kind needs: token, url, alias, chat_ids and so on."`
}

// Escalates is how escalation rules are stored.
var Escalates = configstore.Kind[EscalateRule]{
	Name: configstore.Escalate, Section: "escalate_rules",
	Head:     func(r *EscalateRule) configstore.Head { return r.head() },
	Refs:     func(r *EscalateRule) []configstore.Target { return r.refs() },
	Secrets:  rewriteWebhooks,
	CheckAll: checkAll[EscalateRule],
	Check: func(tx *db.Tx, at configstore.RecordPath, account int64, r *EscalateRule) error {
		r.normalise(account)
		return configstore.FirstError(r.Rule.check(tx, at, account), r.check(at))
	},
}

// refs returns the objects that the rule refers to. They cannot be deleted while the rule exists.
func (r *EscalateRule) refs() []configstore.Target {
	refs := calendarRefs(r.TimeFilters)
	for _, named := range r.named() {
		refs = append(refs, configstore.RefTo(named.table.Kind, named.id))
	}
	return append(refs, configstore.RefTo(configstore.Template, strings.ToLower(r.TemplateID)))
}

// namedAt is an object that a member of the rule refers to.
type namedAt struct {
	path  string
	table configstore.Table
	id    int64
	roles []int64 // of a schedule: the roles that are notified; none: all
}

// named returns the persons, teams and schedules of the layers with the paths of their members.
func (r *EscalateRule) named() (list []namedAt) {
	for i := range r.Layers {
		t, at := r.Layers[i].Target, fmt.Sprintf("layers[%d].target.", i)
		if n := r.Layers[i].OnNobody; n != nil && n.PersonID != 0 {
			path := fmt.Sprintf("layers[%d].on_nobody.person_id", i)
			list = append(list, namedAt{path, person.Table, n.PersonID, nil})
		}
		for j, id := range t.PersonIDs {
			list = append(list, namedAt{fmt.Sprintf("%sperson_ids[%d]", at, j), person.Table, id, nil})
		}
		for j, id := range t.TeamIDs {
			list = append(list, namedAt{fmt.Sprintf("%steam_ids[%d]", at, j), team.Table, id, nil})
		}
		for _, key := range sortedKeys(t.ScheduleToRoleIDs) {
			id, _ := strconv.ParseInt(key, 10, 64) // checkSchedules rejects any other name
			list = append(list, namedAt{at + "schedule_to_role_ids." + key, schedule.Table, id, t.ScheduleToRoleIDs[key]})
		}
	}
	return list
}

// EscalateBody is what a caller sends of an escalation rule.
type EscalateBody struct {
	RuleBody
	TemplateID  string        `json:"template_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The notification template; 000000000000000000000001 or 6321aad26c12104586a88916 is the preset."`
	AggrWindow  *int64        `json:"aggr_window,omitzero" minimum:"0" maximum:"3600" doc:"Seconds to wait before the first layer."`
	Layers      []Layer       `json:"layers" minItems:"1" maxItems:"20" doc:"Who is notified, in this order."`
	TimeFilters []TimeFilter  `json:"time_filters,omitzero" maxItems:"100" doc:"When the rule applies; empty: always."`
	Filters     filter.Filter `json:"filters,omitzero" doc:"For which incidents; empty: all."`
	Repeat      *Repeat       `json:"repeat,omitzero" doc:"Whether all layers are notified again after the last one."`
}

// EscalateUpdate is what a caller sends to change an escalation rule.
type EscalateUpdate struct {
	RuleKey
	EscalateBody
}

// applyTo changes the members of r that were sent.
func (b EscalateBody) applyTo(c *api.Call, r *EscalateRule) (warnings []string, err error) {
	b.RuleBody.applyTo(&r.Rule)
	r.TemplateID, r.Layers = b.TemplateID, b.Layers
	configstore.SetIfSent(&r.AggrWindow, b.AggrWindow)
	setList(&r.TimeFilters, b.TimeFilters)
	setList(&r.Filters, b.Filters)
	r.Repeat = cmp.Or(b.Repeat, r.Repeat)
	if err := r.check(""); err != nil {
		return nil, err
	}
	return r.vet(c)
}

const escalateExample = `"rule_name": "On call", "template_id": "000000000000000000000001", "layers": [{"escalate_window": 15,` +
	` "max_times": 2, "notify_step": 5,` +
	` "target": {"schedule_to_role_ids": {"3846027350131": [0]}, "by": {"follow_preference": true}}}]`

func escalateOps(keyring *secret.Keyring) []api.Op {
	rules := escalateRules{keyring}
	return []api.Op{
		{
			Path: "/channel/escalate/rule/list", Allow: read, Effect: api.Snapshot,
			Doc:     "The escalation rules of a channel in the order in which they are evaluated.",
			Example: exampleChannel, Do: api.Do(rules.list),
		},
		{
			Path: "/channel/escalate/rule/create", Allow: manage, Effect: api.Write, Audit: "escalate_rule:write:create",
			Doc: "Creates an escalation rule, enabled.", Notes: suspicious,
			Example: `{"channel_id": 1001, ` + escalateExample + `}`, Do: api.Do(rules.create),
		},
		{
			Path: "/channel/escalate/rule/update", Allow: manage, Effect: api.Write, Audit: "escalate_rule:write:update",
			Doc: "Changes an escalation rule.", Notes: partial + suspicious,
			Example: `{` + escalateKey + `, ` + escalateExample + `}`, Do: api.Do(rules.update),
		},
		{
			Path: "/channel/escalate/rule/enable", Allow: manage, Effect: api.Write, Audit: "escalate_rule:write:enable",
			Doc: "Puts an escalation rule in use.", Example: `{` + escalateKey + `}`, Do: api.Do(enableEscalateRule),
		},
		{
			Path: "/channel/escalate/rule/disable", Allow: manage, Effect: api.Write, Audit: "escalate_rule:write:disable",
			Doc: "Takes an escalation rule out of use without deleting it.", Example: `{` + escalateKey + `}`, Do: api.Do(disableEscalateRule),
		},
		{
			Path: "/channel/escalate/rule/delete", Allow: manage, Effect: api.Write, Audit: "escalate_rule:write:delete", Danger: true,
			Errors: api.Referenced,
			Doc:    "Deletes an escalation rule.", Example: `{` + escalateKey + `}`, Do: api.Do(deleteEscalateRule),
		},
		{
			Path: "/channel/escalate/rule/info", Allow: read, Effect: api.Snapshot,
			Errors:  api.NeverMissing,
			Doc:     "Shows one escalation rule; null when the rule or its channel does not exist.",
			Example: `{` + escalateKey + `}`, Do: api.Do(rules.info),
		},
	}
}

// escalateRules are the operations that seal or show secrets.
type escalateRules struct{ keyring *secret.Keyring }

func (e escalateRules) list(c *api.Call, in RulesRequest) (RulePage[EscalateRule], error) {
	return listRules(c, Escalates, in, e.view)
}

func (e escalateRules) create(c *api.Call, in EscalateBody) (RuleCreated, error) {
	return createRule(c, Escalates, in, e.seal)
}

func (e escalateRules) update(c *api.Call, in EscalateUpdate) (api.Warnings, error) {
	return updateRule(c, Escalates, in, e.seal)
}

func enableEscalateRule(c *api.Call, in RuleRequest) (api.Empty, error) {
	return setRuleStatus(c, Escalates, in, "enabled")
}

func disableEscalateRule(c *api.Call, in RuleRequest) (api.Warnings, error) {
	_, err := setRuleStatus(c, Escalates, in, "disabled")
	return api.Warnings{}, configstore.FirstError(err, warnWithoutRule(c, in.ChannelID))
}

func deleteEscalateRule(c *api.Call, in RuleDelete) (api.Removal, error) {
	reply, err := deleteRule(c, Escalates, in)
	return reply, configstore.FirstError(err, warnWithoutRule(c, in.ChannelID))
}

// warnWithoutRule adds a warning when a channel has no enabled escalation rule left.
func warnWithoutRule(c *api.Call, channel int64) error {
	rules, err := Escalates.Of(c.Tx, c.Who.AccountID, strconv.FormatInt(channel, 10))
	if err == nil && !slices.ContainsFunc(rules, func(r EscalateRule) bool { return r.Status == "enabled" }) {
		c.Warn(noRule)
	}
	return err
}

// info returns nil, which is null on the wire, for a rule or a channel that does not exist: clients take ResourceNotFound
// for a failure, and null for a rule that was deleted.
func (e escalateRules) info(c *api.Call, in RuleRequest) (*EscalateRule, error) {
	r, err := findRule(c, Escalates, in.ChannelID, in.RuleID)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	one := []EscalateRule{*r}
	err = e.view(c, one)
	return &one[0], err
}

// view shows the secrets in clear to callers who may manage channels, and empty to others.
func (e escalateRules) view(c *api.Call, rules []EscalateRule) error {
	show := Escalates.Blank
	if c.Who.May(auth.ChannelsManage) {
		show = func(r *EscalateRule) error { return Escalates.Show(e.keyring, c.Who.AccountID, r, c.Report) }
	}
	for i := range rules {
		if err := show(&rules[i]); err != nil {
			return err
		}
	}
	return nil
}

// escalateKey names a rule of the demo account.
const escalateKey = `"channel_id": 1001, "rule_id": "67a1c0de0000000e00000001"`
