package channel

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/channel"
	"tocsin/internal/console/page"
)

// layerForm is a layer as the form holds it.
type layerForm struct {
	Index     int
	Was       string // its number in the stored rule; empty: it is new
	Minutes   string // until the next layer
	Times     int64
	Every     string // minutes
	Force     bool
	Persons   []int64
	Teams     []int64
	Schedules []int64
	Roles     string // of the schedules: empty for all, keep for those that the stored rule has
	Pickers   []page.Picker
	Emails    string
	Chosen    bool // by the methods below, not by those of each person
	Methods   []methodsForm
	Chats     []chatForm
	Then      string // if no person can be notified
	Instead   []int64
	Nobody    page.Picker
}

// Number returns the number of the layer, from 1.
func (l layerForm) Number() int { return l.Index + 1 }

// methodsForm is by which methods persons are notified of incidents of a severity.
type methodsForm struct {
	Severity, Name string
	Chosen         []string
}

// Has reports whether a method is chosen.
func (m methodsForm) Has(method string) bool { return slices.Contains(m.Chosen, method) }

// usualMethods are those that every person can have; apps of chat services have further ones.
var usualMethods = []string{"voice", "sms", "push", "email"}

// Offered returns the methods of a layer's form: the usual ones and those that are chosen already.
func (l layerForm) Offered() []string {
	all := slices.Clone(usualMethods)
	for _, m := range l.Methods {
		for _, method := range m.Chosen {
			if !slices.Contains(all, method) {
				all = append(all, method)
			}
		}
	}
	return all
}

// keepRoles leaves the roles of schedules as they are stored.
const keepRoles = "keep"

// at is the beginning of the names of the fields of a layer.
func at(i int) string { return fmt.Sprintf("layer.%d.", i) }

// show sets the number of a layer and its pickers.
func (l *layerForm) show(v *page.Visit, i int, from offers, may bool) {
	l.Index = i
	l.Pickers = []page.Picker{
		from.Schedules.Picker(v, at(i)+"schedule", v.T("The person on call in"), l.Schedules),
		from.Persons.Picker(v, at(i)+"person", v.T("People"), l.Persons),
		from.Teams.Picker(v, at(i)+"team", v.T("All members of"), l.Teams),
	}
	for n := range l.Pickers {
		l.Pickers[n].Fixed = !may
	}
	l.Nobody = from.Persons.Picker(v, at(i)+"instead", v.T("Person to notify instead"), l.Instead)
	l.Nobody.Fixed = !may
	for n, severity := range []string{"Critical", "Warning", "Info"} {
		if len(l.Methods) <= n {
			l.Methods = append(l.Methods, methodsForm{})
		}
		l.Methods[n].Severity = severity
		l.Methods[n].Name = at(i) + strings.ToLower(severity)
	}
	for n := range l.Chats {
		l.Chats[n].Name = fmt.Sprintf("%schat.%d.", at(i), n)
		l.Chats[n].Value = fmt.Sprintf("%d:%d", i, n)
	}
}

func formOfLayer(i int, l channel.Layer) layerForm {
	t := l.Target
	form := layerForm{
		Was: strconv.Itoa(i), Minutes: strconv.FormatInt(cmp.Or(page.ValueOf(l.EscalateWindow), 30), 10), Times: page.ValueOf(l.MaxTimes),
		Force: page.ValueOf(l.ForceEscalate), Emails: strings.Join(t.Emails, ", "), Persons: t.PersonIDs, Teams: t.TeamIDs,
	}
	if l.NotifyStep != nil {
		form.Every = inMinutes(*l.NotifyStep)
	}
	roles := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(t.ScheduleToRoleIDs)) {
		form.Schedules = append(form.Schedules, page.Number(key))
		form.Roles = rolesText(t.ScheduleToRoleIDs[key])
		roles[form.Roles] = true
	}
	if len(roles) > 1 {
		form.Roles = keepRoles
	}
	if by := t.By; by != nil && !page.ValueOf(by.FollowPreference) {
		form.Chosen = true
		form.Methods = []methodsForm{{Chosen: by.Critical}, {Chosen: by.Warning}, {Chosen: by.Info}}
	}
	for _, hook := range t.Webhooks {
		form.Chats = append(form.Chats, formOfChat(hook))
	}
	if n := l.OnNobody; n != nil {
		form.Then = n.Then
		if n.PersonID != 0 {
			form.Instead = []int64{n.PersonID}
		}
	}
	return form
}

// rolesText returns the choice of the form for the roles of a schedule.
func rolesText(roles []int64) string {
	switch {
	case len(roles) == 0:
		return ""
	case len(roles) == 1 && roles[0] <= 1:
		return strconv.FormatInt(roles[0], 10)
	}
	return keepRoles
}

// maxLayers is how many layers the form reads.
const maxLayers = 20

