package channel

import (
	"slices"
	"strconv"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/console/page"
	"tocsin/internal/core/filter"
	"tocsin/internal/team"
)

var channelPages = []page.Page{
	{Path: "/channels", Template: "channels", Tab: "channels", Show: showChannels},
	{Path: "/channels/new", Template: "channel_edit", Tab: "channels", Show: editChannel, Needs: manageChannels},
	{Path: "/channels/{id}", Template: "channel", Tab: "channels", Show: showChannel},
	{Path: "/channels/{id}/edit", Template: "channel_edit", Tab: "channels", Show: editChannel, Needs: manageChannels},
	{Path: "/channels/{id}/test", Template: "channel_test", Tab: "channels", Show: showTester},
	{Path: "/channels/{id}/ladder", Template: "channel_ladder", Tab: "channels", Show: showLadder},
	{Path: "/channels/{id}/rules/{kind}/{rule}", Template: "channel_rule", Tab: "channels", Show: showRule},
	{Path: "/channels/{id}/escalations/{rule}", Template: "channel_escalation", Tab: "channels", Show: showEscalation},
}

var channelActions = []page.Action{
	{Path: "/channels/new", Do: saveChannel, Show: editChannel, Template: "channel_edit", Needs: manageChannels},
	{Path: "/channels/{id}/edit", Do: saveChannel, Show: editChannel, Template: "channel_edit", Needs: manageChannels},
	{Path: "/channels/{id}/test", Do: tryAlert, Show: showTester, Template: "channel_test"},
	{Path: "/channels/{id}/status/{to}", Do: setChannelStatus, Show: showChannel, Template: "channel"},
	{Path: "/channels/{id}/rules/{kind}/{rule}", Do: saveRule, Show: showRule, Template: "channel_rule", Needs: manageChannels},
	{Path: "/channels/{id}/rules/{kind}/{rule}/{to}", Do: setRuleStatus, Show: showChannel, Template: "channel", Needs: manageChannels},
	{Path: "/channels/{id}/escalations/{rule}", Do: saveEscalation, Show: showEscalation, Template: "channel_escalation",
		Needs: manageChannels},
}

// manageChannels is the permission that the forms of channels need.
var manageChannels = page.Rights{auth.ChannelsManage}

type channelsView struct {
	page.Titled
	page.Pager
	Query    string
	Channels []channel.Shown
	Teams    map[int64]string
}

func showChannels(v *page.Visit) (page.View, error) {
	d := channelsView{Titled: page.Titled(v.T("Channels")), Query: v.Query("q"), Pager: v.Pager()}
	request := channel.ListRequest{Query: d.Query, OrderBy: "channel_name", Asc: true}
	request.P, request.Limit = d.Page, page.PageSize
	reply, err := page.Call[api.CursorPage[channel.Shown]](v, "/channel/list", request)
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
	d.Teams, err = v.TeamNames(ids)
	return d, err
}

func storedChannel(v *page.Visit) (channel.Shown, error) {
	return page.Call[channel.Shown](v, "/channel/info", channel.OneRequest{ChannelID: v.ID()})
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
	{silences, "Silence rules", "A matching alert is kept and notifies nobody while the rule is active."},
	{inhibits, "Inhibit rules", "A matching alert notifies nobody while another alert is active."},
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
	page.Titled
	Channel   channel.Shown
	Teams     []team.Team // that own or manage it, with their members
	People    map[int64]page.Person
	Kinds     []rulesOf
	Escalates []ruleRow
	Unheld    bool        // no escalation rule is enabled
	Gone      []alert.Hit // of rules that are deleted
	Complete  bool        // the hits cover the whole week
	May       bool
	Reads     bool // alerts, so that one can be tried
	Foresees  bool // who would be notified
}

func showChannel(v *page.Visit) (page.View, error) {
	c, err := storedChannel(v)
	if err != nil {
		return nil, err
	}
	d := channelView{Titled: page.Titled(c.ChannelName), Channel: c, May: v.Who.MayAny(manageChannels), Unheld: true,
		Reads: v.Who.May(auth.ChannelsRead), Foresees: v.Who.May(auth.IncidentsRead)}
	if err := d.rules(v); err != nil {
		return nil, err
	}
	for _, r := range d.Escalates {
		d.Unheld = d.Unheld && r.Status != "enabled"
	}
	return d, d.members(v)
}

