package console

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/channel"
	schedules "tocsin/internal/schedule"
	"tocsin/internal/team"
)

// escalationLayer is one layer of an escalation rule.
type escalationLayer struct {
	MaxTimes *int64           `json:"max_times,omitzero"`
	Step     *float64         `json:"notify_step,omitzero"`
	Window   *int64           `json:"escalate_window,omitzero"`
	Force    *bool            `json:"force_escalate,omitzero"`
	Target   escalationTarget `json:"target"`
	OnNobody any              `json:"on_nobody,omitempty"`
}

type escalationTarget struct {
	Persons   []int64            `json:"person_ids,omitempty"`
	Teams     []int64            `json:"team_ids,omitempty"`
	Schedules map[string][]int64 `json:"schedule_to_role_ids,omitempty"`
	Emails    []string           `json:"emails,omitempty"`
	By        any                `json:"by,omitempty"`
	Webhooks  []any              `json:"webhooks,omitempty"` // chats stay as they are: they hold secrets
}

// minutes returns how long the layer has until the next one, as the operation counts it.
func (l escalationLayer) minutes() int64 {
	if l.Window == nil || *l.Window == 0 {
		return 30
	}
	return *l.Window
}

// layerForm is a layer as the form holds it.
type layerForm struct {
	Index     int
	Was       string // its number in the stored rule; empty: it is new
	Minutes   int64
	Times     int64
	Every     string
	Persons   map[int64]bool
	Teams     map[int64]bool
	Schedules map[int64]bool
	Emails    string
	Chats     int
}

// Number returns the number of the layer, from 1.
func (l layerForm) Number() int { return l.Index + 1 }

type escalationForm struct {
	titled
	Channel   channel.Shown
	ID        string
	Name      string
	About     string
	Priority  int64
	Wait      int64 // seconds before the first layer
	Filter    filterForm
	Layers    []layerForm
	Persons   []profile
	Teams     []team.Team
	Schedules []schedules.Schedule
	May       bool
	Seen      string // identifies the stored rule that the form began with; empty: it is new
}

// Path returns the address of the rule's page.
func (f escalationForm) Path() string {
	id := f.ID
	if id == "" {
		id = "new"
	}
	return fmt.Sprintf("/channels/%d/escalations/%s", f.Channel.ChannelID, id)
}

// storedEscalation is an escalation rule with what the form leaves alone.
type storedEscalation struct {
	ruleRow
	Template string `json:"template_id"`
	Wait     int64  `json:"aggr_window"`
}

// preset is the notification template of rules that the console makes.
const preset = "000000000000000000000001"

func (v *visit) storedEscalation() (r storedEscalation, err error) {
	if v.r.PathValue("rule") == "new" {
		return storedEscalation{Template: preset}, nil
	}
	var found *storedEscalation
	err = v.call(escalations.Op+"info", map[string]any{"channel_id": v.number(), "rule_id": v.r.PathValue("rule")}, &found)
	if err == nil && found == nil {
		err = notHere(v)
	}
	if err != nil {
		return r, err
	}
	return *found, nil
}

// showEscalation shows an escalation rule: what was entered, else what is stored.
func showEscalation(v *visit) (view, error) {
	c, err := v.channel()
	if err != nil {
		return nil, err
	}
	r, err := v.storedEscalation()
	if err != nil {
		return nil, err
	}
	f := escalationForm{titled: titled(r.Name), Channel: c, ID: r.ID, May: v.who.MayAny(manageChannels)}
	if f.ID == "" {
		f.titled = titled(v.T("New escalation rule"))
	}
	if f.ID != "" {
		f.Seen = identity(r)
	}
	if v.r.Method == http.MethodPost {
		f.Seen = v.seen(f.Seen)
		f.Name = v.field("name")
		f.About = v.field("about")
		f.Priority = formNumber(v, "priority")
		f.Wait = formNumber(v, "wait")
		f.Filter, f.Layers = v.readFilter("if"), v.readLayers(r.Layers)
	} else {
		f.Name = r.Name
		f.About = r.Description
		f.Priority = r.Priority
		f.Wait = r.Wait
		f.Filter = formOf("if", r.Filters)
		for i, l := range r.Layers {
			f.Layers = append(f.Layers, formOfLayer(i, l))
		}
	}
	if len(f.Layers) == 0 {
		f.Layers = []layerForm{{Minutes: 15}}
	}
	for i := range f.Layers {
		f.Layers[i].Index = i
	}
	return f, v.targets(&f)
}

func formOfLayer(i int, l escalationLayer) layerForm {
	form := layerForm{
		Was: strconv.Itoa(i), Minutes: l.minutes(), Emails: strings.Join(l.Target.Emails, ", "), Chats: len(l.Target.Webhooks),
		Persons: map[int64]bool{}, Teams: map[int64]bool{}, Schedules: map[int64]bool{},
	}
	if l.MaxTimes != nil {
		form.Times = *l.MaxTimes
	}
	if l.Step != nil {
		form.Every = strconv.FormatFloat(*l.Step, 'f', -1, 64)
	}
	for _, id := range l.Target.Persons {
		form.Persons[id] = true
	}
	for _, id := range l.Target.Teams {
		form.Teams[id] = true
	}
	for key := range l.Target.Schedules {
		if id, err := strconv.ParseInt(key, 10, 64); err == nil {
			form.Schedules[id] = true
		}
	}
	return form
}

