package incident

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/console/page"
	"tocsin/internal/core/sentence"
	"tocsin/internal/field"
	incidents "tocsin/internal/incident"
)

// valued is a custom field of incidents with the value that an incident has.
type valued struct {
	field.Field
	Value   string   // of one that is a text, or has one choice
	Values  []string // of one that has several
	Checked bool
}

// Choices returns the options of a selection.
func (f valued) Choices() (all []string) {
	for _, o := range f.Options {
		all = append(all, page.Shown(o))
	}
	return all
}

// Chosen reports whether an option is chosen.
func (f valued) Chosen(option string) bool { return slices.Contains(f.Values, option) }

// fields returns the custom fields of the account.
func fields(v *page.Visit) ([]valued, error) {
	reply, err := page.Call[api.Items[field.Field]](v, "/field/list", api.Empty{})
	all := make([]valued, len(reply.Items))
	for i, f := range reply.Items {
		all[i] = valued{Field: f}
	}
	return all, err
}

// with returns the field with the value that an incident has.
func (f valued) with(value jsontext.Value) valued {
	f.Value = page.Shown(value)
	f.Checked = string(value) == "true"
	var list []any
	if json.Unmarshal(value, &list) == nil {
		for _, one := range list {
			f.Values = append(f.Values, text(one))
		}
	}
	return f
}

// Was returns the value as the form sends it back, to know what was changed.
func (f valued) Was() string {
	switch f.FieldType {
	case "checkbox":
		return strconv.FormatBool(f.Checked)
	case "multi_select":
		return joined(f.Values)
	}
	return f.Value
}

// joined returns the choices of a selection as one text, in no order.
func joined(list []string) string {
	list = slices.Clone(list)
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// sent returns the value of the field that the form has, and whether it differs from what the form was drawn with.
func (f valued) sent(v *page.Visit) (value jsontext.Value, changed bool, err error) {
	name := "field_" + f.FieldName
	was, drawn := v.Request.PostForm["was_"+name]
	if !drawn {
		return nil, false, nil
	}
	var now any
	switch f.FieldType {
	case "checkbox":
		checked := v.Field(name) != ""
		now, changed = checked, strconv.FormatBool(checked) != was[0]
	case "multi_select":
		list := append([]string{}, v.Request.PostForm[name]...)
		now, changed = list, joined(list) != lines(was[0])
	default:
		text := lines(v.Request.PostFormValue(name))
		if text != "" {
			now = text
		}
		changed = text != lines(was[0])
	}
	value, err = json.Marshal(now)
	return value, changed, err
}

type incidentEditView struct {
	page.Titled
	Incident incident
	Fields   []valued
}

func showIncidentEdit(v *page.Visit) (page.View, error) {
	i, err := findIncident(v)
	if err != nil {
		return nil, err
	}
	fields, err := fields(v)
	if err != nil {
		return nil, err
	}
	for n := range fields {
		fields[n] = fields[n].with(i.Fields[fields[n].FieldName])
	}
	return incidentEditView{page.Titled(v.T("Edit %s", i.Headline)), i, fields}, nil
}

type incidentPeopleView struct {
	page.Titled
	assignees
	Incident incident
	Rules    []named
	Warnings []sentence.Words // warnings about the change that was just made
}

// showIncidentPeople shows whom the incident can be given to. The schedules of its channel's escalation rules come first.
func showIncidentPeople(v *page.Visit) (page.View, error) {
	i, err := findIncident(v)
	if err != nil {
		return nil, err
	}
	d := incidentPeopleView{Titled: page.Titled(v.T("Who works on %s", i.Headline)), Incident: i}
	d.Warnings, _ = v.Made.([]sentence.Words)
	d.assignees, err = readAssignees(v)
	if err != nil || i.ChannelID == 0 || !v.Who.May(auth.ChannelsRead) {
		return d, err
	}
	rules, err := page.Call[channel.RulePage[channel.EscalateRule]](v, "/channel/escalate/rule/list",
		channel.RulesRequest{ChannelID: i.ChannelID})
	used := map[string]bool{} // schedules of the rules
	for _, r := range rules.Items {
		if r.Status != "enabled" {
			continue
		}
		d.Rules = append(d.Rules, named{r.RuleID, r.RuleName})
		for _, l := range r.Layers {
			for schedule := range l.Target.ScheduleToRoleIDs {
				used[schedule] = true
			}
		}
	}
	slices.SortStableFunc(d.OnCall, func(a, b page.OnCall) int {
		return rank(used, b) - rank(used, a)
	})
	return d, err
}

// rank returns 1 for a schedule of a set, else 0.
func rank(set map[string]bool, s page.OnCall) int {
	if set[strconv.FormatInt(s.ScheduleID, 10)] {
		return 1
	}
	return 0
}

// pastIncident is an earlier incident that is similar.
type pastIncident struct {
	incident
	Score   float64
	Reasons []sentence.Words
}

// Percent returns how similar it is, of a hundred.
func (p pastIncident) Percent() int { return int(p.Score*100 + .5) }

type similarView struct {
	page.Titled
	Incident incident
	Past     []pastIncident
}

func showSimilar(v *page.Visit) (page.View, error) {
	i, err := findIncident(v)
	if err != nil {
		return nil, err
	}
	d := similarView{Titled: page.Titled(v.T("Similar to %s", i.Headline)), Incident: i}
	request := incidents.PastRequest{OneRequest: incidents.OneRequest{IncidentID: i.IncidentID}, Limit: 10}
	reply, err := page.Call[api.Items[incidents.PastView]](v, "/incident/past/list", request)
	for _, p := range reply.Items {
		d.Past = append(d.Past, pastIncident{incident{View: p.View}, p.Score, p.Reasons})
	}
	return d, err
}
