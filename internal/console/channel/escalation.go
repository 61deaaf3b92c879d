package channel

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/console/page"
	"tocsin/internal/core/filter"
)

// minutesOf returns how long a layer has until the next one, as the operation counts it.
func minutesOf(l channel.Layer) int64 { return cmp.Or(page.ValueOf(l.EscalateWindow), 30) }

// layerForm is a layer as the form holds it.
type layerForm struct {
	Index     int
	Was       string // its number in the stored rule; empty: it is new
	Minutes   int64
	Times     int64
	Every     string
	Persons   []int64
	Teams     []int64
	Schedules []int64
	Pickers   []page.Picker
	Emails    string
	Chats     int
}

// Number returns the number of the layer, from 1.
func (l layerForm) Number() int { return l.Index + 1 }

type escalationForm struct {
	page.Titled
	Channel  channel.Shown
	ID       string
	Name     string
	About    string
	Priority int64
	Wait     int64 // seconds before the first layer
	Filter   filterForm
	Layers   []layerForm
	Offers   offers
	May      bool
	Seen     string // identifies the stored rule that the form began with; empty: it is new
}

// offers is whom a layer can name.
type offers struct{ Schedules, Persons, Teams page.Offer }

func readOffers(v *page.Visit) (o offers, err error) {
	o.Schedules, err = v.ScheduleOffer()
	if err != nil {
		return o, err
	}
	o.Persons, err = v.PeopleOffer()
	if err != nil {
		return o, err
	}
	o.Teams, err = v.TeamOffer()
	return o, err
}

// Path returns the address of the rule's page.
func (f escalationForm) Path() string {
	id := f.ID
	if id == "" {
		id = "new"
	}
	return fmt.Sprintf("/channels/%d/escalations/%s", f.Channel.ChannelID, id)
}

// preset is the notification template of rules that the console makes.
const preset = "000000000000000000000001"

// storedEscalation returns the rule of the address, or what a new one begins with.
func storedEscalation(v *page.Visit) (r channel.EscalateRule, err error) {
	if v.Request.PathValue("rule") == "new" {
		return channel.EscalateRule{TemplateID: preset}, nil
	}
	request := channel.RuleRequest{ChannelID: v.ID(), RuleID: v.Request.PathValue("rule")}
	found, err := page.Call[*channel.EscalateRule](v, "/channel/escalate/rule/info", request)
	if err == nil && found == nil {
		err = page.NotHere(v)
	}
	return page.ValueOf(found), err
}

// showEscalation shows an escalation rule: what was entered, else what is stored.
func showEscalation(v *page.Visit) (page.View, error) {
	c, err := storedChannel(v)
	if err != nil {
		return nil, err
	}
	r, err := storedEscalation(v)
	if err != nil {
		return nil, err
	}
	f := escalationForm{Titled: page.Titled(r.RuleName), Channel: c, ID: r.RuleID, May: v.Who.MayAny(manageChannels)}
	if f.ID == "" {
		f.Titled = page.Titled(v.T("New escalation rule"))
	}
	if f.ID != "" {
		f.Seen = page.Identity(r)
	}
	f.Offers, err = readOffers(v)
	if err != nil {
		return nil, err
	}
	if v.Request.Method == http.MethodPost {
		f.Seen = v.FormSeen(f.Seen)
		f.Name = v.Field("name")
		f.About = v.Field("about")
		f.Priority = v.Number("priority")
		f.Wait = v.Number("wait")
		f.Filter = readFilter(v, "if")
		f.Layers, _ = readLayers(v, f.Offers, r.Layers) // a name that is not known stays in its input
	} else {
		f.Name = r.RuleName
		f.About = r.Description
		f.Priority = r.Priority
		f.Wait = r.AggrWindow
		f.Filter = formOf("if", r.Filters)
		for i, l := range r.Layers {
			f.Layers = append(f.Layers, formOfLayer(i, l))
		}
	}
	if len(f.Layers) == 0 {
		f.Layers = []layerForm{{Minutes: 15}}
	}
	for i := range f.Layers {
		f.Layers[i].show(v, i, f.Offers, f.May)
	}
	return f, nil
}

// show sets the number of a layer and its pickers.
func (l *layerForm) show(v *page.Visit, i int, from offers, may bool) {
	at := fmt.Sprintf("layer.%d.", i)
	l.Index = i
	l.Pickers = []page.Picker{
		from.Schedules.Picker(v, at+"schedule", v.T("The person on call in"), l.Schedules),
		from.Persons.Picker(v, at+"person", v.T("People"), l.Persons),
		from.Teams.Picker(v, at+"team", v.T("All members of"), l.Teams),
	}
	for n := range l.Pickers {
		l.Pickers[n].Fixed = !may
	}
}

func formOfLayer(i int, l channel.Layer) layerForm {
	form := layerForm{
		Was: strconv.Itoa(i), Minutes: minutesOf(l), Emails: strings.Join(l.Target.Emails, ", "), Chats: len(l.Target.Webhooks),
		Persons: l.Target.PersonIDs, Teams: l.Target.TeamIDs,
	}
	form.Times = page.ValueOf(l.MaxTimes)
	if l.NotifyStep != nil {
		form.Every = strconv.FormatFloat(*l.NotifyStep, 'f', -1, 64)
	}
	for _, key := range slices.Sorted(maps.Keys(l.Target.ScheduleToRoleIDs)) {
		form.Schedules = append(form.Schedules, page.Number(key))
	}
	return form
}

