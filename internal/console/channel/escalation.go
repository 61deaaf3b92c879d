package channel

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/calendar"
	"tocsin/internal/channel"
	"tocsin/internal/console/page"
	"tocsin/internal/core/filter"
	"tocsin/internal/template"
)

type escalationForm struct {
	page.Titled
	Channel   channel.Shown
	ID        string
	Name      string
	About     string
	Priority  int64
	Wait      string // minutes before the first layer
	Template  string
	Filter    filterForm
	Windows   []windowForm
	Repeat    repeatForm
	Layers    []layerForm
	Offers    offers
	Calendars []calendar.Calendar
	Templates []page.Option
	May       bool
	Seen      string // identifies the stored rule that the form began with; empty: it is new
	Draft     *draftPreview
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
		f.Wait = v.Field("wait")
		f.Template = v.Field("template")
		f.Filter, f.Windows = readFilter(v, "if"), readWindows(v)
		f.Repeat = readRepeat(v)
		f.Layers, _ = readLayers(v, f.Offers) // a name that is not known stays in its input
	} else {
		f.Name = r.RuleName
		f.About = r.Description
		f.Priority = r.Priority
		f.Wait = inMinutes(float64(r.AggrWindow) / 60)
		f.Template = r.TemplateID
		f.Filter, f.Windows = formOf("if", r.Filters), windowsOf(r.TimeFilters)
		f.Repeat = formOfRepeat(r.Repeat)
		for i, l := range r.Layers {
			f.Layers = append(f.Layers, formOfLayer(i, l))
		}
	}
	if len(f.Layers) == 0 {
		f.Layers = []layerForm{{Minutes: "15"}}
	}
	if err := f.begin(v); err != nil {
		return nil, err
	}
	for i := range f.Layers {
		f.Layers[i].show(v, i, f.Offers, f.May)
	}
	f.Calendars, err = v.Calendars()
	if err != nil {
		return nil, err
	}
	f.Templates, err = templatesOf(v, f.Template)
	if err != nil {
		return nil, err
	}
	return f, f.previewDraft(v, r)
}

// begin fills in what the first rule of a channel most often is: the person on call in the only schedule, for every incident.
func (f *escalationForm) begin(v *page.Visit) error {
	if f.ID != "" || v.Request.Method == http.MethodPost {
		return nil
	}
	has, err := rules(v, escalations, f.Channel.ChannelID)
	if err != nil || len(has) > 0 {
		return err
	}
	f.Name = v.T("All incidents")
	if only := f.Offers.Schedules.Choices; len(only) == 1 {
		f.Layers[0].Schedules = []int64{only[0].ID}
	}
	return nil
}

// templatesOf returns the templates that a rule may have: the preset, those of the account, and the one that it has.
func templatesOf(v *page.Visit, has string) ([]page.Option, error) {
	options := []page.Option{{Value: preset, Text: v.T("Preset")}}
	if v.Who.MayAny(readTemplates) {
		request := template.ListRequest{}
		request.Limit = 100
		templates, err := page.Call[api.CursorPage[template.Template]](v, "/template/list", request)
		if err != nil {
			return nil, err
		}
		for _, t := range templates.Items {
			options = append(options, page.Option{Value: t.TemplateID, Text: t.TemplateName})
		}
	}
	if !slices.ContainsFunc(options, func(o page.Option) bool { return o.Value == has }) {
		options = append(options, page.Option{Value: has, Text: v.T("As before")})
	}
	return options, nil
}

// readTemplates are the permissions of which each lets a person read templates.
var readTemplates = []auth.Permission{auth.TemplatesRead, auth.TemplatesManage}

// inMinutes returns a length as the form holds it.
func inMinutes(minutes float64) string { return strconv.FormatFloat(minutes, 'f', -1, 64) }

// minutes returns the minutes that were entered in a field; 0: nothing was.
func minutes(v *page.Visit, name string) (float64, error) {
	text := v.Field(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", "."), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, page.Wrong(v.T("%s is not a number of minutes.", page.Cut(text, 30)))
	}
	return n, nil
}

// repeatForm is how all layers are notified again, as the form holds it.
type repeatForm struct {
	Until        bool
	Times, Every int64
}

func formOfRepeat(r *channel.Repeat) repeatForm {
	if r == nil {
		r = &channel.Repeat{}
	}
	return repeatForm{page.ValueOf(r.UntilAcknowledged), page.ValueOf(r.Times), cmp.Or(page.ValueOf(r.Interval), 30)}
}

func readRepeat(v *page.Visit) repeatForm {
	return repeatForm{v.Field("repeat_until") != "", v.Number("repeat_times"), cmp.Or(v.Number("repeat_every"), 30)}
}

// repeat returns the repeats as the API takes them.
func (f repeatForm) repeat() *channel.Repeat {
	r := &channel.Repeat{Interval: &f.Every}
	if f.Until {
		r.UntilAcknowledged = &f.Until
	} else {
		r.Times = &f.Times
	}
	return r
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
	from, err := readOffers(v)
	if err != nil {
		return "", err
	}
	body, err := escalationBody(v, r, from)
	if err != nil {
		return "", err
	}
	next := channelPath(v) + "/ladder"
	if r.RuleID == "" {
		return next, page.Do[channel.RuleCreated](v, "/channel/escalate/rule/create", body)
	}
	request := channel.EscalateUpdate{RuleKey: channel.RuleKey{RuleID: r.RuleID}, EscalateBody: body}
	return next, page.Do[api.Warnings](v, "/channel/escalate/rule/update", request)
}

// escalationBody returns the rule that was entered; r is the stored rule.
func escalationBody(v *page.Visit, r channel.EscalateRule, from offers) (body channel.EscalateBody, err error) {
	wait, err := minutes(v, "wait")
	if err != nil {
		return body, err
	}
	body = channel.EscalateBody{
		RuleBody: channel.RuleBody{
			ChannelID: v.ID(), RuleName: v.Field("name"), Description: new(v.Field("about")), Priority: new(v.Number("priority")),
		},
		AggrWindow: new(int64(math.Round(wait * 60))), TemplateID: cmp.Or(v.Field("template"), r.TemplateID), Layers: []channel.Layer{},
		TimeFilters: timeFilters(readWindows(v)), Repeat: readRepeat(v).repeat(),
		Filters: append(filter.Filter{}, readFilter(v, "if").filter()...), // none: for all incidents
	}
	layers, err := readLayers(v, from)
	if err != nil {
		return body, err
	}
	for i, l := range layers {
		layer, err := layer(v, i, l, r.Layers)
		if err != nil {
			return body, err
		}
		body.Layers = append(body.Layers, layer)
	}
	return body, nil
}