// readLayers returns the layers that were entered, with what a button adds, removes or moves. The error is that of a name or a number
// that cannot be read.
func readLayers(v *page.Visit, from offers) (layers []layerForm, wrong error) {
	for i := range maxLayers {
		if !v.Request.PostForm.Has(at(i) + "minutes") {
			break
		}
		l := layerForm{
			Was: v.Field(at(i) + "was"), Minutes: v.Field(at(i) + "minutes"), Times: v.Number(at(i) + "times"),
			Every: v.Field(at(i) + "every"), Force: v.Field(at(i)+"force") != "", Emails: v.Field(at(i) + "emails"),
			Roles: v.Field(at(i) + "roles"), Chosen: v.Field(at(i)+"chosen") != "", Then: v.Field(at(i) + "then"),
		}
		for _, severity := range []string{"critical", "warning", "info"} {
			l.Methods = append(l.Methods, methodsForm{Chosen: v.Request.PostForm[at(i)+severity]})
		}
		l.Chats = readChats(v, i)
		wrong = cmp.Or(wrong, l.readTargets(v, at(i), from))
		layers = append(layers, l)
	}
	do, row, _ := strings.Cut(v.Field("do"), ":")
	switch i, _ := strconv.Atoi(row); {
	case do == "add-layer":
		layers = append(layers, layerForm{Minutes: "15"})
	case do == "remove-layer" && i < len(layers):
		layers = slices.Delete(layers, i, i+1)
	case do == "up" && i > 0 && i < len(layers):
		layers[i-1], layers[i] = layers[i], layers[i-1]
	case do == "add-chat" && i < len(layers):
		layers[i].Chats = append(layers[i].Chats, chatForm{Type: "slack"})
	}
	return layers, wrong
}

// readTargets reads whom a layer names.
func (l *layerForm) readTargets(v *page.Visit, at string, from offers) error {
	var schedules, persons, teams, instead error
	l.Schedules, schedules = from.Schedules.Read(v, at+"schedule")
	l.Persons, persons = from.Persons.Read(v, at+"person")
	l.Teams, teams = from.Teams.Read(v, at+"team")
	l.Instead, instead = from.Persons.Read(v, at+"instead")
	return cmp.Or(schedules, persons, teams, instead)
}

// layer returns layer i as it was entered; stored are the layers of the stored rule.
func layer(v *page.Visit, i int, l layerForm, stored []channel.Layer) (layer channel.Layer, err error) {
	layer.Target.By = &channel.By{FollowPreference: new(true)}
	was, wrongNumber := strconv.Atoi(l.Was)
	if wrongNumber == nil && was >= 0 && was < len(stored) {
		layer = stored[was]
	}
	t := &layer.Target
	t.PersonIDs = orAbsent(l.Persons)
	t.TeamIDs = orAbsent(l.Teams)
	t.Emails = orAbsent(page.Commas(l.Emails))
	t.ScheduleToRoleIDs = l.schedules(t.ScheduleToRoleIDs)
	t.By = l.by(t.By)
	if v.Request.PostForm.Has(at(i) + "chats") {
		t.Webhooks = orAbsent(chats(l.Chats))
	}
	until, err := minutes(v, at(i)+"minutes")
	if err != nil {
		return layer, err
	}
	every, err := minutes(v, at(i)+"every")
	if err != nil {
		return layer, err
	}
	layer.EscalateWindow, layer.NotifyStep = new(int64(until)), nil
	if l.Every != "" {
		layer.NotifyStep = &every
	}
	layer.MaxTimes = &l.Times
	layer.ForceEscalate = &l.Force
	if !l.Force {
		layer.ForceEscalate = nil
	}
	if v.Request.PostForm.Has(at(i) + "then") {
		layer.OnNobody = l.onNobody()
	}
	return layer, nil
}

// schedules returns the schedules of the layer with their roles; before are those of the stored rule.
func (l layerForm) schedules(before map[string][]int64) map[string][]int64 {
	if len(l.Schedules) == 0 {
		return nil
	}
	all := map[string][]int64{}
	for _, id := range l.Schedules {
		key := strconv.FormatInt(id, 10)
		switch l.Roles {
		case keepRoles:
			all[key] = append([]int64{}, before[key]...)
		case "":
			all[key] = []int64{}
		default:
			all[key] = []int64{page.Number(l.Roles)}
		}
	}
	return all
}

// by returns the methods of the layer; before are those of the stored rule. Without any, a rule with chats alone notifies no person.
func (l layerForm) by(before *channel.By) *channel.By {
	switch {
	case l.Chosen:
		return &channel.By{Critical: l.Methods[0].Chosen, Warning: l.Methods[1].Chosen, Info: l.Methods[2].Chosen}
	case before == nil || page.ValueOf(before.FollowPreference):
		return before
	}
	return &channel.By{FollowPreference: new(true)}
}

// onNobody returns what happens when no person can be notified.
func (l layerForm) onNobody() *channel.NoRecipient {
	if l.Then == "" {
		return nil
	}
	n := &channel.NoRecipient{Then: l.Then}
	if l.Then == channel.Fallback && len(l.Instead) > 0 {
		n.PersonID = l.Instead[0]
	}
	return n
}

// orAbsent returns a list; nil, which is an absent member, for an empty one.
func orAbsent[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}
