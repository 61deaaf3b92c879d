package console

import (
	"cmp"
	"slices"
	"strconv"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/filter"
	"tocsin/internal/team"
)

var channelPages = []page{
	{path: "/channels", template: "channels", tab: "channels", show: showChannels},
	{path: "/channels/new", template: "channel_edit", tab: "channels", show: editChannel, needs: manageChannels},
	{path: "/channels/{id}", template: "channel", tab: "channels", show: showChannel},
	{path: "/channels/{id}/edit", template: "channel_edit", tab: "channels", show: editChannel, needs: manageChannels},
	{path: "/channels/{id}/test", template: "channel_test", tab: "channels", show: showTester},
	{path: "/channels/{id}/ladder", template: "channel_ladder", tab: "channels", show: showLadder},
	{path: "/channels/{id}/rules/{kind}/{rule}", template: "channel_rule", tab: "channels", show: showRule},
	{path: "/channels/{id}/escalations/{rule}", template: "channel_escalation", tab: "channels", show: showEscalation},
}

var channelActions = []action{
	{path: "/channels/new", do: saveChannel, show: editChannel, page: "channel_edit", needs: manageChannels},
	{path: "/channels/{id}/edit", do: saveChannel, show: editChannel, page: "channel_edit", needs: manageChannels},
	{path: "/channels/{id}/test", do: tryAlert, show: showTester, page: "channel_test"},
	{path: "/channels/{id}/status/{to}", do: setChannelStatus, show: showChannel, page: "channel"},
	{path: "/channels/{id}/rules/{kind}/{rule}", do: saveRule, show: showRule, page: "channel_rule", needs: manageChannels},
	{path: "/channels/{id}/rules/{kind}/{rule}/{to}", do: setRuleStatus, show: showChannel, page: "channel", needs: manageChannels},
	{path: "/channels/{id}/escalations/{rule}", do: saveEscalation, show: showEscalation, page: "channel_escalation", needs: manageChannels},
}

// manageChannels is the permission that the forms of channels need.
var manageChannels = rights{auth.ChannelsManage}

// pager is where a list is.
type pager struct {
	Page, Total int64
	More        bool
	Base        string // the address of a page, but for its number
}

// Prev and Following return the numbers of the pages beside this one.
func (p pager) Prev() int64      { return p.Page - 1 }
func (p pager) Following() int64 { return p.Page + 1 }

const perPage = 50

// pager returns the page of a list that the address asks for.
func (v *visit) pager() pager {
	p := pager{Page: 1}
	if n, err := strconv.ParseInt(v.query("p"), 10, 32); err == nil && n > 0 {
		p.Page = n
	}
	query := v.r.URL.Query()
	query.Del("p")
	p.Base = v.r.URL.Path + "?" + query.Encode() + "&p="
	return p
}

type channelsView struct {
	titled
	pager
	Query    string
	Channels []channel.Shown
	Teams    map[int64]string
}

func showChannels(v *visit) (view, error) {
	d := channelsView{titled: titled(v.T("Channels")), Query: v.query("q"), pager: v.pager()}
	request := channel.ListRequest{Query: d.Query, OrderBy: "channel_name", Asc: true}
	request.P, request.Limit = d.Page, perPage
	reply, err := call[api.CursorPage[channel.Shown]](v, "/channel/list", request)
	if err != nil {
		return nil, err
	}
	d.Channels = reply.Items
	d.Total = reply.Total
	d.More = reply.HasNextPage
	var ids []int64
	for _, c := range d.Channels {
		ids = append(ids, c.TeamID)
	}
	d.Teams, err = v.teamNames(ids)
	return d, err
}

// number returns the identifier of the address; 0 when it is no number.
func (v *visit) number() int64 {
	n, _ := strconv.ParseInt(v.r.PathValue("id"), 10, 64)
	return n
}

func (v *visit) channel() (channel.Shown, error) {
	return call[channel.Shown](v, "/channel/info", channel.OneRequest{ChannelID: v.number()})
}

// ruleKind is one kind of the rules of a channel.
type ruleKind struct {
	Name  string // in addresses
	Title string
	Does  string // what its rules do, in words
}

// The kinds of rules, as addresses name them.
const drops, silences, inhibits, escalations = "drops", "silences", "inhibits", "escalations"

