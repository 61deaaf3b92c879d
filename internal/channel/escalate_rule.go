package channel

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/check"
	"tocsin/internal/db"
	"tocsin/internal/filter"
	"tocsin/internal/object"
	"tocsin/internal/reference"
	"tocsin/internal/seal"
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
	MaxTimes       int64   `json:"max_times,omitzero" minimum:"0" maximum:"6" doc:"How often those of the layer are told again; absent: not again."`
	NotifyStep     float64 `json:"notify_step,omitzero" minimum:"0.5" maximum:"120" doc:"Minutes between."`
	EscalateWindow int64   `json:"escalate_window,omitzero" minimum:"0" maximum:"720" doc:"Minutes until the next layer is told; absent: 30."`
	ForceEscalate  bool    `json:"force_escalate,omitzero" doc:"The next layer is told even if the incident is acknowledged."`
	Target         Target  `json:"target" doc:"Who is told."`
}

// Target is who is told, and how.
type Target struct {
	PersonIDs         []int64            `json:"person_ids,omitzero" maxItems:"100" doc:"Persons."`
	TeamIDs           []int64            `json:"team_ids,omitzero" maxItems:"100" doc:"Everybody in these teams."`
	ScheduleToRoleIDs map[string][]int64 `json:"schedule_to_role_ids,omitzero" doc:"Whoever is on call in a schedule: its id, and the roles of the layer that are meant (0 primary, 1 backup); no roles: all."`
	Emails            []string           `json:"emails,omitzero" maxItems:"100" maxLength:"255" doc:"Further e-mail addresses."`
	By                *By                `json:"by,omitzero" doc:"How persons are told."`
	Webhooks          []Webhook          `json:"webhooks,omitzero" maxItems:"20" doc:"Chats that are told."`
}

// By is how persons are told, by the severity of the incident.
type By struct {
	FollowPreference bool     `json:"follow_preference,omitzero" doc:"As everybody has chosen."`
	Critical         []string `json:"critical,omitzero" maxItems:"20" maxLength:"64" doc:"Ways such as voice, sms and email."`
	Warning          []string `json:"warning,omitzero" maxItems:"20" maxLength:"64" doc:"Ways for Warning."`
	Info             []string `json:"info,omitzero" maxItems:"20" maxLength:"64" doc:"Ways for Info."`
}

// Webhook is a chat. What its settings hold of credentials and addresses is sealed where it is stored and
// empty to callers who may only read.
type Webhook struct {
	Type     string                    `json:"type" minLength:"1" maxLength:"64" doc:"Kind of chat, such as slack or feishu_app."`
	Settings map[string]jsontext.Value `json:"settings" doc:"Where it is, as the kind needs it: token, url, alias, chat_ids and so on."`
}

// Escalates is how escalation rules are kept.
var Escalates = object.Kind[EscalateRule]{
	Name: reference.Escalate, Section: "escalate_rules",
	Head:    func(r *EscalateRule) object.Head { return r.head() },
	Refs:    func(r *EscalateRule) []reference.Target { return r.refs() },
	Secrets: rewriteWebhooks,
	Check: func(tx *db.Tx, at check.At, account int64, r *EscalateRule) error {
		r.normal(account)
		return check.First(r.Rule.check(tx, at, account), r.check(at))
	},
}

// rewriteWebhooks passes every secret of the webhooks' settings through fn.
func rewriteWebhooks(r *EscalateRule, fn func(place, text string) (string, error)) error {
	r.Layers = slices.Clone(r.Layers)
	for i := range r.Layers {
		hooks := slices.Clone(r.Layers[i].Target.Webhooks)
		for j := range hooks {
			hooks[j].Settings = maps.Clone(hooks[j].Settings)
			for name, value := range hooks[j].Settings {
				var text string
				if value.Kind() != '"' || json.Unmarshal(value, &text) != nil || !seal.Secretive(name, text) {
					continue
				}
				text, err := fn(fmt.Sprintf("layers/%d/webhooks/%d/%s", i, j, name), text)
				if err != nil {
					return err
				}
				if hooks[j].Settings[name], err = json.Marshal(text); err != nil {
					return err
				}
			}
		}
		r.Layers[i].Target.Webhooks = hooks
	}
	return nil
}

