package channel

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/calendar"
	"tocsin/internal/channel"
	"tocsin/internal/console/page"
	"tocsin/internal/core/filter"
)

// ruleForm is the page of one drop, silence or inhibit rule.
type ruleForm struct {
	page.Titled
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
	Recent    []page.AlertRow
	May       bool
	UpdatedBy int64
	Seen      string // identifies the stored rule that the form began with; empty: it is new
}

// kind returns the kind of the address.
func kind(v *page.Visit) (ruleKind, error) {
	for _, k := range ruleKinds {
		if k.Name == v.Request.PathValue("kind") {
			return k, nil
		}
	}
	return ruleKind{}, page.NotHere(v)
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
func showRule(v *page.Visit) (page.View, error) {
	f, err := readRuleForm(v)
	if err != nil {
		return nil, err
	}
	if v.Request.Method == http.MethodPost {
		readRule(v, &f)
		f.Seen = v.FormSeen(f.Seen)
	}
	f.Parsed = f.Filter.filter()
	if len(f.Parsed) > 0 && v.Who.May(auth.ChannelsRead) {
		t, err := tryFilter(v, f.Channel.ChannelID, f.Parsed)
		if err == nil {
			f.Tried, f.Guard = &t, t.Broad && !t.MatchesEmpty && f.Kind.Name != inhibits
		} else if v.Failure == nil {
			v.Failure = api.RefusalOf(err)
		}
	}
	return f, choices(v, &f)
}

// readRuleForm returns the stored rule of the address, or an empty one.
func readRuleForm(v *page.Visit) (f ruleForm, err error) {
	f.Kind, err = kind(v)
	if err != nil {
		return f, err
	}
	f.Channel, err = storedChannel(v)
	if err != nil {
		return f, err
	}
	f.May, f.AccountZone = v.Who.MayAny(manageChannels), v.Who.Zone.String()
	if v.Request.PathValue("rule") == "new" {
		f.Titled = page.Titled(v.T("New rule"))
		f.Filter, f.Source = filterForm{Name: "if"}.atLeastOne(), filterForm{Name: "source"}.atLeastOne()
		f.Equals, f.AutoDelete = "", true
		f.From, f.Until = v.Local(v.Now), v.Local(v.Now.Add(time.Hour))
		f.Windows = []windowForm{{Start: "22:00", End: "06:00"}}
		return f, nil
	}
	rules, err := rules(v, f.Kind.Name, f.Channel.ChannelID)
	if err != nil {
		return f, err
	}
	i := slices.IndexFunc(rules, func(r ruleRow) bool { return r.RuleID == v.Request.PathValue("rule") })
	if i < 0 {
		return f, page.NotHere(v)
	}
	r := rules[i]
	f.Titled = page.Titled(r.RuleName)
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
	f.From, f.Until = v.Local(v.Now), v.Local(v.Now.Add(time.Hour))
	if r.Once != nil {
		f.From, f.Until = v.Local(time.Unix(r.Once.StartTime, 0)), v.Local(time.Unix(r.Once.EndTime, 0))
	}
	f.Windows = windowsOf(r.Windows)
	if len(f.Windows) == 0 {
		f.Windows = []windowForm{{Start: "22:00", End: "06:00"}}
	}
	return f, nil
}

// choices fills in what the form offers: recent alerts to try the filter on, and calendars.
func choices(v *page.Visit, f *ruleForm) error {
	if v.Who.May(auth.ChannelsRead) {
		var err error
		f.Recent, err = recentAlerts(v, []int64{f.Channel.ChannelID})
		if err != nil {
			return err
		}
	}
	if f.Kind.Name != silences {
		return nil
	}
	var err error
	f.Calendars, err = v.Calendars()
	return err
}

// readRule fills in what was entered.
func readRule(v *page.Visit, f *ruleForm) {
	f.Name = v.Field("name")
	f.About = v.Field("about")
	f.Priority = v.Number("priority")
	f.Filter = readFilter(v, "if")
	f.Source = readFilter(v, "source")
	f.Equals = v.Field("equals")
	f.Discard, f.AutoDelete = v.Field("discard") != "", v.Field("auto_delete") != ""
	f.Recurs = v.Field("recurs") != ""
	f.From = v.Field("from")
	f.Until = v.Field("until")
	f.Pasted, f.AlertID = v.Field("pasted"), v.Field("alert")
	f.Windows = readWindows(v)
	if len(f.Windows) == 0 {
		f.Windows = []windowForm{{Start: "22:00", End: "06:00"}}
	}
}

// saveRule stores the rule, unless a button asked for another row or for a try.
func saveRule(v *page.Visit) (string, error) {
	f, err := readRuleForm(v)
	if err != nil {
		return "", err
	}
	if v.Field("do") != "save" {
		return "", nil
	}
	if err := v.Unchanged(f.Seen, f.UpdatedBy); err != nil {
		return "", err
	}
	readRule(v, &f)
	f.Parsed = f.Filter.filter()
	body := channel.RuleBody{ChannelID: f.Channel.ChannelID, RuleName: f.Name, Description: &f.About, Priority: &f.Priority}
	if f.Kind.Name == inhibits {
		return channelPath(v), saveInhibit(v, f, body)
	}
	t, err := tryFilter(v, f.Channel.ChannelID, f.Parsed)
	if err != nil {
		return "", err
	}
	if err := guard(v, t, f.Parsed); err != nil {
		return "", err
	}
	if f.Kind.Name == silences {
		return channelPath(v), saveSilence(v, f, body)
	}
	drop := channel.DropBody{RuleBody: body, Filters: f.Parsed}
	if f.ID == "" {
		return channelPath(v), page.Do[channel.RuleCreated](v, "/channel/unsubscribe/rule/create", drop)
	}
	request := channel.DropUpdate{RuleKey: channel.RuleKey{RuleID: f.ID}, DropBody: drop}
	return channelPath(v), page.Do[api.Warnings](v, "/channel/unsubscribe/rule/update", request)
}

func saveInhibit(v *page.Visit, f ruleForm, body channel.RuleBody) error {
	source := f.Source.filter()
	if len(source) == 0 || len(f.Parsed) == 0 {
		return page.Wrong(v.T("Name the alert that inhibits, and the alert that is inhibited."))
	}
	inhibit := channel.InhibitBody{
		RuleBody: body, SourceFilters: filter.Groups(source), TargetFilters: filter.Groups(f.Parsed), Equals: page.Commas(f.Equals),
		IsDirectlyDiscard: &f.Discard,
	}
	if f.ID == "" {
		return page.Do[channel.RuleCreated](v, "/channel/inhibit/rule/create", inhibit)
	}
	request := channel.InhibitUpdate{RuleKey: channel.RuleKey{RuleID: f.ID}, InhibitBody: inhibit}
	return page.Do[api.Warnings](v, "/channel/inhibit/rule/update", request)
}

func saveSilence(v *page.Visit, f ruleForm, body channel.RuleBody) error {
	silence := channel.SilenceBody{RuleBody: body, Filters: f.Parsed, IsDirectlyDiscard: &f.Discard}
	if err := addWindows(v, &silence, f); err != nil {
		return err
	}
	if f.ID == "" {
		return page.Do[channel.RuleCreated](v, "/channel/silence/rule/create", silence)
	}
	request := channel.SilenceUpdate{RuleKey: channel.RuleKey{RuleID: f.ID}, SilenceBody: silence}
	return page.Do[api.Warnings](v, "/channel/silence/rule/update", request)
}

// identity returns the identity of a rule, whether it is in force now or not.
func (r ruleRow) identity() string {
	r.Effective, r.Hit = nil, nil
	return page.Identity(r)
}