var ruleKinds = []ruleKind{
	{drops, "Drop rules", "A matching event is discarded. It leaves no alert."},
	{silences, "Silence rules", "A matching alert is kept and notifies no one while the rule is in force."},
	{inhibits, "Inhibit rules", "A matching alert notifies no one while another alert is active."},
}

// ruleRow is a rule of any kind in a list.
type ruleRow struct {
	channel.Rule
	Filters    filter.Filter
	Source     filter.Written
	Target     filter.Written
	Equals     []string
	Discard    bool
	AutoDelete bool
	Effective  *bool
	Once       *channel.OnceTimeFilter
	Windows    []channel.TimeFilter
	Layers     []channel.Layer
	Hit        *alert.Hit
}

// InForce reports whether a silence is in force now.
func (r ruleRow) InForce() bool { return r.Effective != nil && *r.Effective }

// rulesOf is the rules of one kind.
type rulesOf struct {
	ruleKind
	Rules []ruleRow
}

type channelView struct {
	titled
	Channel   channel.Shown
	Teams     []team.Team // that own or manage it, with their members
	People    map[int64]profile
	Kinds     []rulesOf
	Escalates []ruleRow
	Unheld    bool        // no escalation rule is enabled
	Gone      []alert.Hit // of rules that are deleted
	Complete  bool        // the hits cover the whole week
	May       bool
	Reads     bool // alerts, so that one can be tried
	Foresees  bool // who would be notified
}

func showChannel(v *visit) (view, error) {
	c, err := v.channel()
	if err != nil {
		return nil, err
	}
	d := channelView{titled: titled(c.ChannelName), Channel: c, May: v.who.MayAny(manageChannels), Unheld: true,
		Reads: v.who.May(auth.ChannelsRead), Foresees: v.who.May(auth.IncidentsRead)}
	if err := d.rules(v); err != nil {
		return nil, err
	}
	for _, r := range d.Escalates {
		d.Unheld = d.Unheld && r.Status != "enabled"
	}
	return d, d.members(v)
}

// rules fills in the rules of all kinds with what they held back.
func (d *channelView) rules(v *visit) error {
	var hits alert.Hits
	if v.who.May(auth.ChannelsRead) {
		var err error
		hits, err = call[alert.Hits](v, "/alert/rule/hits", alert.HitsRequest{ChannelID: d.Channel.ChannelID})
		if err != nil {
			return err
		}
	}
	d.Complete = hits.Complete
	seen := map[string]bool{}
	for _, k := range ruleKinds {
		rules, err := v.rules(k.Name, d.Channel.ChannelID)
		if err != nil {
			return err
		}
		for i := range rules {
			at := slices.IndexFunc(hits.Items, func(h alert.Hit) bool { return h.RuleID == rules[i].RuleID })
			seen[rules[i].RuleID] = true
			if at >= 0 {
				rules[i].Hit = &hits.Items[at]
			}
		}
		d.Kinds = append(d.Kinds, rulesOf{k, rules})
	}
	for _, h := range hits.Items {
		if !seen[h.RuleID] {
			d.Gone = append(d.Gone, h)
		}
	}
	var err error
	d.Escalates, err = v.rules(escalations, d.Channel.ChannelID)
	return err
}

// members fills in the teams of the channel and their members.
func (d *channelView) members(v *visit) error {
	var ids []int64
	for _, id := range append([]int64{d.Channel.TeamID}, d.Channel.ManagingTeamIDs...) {
		if id == 0 {
			continue
		}
		t, err := call[team.Team](v, "/team/info", team.Named{TeamID: id})
		if err != nil {
			continue // deleted, or not for this person: the rest of the page is worth showing
		}
		d.Teams = append(d.Teams, t)
		ids = append(ids, t.PersonIDs...)
	}
	var err error
	d.People, err = v.people(slices.Compact(slices.Sorted(slices.Values(ids))))
	return err
}