// rules fills in the rules of all kinds with what they held back.
func (d *channelView) rules(v *page.Visit) error {
	var hits alert.Hits
	if v.Who.May(auth.ChannelsRead) {
		var err error
		hits, err = page.Call[alert.Hits](v, "/alert/rule/hits", alert.HitsRequest{ChannelID: d.Channel.ChannelID})
		if err != nil {
			return err
		}
	}
	d.Complete = hits.Complete
	seen := map[string]bool{}
	for _, k := range ruleKinds {
		rules, err := rules(v, k.Name, d.Channel.ChannelID)
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
	d.Escalates, err = rules(v, escalations, d.Channel.ChannelID)
	return err
}

// members fills in the teams of the channel and their members.
func (d *channelView) members(v *page.Visit) error {
	var ids []int64
	for _, id := range append([]int64{d.Channel.TeamID}, d.Channel.ManagingTeamIDs...) {
		if id == 0 {
			continue
		}
		t, err := page.Call[team.Team](v, "/team/info", team.Named{TeamID: id})
		if err != nil {
			continue // deleted, or not for this person: the rest of the page is worth showing
		}
		d.Teams = append(d.Teams, t)
		ids = append(ids, t.PersonIDs...)
	}
	var err error
	d.People, err = v.People(slices.Compact(slices.Sorted(slices.Values(ids))))
	return err
}

// rules returns the rules of a kind in the order in which they are evaluated.
func rules(v *page.Visit, kind string, of int64) ([]ruleRow, error) {
	request := channel.RulesRequest{ChannelID: of}
	switch kind {
	case drops:
		reply, err := page.Call[channel.RulePage[channel.DropRule]](v, "/channel/unsubscribe/rule/list", request)
		return rowsOf(reply.Items, func(r channel.DropRule) ruleRow { return ruleRow{Rule: r.Rule, Filters: r.Filters} }), err
	case silences:
		reply, err := page.Call[channel.RulePage[channel.SilenceRule]](v, "/channel/silence/rule/list", request)
		return rowsOf(reply.Items, silenceRow), err
	case inhibits:
		reply, err := page.Call[channel.RulePage[channel.InhibitRule]](v, "/channel/inhibit/rule/list", request)
		return rowsOf(reply.Items, func(r channel.InhibitRule) ruleRow {
			return ruleRow{Rule: r.Rule, Source: r.SourceFilters, Target: r.TargetFilters, Equals: r.Equals, Discard: r.IsDirectlyDiscard}
		}), err
	}
	reply, err := page.Call[channel.RulePage[channel.EscalateRule]](v, "/channel/escalate/rule/list", request)
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
func channelPath(v *page.Visit) string { return "/channels/" + strconv.FormatInt(v.ID(), 10) }

// setChannelStatus enables, disables, deletes, marks or unmarks the channel.
func setChannelStatus(v *page.Visit) (string, error) {
	one := channel.OneRequest{ChannelID: v.ID()}
	next := channelPath(v)
	switch v.Request.PathValue("to") {
	case "enable":
		return next, page.Do[api.Empty](v, "/channel/enable", one)
	case "disable":
		return next, page.Do[api.Empty](v, "/channel/disable", one)
	case "star":
		return next, page.Do[api.Empty](v, "/channel/star", one)
	case "unstar":
		return next, page.Do[api.Empty](v, "/channel/unstar", one)
	case "delete":
		return "/channels", page.Do[api.Removal](v, "/channel/delete", channel.DeleteRequest{OneRequest: one})
	}
	return "", page.NotHere(v)
}

// setRuleStatus enables, disables or deletes a rule of any kind.
func setRuleStatus(v *page.Visit) (string, error) {
	one := channel.RuleRequest{ChannelID: v.ID(), RuleID: v.Request.PathValue("rule")}
	gone := channel.RuleDelete{RuleRequest: one}
	next := channelPath(v)
	switch v.Request.PathValue("kind") + " " + v.Request.PathValue("to") {
	case drops + " enable":
		return next, page.Do[api.Empty](v, "/channel/unsubscribe/rule/enable", one)
	case drops + " disable":
		return next, page.Do[api.Empty](v, "/channel/unsubscribe/rule/disable", one)
	case drops + " delete":
		return next, page.Do[api.Removal](v, "/channel/unsubscribe/rule/delete", gone)
	case silences + " enable":
		return next, page.Do[api.Empty](v, "/channel/silence/rule/enable", one)
	case silences + " disable":
		return next, page.Do[api.Empty](v, "/channel/silence/rule/disable", one)
	case silences + " delete":
		return next, page.Do[api.Removal](v, "/channel/silence/rule/delete", gone)
	case inhibits + " enable":
		return next, page.Do[api.Empty](v, "/channel/inhibit/rule/enable", one)
	case inhibits + " disable":
		return next, page.Do[api.Empty](v, "/channel/inhibit/rule/disable", one)
	case inhibits + " delete":
		return next, page.Do[api.Removal](v, "/channel/inhibit/rule/delete", gone)
	case escalations + " enable":
		return next, page.Do[api.Empty](v, "/channel/escalate/rule/enable", one)
	case escalations + " disable":
		return next, page.Do[api.Warnings](v, "/channel/escalate/rule/disable", one)
	case escalations + " delete":
		return next, page.Do[api.Removal](v, "/channel/escalate/rule/delete", gone)
	}
	return "", page.NotHere(v)
}
