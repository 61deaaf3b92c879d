package console

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/calendar"
	"tocsin/internal/channel"
	"tocsin/internal/core/filter"
)

// ruleForm is the page of one drop, silence or inhibit rule.
type ruleForm struct {
	titled
	Kind     ruleKind
	Channel  channel.Shown
	ID       string // empty: it is new
	Status   string
	Name     string
	About    string
	Priority int64
	Filter   filterForm // of an inhibit rule: what is inhibited
	Source   filterForm // of an inhibit rule: what inhibits
	Equals   string
	Discard  bool

	Recurs      bool
	From, Until string // of a silence that does not recur, as an input of local time holds them
	AutoDelete  bool
	Windows     []windowForm
	Calendars   []calendar.Calendar
	AccountZone string

	Parsed    filter.Filter // of Filter
	Tried     *alert.Tried
	Guard     bool // the number of alerts must be entered
	Pasted    string
	AlertID   string
	Recent    []alertRow
	May       bool
	UpdatedBy int64
	Seen      string // identifies the stored rule that the form began with; empty: it is new
}

// windowForm is a recurring window as the form holds it.
type windowForm struct {
	Start, End, CalID string
	Off               bool
	Days              [7]bool
}

// kind returns the kind of the address.
func (v *visit) kind() (ruleKind, error) {
	for _, k := range ruleKinds {
		if k.Name == v.r.PathValue("kind") {
			return k, nil
		}
	}
	return ruleKind{}, notHere(v)
}

// Path returns the address of the rule's page.
func (f ruleForm) Path() string {
	id := f.ID
	if id == "" {
		id = "new"
	}
	return fmt.Sprintf("/channels/%d/rules/%s/%s", f.Channel.ChannelID, f.Kind.Name, id)
}

// showRule shows a rule: what was entered, else what is stored.
func showRule(v *visit) (view, error) {
	f, err := v.ruleForm()
	if err != nil {
		return nil, err
	}
	if v.r.Method == http.MethodPost {
		v.readRule(&f)
		f.Seen = v.seen(f.Seen)
	}
	f.Parsed = f.Filter.filter()
	if len(f.Parsed) > 0 && v.who.May(auth.ChannelsRead) {
		t, err := v.tryFilter(f.Channel.ChannelID, f.Parsed)
		if err == nil {
			f.Tried, f.Guard = &t, t.Broad && !t.MatchesEmpty && f.Kind.Name != inhibits
		} else if v.Failure == nil {
			v.Failure = api.RefusalOf(err)
		}
	}
	return f, v.choices(&f)
}

// ruleForm returns the stored rule of the address, or an empty one.
func (v *visit) ruleForm() (f ruleForm, err error) {
	f.Kind, err = v.kind()
	if err != nil {
		return f, err
	}
	f.Channel, err = v.channel()
	if err != nil {
		return f, err
	}
	f.May, f.AccountZone = v.who.MayAny(manageChannels), v.who.Zone.String()
	if v.r.PathValue("rule") == "new" {
		f.titled = titled(v.T("New rule"))
		f.Filter, f.Source = filterForm{Name: "if"}.atLeastOne(), filterForm{Name: "source"}.atLeastOne()
		f.Equals, f.AutoDelete = "", true
		f.From, f.Until = v.localInput(v.Now.Unix()), v.localInput(v.Now.Add(time.Hour).Unix())
		f.Windows = []windowForm{{Start: "22:00", End: "06:00"}}
		return f, nil
	}
	rules, err := v.rules(f.Kind.Name, f.Channel.ChannelID)
	if err != nil {
		return f, err
	}
	i := slices.IndexFunc(rules, func(r ruleRow) bool { return r.RuleID == v.r.PathValue("rule") })
	if i < 0 {
		return f, notHere(v)
	}
	r := rules[i]
	f.titled = titled(r.RuleName)
	f.ID = r.RuleID
	f.Status = r.Status
	f.Name = r.RuleName
	f.About = r.Description
	f.Priority = r.Priority
	f.Seen, f.UpdatedBy = r.identity(), r.UpdatedBy
	f.Filter = formOf("if", r.Filters)
	f.Source = formOf("source", r.Source.Value)
	f.Equals = strings.Join(r.Equals,
		", ")
	f.Discard = r.Discard
	if f.Kind.Name == inhibits {
		f.Filter = formOf("if", r.Target.Value)
	}
	f.Recurs, f.AutoDelete = r.Once == nil, r.AutoDelete
	f.From, f.Until = v.localInput(v.Now.Unix()), v.localInput(v.Now.Add(time.Hour).Unix())
	if r.Once != nil {
		f.From, f.Until = v.localInput(r.Once.StartTime), v.localInput(r.Once.EndTime)
	}
	for _, w := range r.Windows {
		form := windowForm{Start: w.Start, End: w.End, CalID: valueOf(w.CalID), Off: valueOf(w.IsOff)}
		for _, day := range w.Repeat {
			if day >= 0 && day < 7 {
				form.Days[day] = true
			}
		}
		f.Windows = append(f.Windows, form)
	}
	if len(f.Windows) == 0 {
		f.Windows = []windowForm{{Start: "22:00", End: "06:00"}}
	}
	return f, nil
}