// rules returns the rules of a kind in the order in which they are evaluated.
func (v *visit) rules(kind string, of int64) ([]ruleRow, error) {
	request := channel.RulesRequest{ChannelID: of}
	switch kind {
	case drops:
		reply, err := call[channel.RulePage[channel.DropRule]](v, "/channel/unsubscribe/rule/list", request)
		return rowsOf(reply.Items, func(r channel.DropRule) ruleRow { return ruleRow{Rule: r.Rule, Filters: r.Filters} }), err
	case silences:
		reply, err := call[channel.RulePage[channel.SilenceRule]](v, "/channel/silence/rule/list", request)
		return rowsOf(reply.Items, silenceRow), err
	case inhibits:
		reply, err := call[channel.RulePage[channel.InhibitRule]](v, "/channel/inhibit/rule/list", request)
		return rowsOf(reply.Items, func(r channel.InhibitRule) ruleRow {
			return ruleRow{Rule: r.Rule, Source: r.SourceFilters, Target: r.TargetFilters, Equals: r.Equals, Discard: r.IsDirectlyDiscard}
		}), err
	}
	reply, err := call[channel.RulePage[channel.EscalateRule]](v, "/channel/escalate/rule/list", request)
	return rowsOf(reply.Items, func(r channel.EscalateRule) ruleRow {
		return ruleRow{Rule: r.Rule, Filters: r.Filters, Layers: r.Layers}
	}), err
}

func silenceRow(r channel.SilenceRule) ruleRow {
	return ruleRow{
		Rule: r.Rule, Filters: r.Filters, Discard: r.IsDirectlyDiscard, AutoDelete: r.IsAutoDelete, Effective: r.IsEffective,
		Once: r.TimeFilter, Windows: r.TimeFilters,
	}
}

func rowsOf[T any](list []T, row func(T) ruleRow) (rows []ruleRow) {
	for _, r := range list {
		rows = append(rows, row(r))
	}
	return rows
}

// channelPath returns the address of the channel of the address.
func (v *visit) channelPath() string { return "/channels/" + strconv.FormatInt(v.number(), 10) }

// setChannelStatus enables, disables, deletes, marks or unmarks the channel.
func setChannelStatus(v *visit) (string, error) {
	one := channel.OneRequest{ChannelID: v.number()}
	next := v.channelPath()
	switch v.r.PathValue("to") {
	case "enable":
		return next, do[api.Empty](v, "/channel/enable", one)
	case "disable":
		return next, do[api.Empty](v, "/channel/disable", one)
	case "star":
		return next, do[api.Empty](v, "/channel/star", one)
	case "unstar":
		return next, do[api.Empty](v, "/channel/unstar", one)
	case "delete":
		return "/channels", do[api.Removal](v, "/channel/delete", channel.DeleteRequest{OneRequest: one})
	}
	return "", notHere(v)
}

// setRuleStatus enables, disables or deletes a rule of any kind.
func setRuleStatus(v *visit) (string, error) {
	one := channel.RuleRequest{ChannelID: v.number(), RuleID: v.r.PathValue("rule")}
	gone := channel.RuleDelete{RuleRequest: one}
	next := v.channelPath()
	switch v.r.PathValue("kind") + " " + v.r.PathValue("to") {
	case drops + " enable":
		return next, do[api.Empty](v, "/channel/unsubscribe/rule/enable", one)
	case drops + " disable":
		return next, do[api.Empty](v, "/channel/unsubscribe/rule/disable", one)
	case drops + " delete":
		return next, do[api.Removal](v, "/channel/unsubscribe/rule/delete", gone)
	case silences + " enable":
		return next, do[api.Empty](v, "/channel/silence/rule/enable", one)
	case silences + " disable":
		return next, do[api.Empty](v, "/channel/silence/rule/disable", one)
	case silences + " delete":
		return next, do[api.Removal](v, "/channel/silence/rule/delete", gone)
	case inhibits + " enable":
		return next, do[api.Empty](v, "/channel/inhibit/rule/enable", one)
	case inhibits + " disable":
		return next, do[api.Empty](v, "/channel/inhibit/rule/disable", one)
	case inhibits + " delete":
		return next, do[api.Removal](v, "/channel/inhibit/rule/delete", gone)
	case escalations + " enable":
		return next, do[api.Empty](v, "/channel/escalate/rule/enable", one)
	case escalations + " disable":
		return next, do[api.Warnings](v, "/channel/escalate/rule/disable", one)
	case escalations + " delete":
		return next, do[api.Removal](v, "/channel/escalate/rule/delete", gone)
	}
	return "", notHere(v)
}

// formNumber returns a number of the form; 0 when it is none.
func formNumber(v *visit, name string) int64 {
	n, _ := strconv.ParseInt(cmp.Or(v.field(name), "0"), 10, 64)
	return n
}