// maxLayers is how many layers the form reads.
const maxLayers = 20

// readLayers returns the layers that were entered, with what a button adds, removes or moves.
func readLayers(v *page.Visit, from offers, stored []channel.Layer) (layers []layerForm, wrong error) {
	for i := range maxLayers {
		at := fmt.Sprintf("layer.%d.", i)
		if !v.Request.PostForm.Has(at + "minutes") {
			break
		}
		l := layerForm{
			Was: v.Field(at + "was"), Minutes: v.Number(at + "minutes"), Times: v.Number(at + "times"),
			Every: v.Field(at + "every"), Emails: v.Field(at + "emails"),
		}
		wrong = cmp.Or(wrong, l.readTargets(v, at, from))
		if was, err := strconv.Atoi(l.Was); err == nil && was >= 0 && was < len(stored) {
			l.Chats = len(stored[was].Target.Webhooks)
		}
		layers = append(layers, l)
	}
	do, at, _ := strings.Cut(v.Field("do"), ":")
	switch i, _ := strconv.Atoi(at); {
	case do == "add-layer":
		layers = append(layers, layerForm{Minutes: 15})
	case do == "remove-layer" && i < len(layers):
		layers = slices.Delete(layers, i, i+1)
	case do == "up" && i > 0 && i < len(layers):
		layers[i-1], layers[i] = layers[i], layers[i-1]
	}
	return layers, wrong
}

// readTargets reads whom a layer names.
func (l *layerForm) readTargets(v *page.Visit, at string, from offers) error {
	var schedules, persons, teams error
	l.Schedules, schedules = from.Schedules.Read(v, at+"schedule")
	l.Persons, persons = from.Persons.Read(v, at+"person")
	l.Teams, teams = from.Teams.Read(v, at+"team")
	return cmp.Or(schedules, persons, teams)
}

// saveEscalation stores the rule, unless a button asked for another row.
func saveEscalation(v *page.Visit) (string, error) {
	if v.Field("do") != "save" {
		return "", nil
	}
	r, err := storedEscalation(v)
	if err != nil {
		return "", err
	}
	if r.RuleID != "" {
		if err := v.Unchanged(page.Identity(r), r.UpdatedBy); err != nil {
			return "", err
		}
	}
	body := channel.EscalateBody{
		RuleBody: channel.RuleBody{
			ChannelID: v.ID(), RuleName: v.Field("name"), Description: new(v.Field("about")), Priority: new(v.Number("priority")),
		},
		AggrWindow: new(v.Number("wait")), TemplateID: r.TemplateID, Layers: []channel.Layer{},
		Filters: append(filter.Filter{}, readFilter(v, "if").filter()...), // none: for all incidents
	}
	from, err := readOffers(v)
	if err != nil {
		return "", err
	}
	layers, err := readLayers(v, from, r.Layers)
	if err != nil {
		return "", err
	}
	for _, l := range layers {
		layer, err := layer(v, l, r.Layers)
		if err != nil {
			return "", err
		}
		body.Layers = append(body.Layers, layer)
	}
	next := channelPath(v) + "/ladder"
	if r.RuleID == "" {
		return next, page.Do[channel.RuleCreated](v, "/channel/escalate/rule/create", body)
	}
	request := channel.EscalateUpdate{RuleKey: channel.RuleKey{RuleID: r.RuleID}, EscalateBody: body}
	return next, page.Do[api.Warnings](v, "/channel/escalate/rule/update", request)
}

// layer returns a layer as it was entered. What the form does not show stays as it was.
func layer(v *page.Visit, l layerForm, stored []channel.Layer) (layer channel.Layer, err error) {
	layer.Target.By = &channel.By{FollowPreference: new(true)}
	was, wrongNumber := strconv.Atoi(l.Was)
	if wrongNumber == nil && was >= 0 && was < len(stored) {
		layer = stored[was]
	}
	t := &layer.Target
	t.PersonIDs = orAbsent(l.Persons)
	t.TeamIDs = orAbsent(l.Teams)
	t.Emails = orAbsent(page.Commas(l.Emails))
	roles := t.ScheduleToRoleIDs
	t.ScheduleToRoleIDs = nil
	for _, id := range l.Schedules {
		if t.ScheduleToRoleIDs == nil {
			t.ScheduleToRoleIDs = map[string][]int64{}
		}
		key := strconv.FormatInt(id, 10)
		t.ScheduleToRoleIDs[key] = append([]int64{}, roles[key]...)
	}
	layer.EscalateWindow = &l.Minutes
	layer.MaxTimes = &l.Times
	layer.NotifyStep = nil
	if l.Every != "" {
		every, err := strconv.ParseFloat(l.Every, 64)
		if err != nil {
			return layer, page.Wrong(v.T("%s is not a number of minutes.", page.Cut(l.Every, 30)))
		}
		layer.NotifyStep = &every
	}
	return layer, nil
}

// orAbsent returns a list; nil, which is an absent member, for an empty one.
func orAbsent[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}