// maxLayers is how many layers a rule may have.
const maxLayers = 20

// check refuses a rule that tells nobody by the way it is made.
func (r *EscalateRule) check(at check.At) error {
	r.TemplateID = strings.ToLower(r.TemplateID)
	if err := check.First(
		at.Object("template_id", r.TemplateID), between(at, "aggr_window", r.AggrWindow, 0, 3600), between(at, "priority", r.Priority, 0, 1_000_000),
		checkWindows(at, r.TimeFilters), checkFilters(at, "filters", r.Filters, false),
	); err != nil {
		return err
	}
	if n := len(r.Layers); n < 1 || n > maxLayers {
		return at.Invalid("layers", "must be 1 to %d, got %d", maxLayers, n)
	}
	for i := range r.Layers {
		if err := r.Layers[i].check(at.Element("layers", i)); err != nil {
			return err
		}
	}
	return nil
}

func (l Layer) check(at check.At) error {
	t, target := l.Target, at.Member("target")
	persons := len(t.PersonIDs)+len(t.TeamIDs)+len(t.ScheduleToRoleIDs) > 0
	switch {
	case !persons && len(t.Emails) == 0 && len(t.Webhooks) == 0:
		return target.Invalid("", "tells nobody: person_ids, team_ids, schedule_to_role_ids, emails or webhooks must name somebody")
	case persons && t.By == nil && len(t.Webhooks) == 0:
		return target.Invalid("by", "is needed for persons to be told, or webhooks")
	case persons && t.By != nil && !t.By.FollowPreference && len(t.By.Critical)+len(t.By.Warning)+len(t.By.Info) == 0 && len(t.Webhooks) == 0:
		return target.Invalid("by", "names no way to tell persons: follow_preference, critical, warning or info must say how")
	case l.NotifyStep != 0 && (l.NotifyStep < 0.5 || l.NotifyStep > 120):
		return at.Invalid("notify_step", "must be from 0.5 to 120 minutes, got %v", l.NotifyStep)
	}
	for schedule := range t.ScheduleToRoleIDs {
		if n, err := strconv.ParseInt(schedule, 10, 64); err != nil || n < 1 || strconv.FormatInt(n, 10) != schedule {
			return target.Invalid("schedule_to_role_ids", "must have ids of schedules for names, got %.40q", schedule)
		}
	}
	for i, email := range t.Emails {
		if before, after, found := strings.Cut(email, "@"); !found || before == "" || after == "" || strings.ContainsAny(email, " \t\r\n<>,") {
			return target.Element("emails", i).Invalid("", "must be an e-mail address, got %.80q", email)
		}
	}
	return check.First(between(at, "max_times", l.MaxTimes, 0, 6), between(at, "escalate_window", l.EscalateWindow, 0, 720))
}

func between(at check.At, member string, n, least, most int64) error {
	if n < least || n > most {
		return at.Invalid(member, "must be from %d to %d, got %d", least, most, n)
	}
	return nil
}

// refs is all that the rule needs to be there.
func (r *EscalateRule) refs() []reference.Target {
	refs := calendarRefs(r.TimeFilters)
	for _, named := range r.named() {
		refs = append(refs, named.to)
	}
	return append(refs, reference.To(reference.Template, r.TemplateID))
}

// namedAt is what a member of the rule refers to.
type namedAt struct {
	path string
	to   reference.Target
}

// named lists the persons, teams and schedules of the layers with where they stand.
func (r *EscalateRule) named() (list []namedAt) {
	for i := range r.Layers {
		t, at := r.Layers[i].Target, fmt.Sprintf("layers[%d].target.", i)
		for j, id := range t.PersonIDs {
			list = append(list, namedAt{fmt.Sprintf("%sperson_ids[%d]", at, j), reference.To(reference.Person, id)})
		}
		for j, id := range t.TeamIDs {
			list = append(list, namedAt{fmt.Sprintf("%steam_ids[%d]", at, j), reference.To(reference.Team, id)})
		}
		for _, id := range slices.Sorted(maps.Keys(t.ScheduleToRoleIDs)) {
			list = append(list, namedAt{at + "schedule_to_role_ids." + id, reference.To(reference.Schedule, id)})
		}
	}
	return list
}