// maxLayers is how many layers the form reads.
const maxLayers = 20

// readLayers returns the layers that were entered, with what a button adds, removes or moves.
func (v *visit) readLayers(stored []escalationLayer) (layers []layerForm) {
	for i := range maxLayers {
		at := fmt.Sprintf("layer.%d.", i)
		if !v.r.PostForm.Has(at + "minutes") {
			break
		}
		l := layerForm{
			Was: v.field(at + "was"), Minutes: formNumber(v, at+"minutes"), Times: formNumber(v,
				at+"times"), Every: v.field(at + "every"), Emails: v.field(at + "emails"),
			Persons: v.chosen(at + "person"), Teams: v.chosen(at + "team"), Schedules: v.chosen(at + "schedule"),
		}
		if was, err := strconv.Atoi(l.Was); err == nil && was >= 0 && was < len(stored) {
			l.Chats = len(stored[was].Target.Webhooks)
		}
		layers = append(layers, l)
	}
	do, at, _ := strings.Cut(v.field("do"), ":")
	switch i, _ := strconv.Atoi(at); {
	case do == "add-layer":
		layers = append(layers, layerForm{Minutes: 15})
	case do == "remove-layer" && i < len(layers):
		layers = slices.Delete(layers, i, i+1)
	case do == "up" && i > 0 && i < len(layers):
		layers[i-1], layers[i] = layers[i], layers[i-1]
	}
	return layers
}

// chosen returns the numbers that were chosen in a field.
func (v *visit) chosen(name string) map[int64]bool {
	all := map[int64]bool{}
	for _, text := range v.r.PostForm[name] {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			all[n] = true
		}
	}
	return all
}

// targets fills in whom a layer can name.
func (v *visit) targets(f *escalationForm) error {
	var members struct {
		Items []struct {
			ID   int64  `json:"member_id"`
			Name string `json:"member_name"`
		} `json:"items"`
	}
	if err := v.call("/member/list", map[string]any{"limit": 100}, &members); err != nil {
		return err
	}
	named := map[int64]bool{}
	for _, m := range members.Items {
		f.Persons, named[m.ID] = append(f.Persons, profile{ID: m.ID, Name: m.Name}), true
	}
	var more []int64 // named by the rule and not in the list, which is bounded
	for _, l := range f.Layers {
		for id := range l.Persons {
			if !named[id] {
				more, named[id] = append(more, id), true
			}
		}
	}
	people, err := v.people(more)
	if err != nil {
		return err
	}
	for _, id := range more {
		f.Persons = append(f.Persons, profile{ID: id, Name: people[id].Name})
	}
	f.Teams, err = v.allTeams()
	if err != nil {
		return err
	}
	request := schedules.ListRequest{}
	request.Limit = 100
	reply, err := call[schedules.Page](v, "/schedule/list", request)
	f.Schedules = reply.Items
	return err
}

// saveEscalation stores the rule, unless a button asked for another row.
func saveEscalation(v *visit) (string, error) {
	if v.field("do") != "save" {
		return "", nil
	}
	r, err := v.storedEscalation()
	if err != nil {
		return "", err
	}
	if r.ID != "" {
		if err := v.unchanged(identity(r), r.UpdatedBy); err != nil {
			return "", err
		}
	}
	request := map[string]any{
		"channel_id": v.number(), "rule_name": v.field("name"), "description": v.field("about"), "priority": formNumber(v, "priority"),
		"aggr_window": formNumber(v, "wait"), "filters": v.readFilter("if").filter(), "template_id": r.Template,
	}
	layers := []escalationLayer{}
	for _, l := range v.readLayers(r.Layers) {
		layer, err := v.layer(l, r.Layers)
		if err != nil {
			return "", err
		}
		layers = append(layers, layer)
	}
	request["layers"] = layers
	next := v.channelPath() + "/ladder"
	if r.ID == "" {
		return next, v.call(escalations.Op+"create", request, nil)
	}
	request["rule_id"] = r.ID
	return next, v.call(escalations.Op+"update", request, nil)
}

// layer returns a layer as it was entered. What the form does not show stays as it was.
func (v *visit) layer(l layerForm, stored []escalationLayer) (layer escalationLayer, err error) {
	layer.Target.By = map[string]any{"follow_preference": true}
	was, wrongNumber := strconv.Atoi(l.Was)
	if wrongNumber == nil && was >= 0 && was < len(stored) {
		layer = stored[was]
	}
	t := &layer.Target
	t.Persons = sorted(l.Persons)
	t.Teams = sorted(l.Teams)
	t.Emails = commas(l.Emails)
	schedules := map[string][]int64{}
	for _, id := range sorted(l.Schedules) {
		key := strconv.FormatInt(id, 10)
		schedules[key] = t.Schedules[key]
		if schedules[key] == nil {
			schedules[key] = []int64{}
		}
	}
	t.Schedules = schedules
	layer.Window = &l.Minutes
	layer.MaxTimes = &l.Times
	layer.Step = nil
	if l.Every != "" {
		every, err := strconv.ParseFloat(l.Every, 64)
		if err != nil {
			return layer, wrong(v.T("%s is not a number of minutes.", cut(l.Every, 30)))
		}
		layer.Step = &every
	}
	return layer, nil
}

func sorted(set map[int64]bool) []int64 {
	all := []int64{}
	for id := range set {
		all = append(all, id)
	}
	slices.Sort(all)
	return all
}
