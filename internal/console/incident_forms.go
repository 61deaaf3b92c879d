package console

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/auth"
)

// field is a custom field of incidents.
type field struct {
	Name    string           `json:"field_name"`
	Display string           `json:"display_name"`
	Hint    string           `json:"description"`
	Type    string           `json:"field_type"`
	Options []jsontext.Value `json:"options"`

	Value   string   // of one that is a text, or has one choice
	Values  []string // of one that has several
	Checked bool
}

// Choices returns the options of a selection.
func (f field) Choices() (all []string) {
	for _, o := range f.Options {
		all = append(all, shown(o))
	}
	return all
}

// Chosen reports whether an option is chosen.
func (f field) Chosen(option string) bool { return slices.Contains(f.Values, option) }

// fields returns the custom fields of the account.
func (v *visit) fields() ([]field, error) {
	var reply struct {
		Items []field `json:"items"`
	}
	err := v.call("/field/list", struct{}{}, &reply)
	return reply.Items, err
}

// with returns the field with the value that an incident has.
func (f field) with(value jsontext.Value) field {
	f.Value = shown(value)
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
func (f field) Was() string {
	switch f.Type {
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
func (f field) sent(v *visit) (value any, changed bool) {
	name := "field_" + f.Name
	was, drawn := v.r.PostForm["was_"+name]
	if !drawn {
		return nil, false
	}
	switch f.Type {
	case "checkbox":
		checked := v.field(name) != ""
		return checked, strconv.FormatBool(checked) != was[0]
	case "multi_select":
		list := append([]string{}, v.r.PostForm[name]...)
		if joined(list) == lines(was[0]) {
			return nil, false
		}
		return list, true
	}
	now := lines(v.r.PostFormValue(name))
	if now == lines(was[0]) {
		return nil, false
	}
	if now == "" {
		return nil, true
	}
	return now, true
}

type incidentEditView struct {
	titled
	Incident incident
	Fields   []field
}

func showIncidentEdit(v *visit) (view, error) {
	i, err := v.findIncident()
	if err != nil {
		return nil, err
	}
	fields, err := v.fields()
	if err != nil {
		return nil, err
	}
	for n := range fields {
		fields[n] = fields[n].with(i.Fields[fields[n].Name])
	}
	return incidentEditView{titled(v.T("Edit %s", i.Title)), i, fields}, nil
}

// Typed returns what the form has in a field when it is shown again, else the stored value.
func (v *visit) Typed(name, stored string) string {
	if sent, has := v.r.PostForm[name]; has {
		return sent[0]
	}
	return stored
}

// choice is a person to choose.
type choice struct {
	ID    int64  `json:"member_id"`
	Name  string `json:"member_name"`
	Email string `json:"email"`
}

type incidentPeopleView struct {
	titled
	Incident incident
	Query    string
	People   []choice
	Total    int64
	Rules    []named
	Warnings []string // warnings about the change that was just made
}

// showIncidentPeople shows whom the incident can be given to.
func showIncidentPeople(v *visit) (view, error) {
	i, err := v.findIncident()
	if err != nil {
		return nil, err
	}
	d := incidentPeopleView{titled: titled(v.T("Who works on %s", i.Title)), Incident: i, Query: v.query("q")}
	d.Warnings, _ = v.made.([]string)
	var people struct {
		Items []choice `json:"items"`
		Total int64    `json:"total"`
	}
	if err := v.call("/member/list", map[string]any{"query": d.Query, "limit": pageSize}, &people); err != nil {
		return nil, err
	}
	d.People, d.Total = people.Items, people.Total
	if i.ChannelID != 0 && v.who.May(auth.ChannelsRead) {
		var rules struct {
			Items []struct {
				ID     string `json:"rule_id"`
				Name   string `json:"rule_name"`
				Status string `json:"status"`
			} `json:"items"`
		}
		if err := v.call("/channel/escalate/rule/list", map[string]any{"channel_id": i.ChannelID}, &rules); err != nil {
			return nil, err
		}
		for _, r := range rules.Items {
			if r.Status == "enabled" {
				d.Rules = append(d.Rules, named{r.ID, r.Name})
			}
		}
	}
	return d, nil
}

type incidentMergeView struct {
	titled
	Incident  incident
	Query     string
	Incidents []incidentRow
}

// showIncidentMerge shows the open incidents that the incident can be merged into.
func showIncidentMerge(v *visit) (view, error) {
	i, err := v.findIncident()
	if err != nil {
		return nil, err
	}
	d := incidentMergeView{titled: titled(v.T("Merge %s", i.Title)), Incident: i, Query: v.query("q")}
	filter := map[string]any{"progress": "Triggered,Processing", "limit": pageSize}
	if d.Query != "" {
		filter["query"] = d.Query
	}
	list, err := v.incidents(filter)
	d.Incidents = slices.DeleteFunc(list.Items, func(other incidentRow) bool { return other.ID == i.ID })
	return d, err
}

// pastIncident is an earlier incident that is similar.
type pastIncident struct {
	incidentRow
	Score      float64  `json:"score"`
	Reasons    []string `json:"reasons"`
	RootCause  string   `json:"root_cause"`
	Resolution string   `json:"resolution"`
}

// Percent returns how similar it is, of a hundred.
func (p pastIncident) Percent() int { return int(p.Score*100 + .5) }

type similarView struct {
	titled
	Incident incident
	Past     []pastIncident
}

func showSimilar(v *visit) (view, error) {
	i, err := v.findIncident()
	if err != nil {
		return nil, err
	}
	var reply struct {
		Items []pastIncident `json:"items"`
	}
	err = v.call("/incident/past/list", map[string]any{"incident_id": i.ID, "limit": 10}, &reply)
	return similarView{titled(v.T("Similar to %s", i.Title)), i, reply.Items}, err
}