// choices fills in what the form offers: recent alerts to try the filter on, and calendars.
func (v *visit) choices(f *ruleForm) error {
	if v.who.May(auth.ChannelsRead) {
		var err error
		f.Recent, err = v.recentAlerts([]int64{f.Channel.ChannelID})
		if err != nil {
			return err
		}
	}
	if f.Kind.Name != silences {
		return nil
	}
	var err error
	f.Calendars, err = v.calendars()
	return err
}

// calendars returns the account's calendars.
func (v *visit) calendars() ([]calendar.Calendar, error) {
	reply, err := call[calendar.Listed[calendar.Calendar]](v, "/calendar/list", calendar.ListRequest{})
	return reply.Items, err
}

// readRule fills in what was entered.
func (v *visit) readRule(f *ruleForm) {
	f.Name = v.field("name")
	f.About = v.field("about")
	f.Priority = formNumber(v, "priority")
	f.Filter = v.readFilter("if")
	f.Source = v.readFilter("source")
	f.Equals = v.field("equals")
	f.Discard, f.AutoDelete = v.field("discard") != "", v.field("auto_delete") != ""
	f.Recurs = v.field("recurs") != ""
	f.From = v.field("from")
	f.Until = v.field("until")
	f.Pasted, f.AlertID = v.field("pasted"), v.field("alert")
	f.Windows = nil
	for i := range 100 {
		at := fmt.Sprintf("window.%d.", i)
		if !v.r.PostForm.Has(at + "start") {
			break
		}
		if v.field("do") == fmt.Sprintf("remove-window:%d", i) {
			continue
		}
		w := windowForm{Start: v.field(at + "start"), End: v.field(at + "end"), CalID: v.field(at + "calendar"), Off: v.field(at+"off") != ""}
		for _, day := range v.r.PostForm[at+"day"] {
			if n, err := strconv.Atoi(day); err == nil && n >= 0 && n < 7 {
				w.Days[n] = true
			}
		}
		f.Windows = append(f.Windows, w)
	}
	if v.field("do") == "add-window" || len(f.Windows) == 0 {
		f.Windows = append(f.Windows, windowForm{Start: "22:00", End: "06:00"})
	}
}

// saveRule stores the rule, unless a button asked for another row or for a try.
func saveRule(v *visit) (string, error) {
	f, err := v.ruleForm()
	if err != nil {
		return "", err
	}
	if v.field("do") != "save" {
		return "", nil
	}
	if err := v.unchanged(f.Seen, f.UpdatedBy); err != nil {
		return "", err
	}
	v.readRule(&f)
	f.Parsed = f.Filter.filter()
	body := channel.RuleBody{ChannelID: f.Channel.ChannelID, RuleName: f.Name, Description: &f.About, Priority: &f.Priority}
	if f.Kind.Name == inhibits {
		return v.channelPath(), v.saveInhibit(f, body)
	}
	t, err := v.tryFilter(f.Channel.ChannelID, f.Parsed)
	if err != nil {
		return "", err
	}
	if err := v.guard(t, f.Parsed); err != nil {
		return "", err
	}
	if f.Kind.Name == silences {
		return v.channelPath(), v.saveSilence(f, body)
	}
	drop := channel.DropBody{RuleBody: body, Filters: f.Parsed}
	if f.ID == "" {
		return v.channelPath(), do[channel.RuleCreated](v, "/channel/unsubscribe/rule/create", drop)
	}
	request := channel.DropUpdate{RuleKey: channel.RuleKey{RuleID: f.ID}, DropBody: drop}
	return v.channelPath(), do[api.Warnings](v, "/channel/unsubscribe/rule/update", request)
}

func (v *visit) saveInhibit(f ruleForm, body channel.RuleBody) error {
	source := f.Source.filter()
	if len(source) == 0 || len(f.Parsed) == 0 {
		return wrong(v.T("Name the alert that inhibits, and the alert that is inhibited."))
	}
	inhibit := channel.InhibitBody{
		RuleBody: body, SourceFilters: filter.Groups(source), TargetFilters: filter.Groups(f.Parsed), Equals: commas(f.Equals),
		IsDirectlyDiscard: &f.Discard,
	}
	if f.ID == "" {
		return do[channel.RuleCreated](v, "/channel/inhibit/rule/create", inhibit)
	}
	request := channel.InhibitUpdate{RuleKey: channel.RuleKey{RuleID: f.ID}, InhibitBody: inhibit}
	return do[api.Warnings](v, "/channel/inhibit/rule/update", request)
}

func (v *visit) saveSilence(f ruleForm, body channel.RuleBody) error {
	silence := channel.SilenceBody{RuleBody: body, Filters: f.Parsed, IsDirectlyDiscard: &f.Discard}
	if err := v.addWindows(&silence, f); err != nil {
		return err
	}
	if f.ID == "" {
		return do[channel.RuleCreated](v, "/channel/silence/rule/create", silence)
	}
	request := channel.SilenceUpdate{RuleKey: channel.RuleKey{RuleID: f.ID}, SilenceBody: silence}
	return do[api.Warnings](v, "/channel/silence/rule/update", request)
}
