package console

import (
	"cmp"
	"slices"
	"strconv"

	"tocsin/internal/auth"
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

// channelRow is what pages need of a channel.
type channelRow struct {
	ID          int64   `json:"channel_id"`
	Name        string  `json:"channel_name"`
	Description string  `json:"description"`
	Status      string  `json:"status"`
	TeamID      int64   `json:"team_id"`
	Managing    []int64 `json:"managing_team_ids"`
	Private     bool    `json:"is_private"`
	Starred     bool    `json:"is_starred"`
	Group       *struct {
		Method string     `json:"method"`
		Equals [][]string `json:"equals"`
		Window int64      `json:"time_window"`
	} `json:"group"`
	Flapping *flappingForm     `json:"flapping"`
	Reminder *channelReminders `json:"reminder"`
}

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
	Channels []channelRow
	Teams    map[int64]string
}

func showChannels(v *visit) (view, error) {
	d := channelsView{titled: titled(v.T("Channels")), Query: v.query("q"), pager: v.pager()}
	var reply struct {
		Items []channelRow `json:"items"`
		Total int64        `json:"total"`
		More  bool         `json:"has_next_page"`
	}
	err := v.call("/channel/list", map[string]any{"p": d.Page, "limit": perPage, "query": d.Query, "orderby": "channel_name",
		"asc": true}, &reply)
	if err != nil {
		return nil, err
	}
	d.Channels = reply.Items
	d.Total = reply.Total
	d.More = reply.More
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

func (v *visit) channel() (c channelRow, err error) {
	err = v.call("/channel/info", map[string]any{"channel_id": v.number()}, &c)
	return c, err
}

// ruleKind is one kind of the rules of a channel.
type ruleKind struct {
	Name  string // in addresses
	Op    string // what its operations begin with
	Title string
	Does  string // what its rules do, in words
}

var ruleKinds = []ruleKind{
	{"drops", "/channel/unsubscribe/rule/", "Drop rules", "A matching event is discarded. It leaves no alert."},
	{"silences", "/channel/silence/rule/", "Silence rules", "A matching alert is kept and notifies no one while the rule is in force."},
	{"inhibits", "/channel/inhibit/rule/", "Inhibit rules", "A matching alert notifies no one while another alert is active."},
}

// escalations is the kind of rules that name who is notified.
var escalations = ruleKind{Name: "escalations", Op: "/channel/escalate/rule/"}

// ruleRow is a rule of any kind in a list.
type ruleRow struct {
	ID          string            `json:"rule_id"`
	Name        string            `json:"rule_name"`
	Description string            `json:"description"`
	Status      string            `json:"status"`
	Priority    int64             `json:"priority"`
	UpdatedBy   int64             `json:"updated_by"`
	UpdatedAt   int64             `json:"updated_at"`
	Filters     filter.Filter     `json:"filters"`
	Source      filter.Written    `json:"source_filters"`
	Target      filter.Written    `json:"target_filters"`
	Equals      []string          `json:"equals"`
	Discard     bool              `json:"is_directly_discard"`
	AutoDelete  bool              `json:"is_auto_delete"`
	Effective   *bool             `json:"is_effective"`
	Once        *onceWindow       `json:"time_filter"`
	Windows     []recurring       `json:"time_filters"`
	Layers      []escalationLayer `json:"layers"`
	Hit         *ruleHit          `json:"-"`
}

// InForce reports whether a silence is in force now.
func (r ruleRow) InForce() bool { return r.Effective != nil && *r.Effective }

// onceWindow is when a silence that does not recur is in force.
type onceWindow struct {
	Start int64 `json:"start_time"`
	End   int64 `json:"end_time"`
}

// recurring is a window that recurs.
type recurring struct {
	Start  string `json:"start"`
	End    string `json:"end"`
	Repeat []int  `json:"repeat"`
	CalID  string `json:"cal_id,omitzero"`
	Off    bool   `json:"is_off,omitzero"`
}

// ruleHit is how many events a rule held back in the last week.
type ruleHit struct {
	RuleID    string `json:"rule_id"`
	RuleName  string `json:"rule_name"`
	Stage     string `json:"stage"`
	Events    int64  `json:"events"`
	LastAt    int64  `json:"last_at"`
	LastTitle string `json:"last_headline"`
}

// rulesOf is the rules of one kind.
type rulesOf struct {
	ruleKind
	Rules []ruleRow
}

type channelView struct {
	titled
	Channel   channelRow
	Teams     []team.Team // that own or manage it, with their members
	People    map[int64]profile
	Kinds     []rulesOf
	Escalates []ruleRow
	Unheld    bool      // no escalation rule is enabled
	Gone      []ruleHit // of rules that are deleted
	Complete  bool      // the hits cover the whole week
	May       bool
	Reads     bool // alerts, so that one can be tried
	Foresees  bool // who would be notified
}

func showChannel(v *visit) (view, error) {
	c, err := v.channel()
	if err != nil {
		return nil, err
	}
	d := channelView{titled: titled(c.Name), Channel: c, May: v.who.MayAny(manageChannels), Unheld: true,
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
	var hits struct {
		Items    []ruleHit `json:"items"`
		Complete bool      `json:"complete"`
	}
	if v.who.May(auth.ChannelsRead) {
		if err := v.call("/alert/rule/hits", map[string]any{"channel_id": d.Channel.ID}, &hits); err != nil {
			return err
		}
	}
	d.Complete = hits.Complete
	seen := map[string]bool{}
	for _, k := range ruleKinds {
		rules, err := v.rules(k, d.Channel.ID)
		if err != nil {
			return err
		}
		for i := range rules {
			at := slices.IndexFunc(hits.Items, func(h ruleHit) bool { return h.RuleID == rules[i].ID })
			seen[rules[i].ID] = true
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
	d.Escalates, err = v.rules(escalations, d.Channel.ID)
	return err
}

// members fills in the teams of the channel and their members.
func (d *channelView) members(v *visit) error {
	var ids []int64
	for _, id := range append([]int64{d.Channel.TeamID}, d.Channel.Managing...) {
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
func (v *visit) rules(k ruleKind, channel int64) ([]ruleRow, error) {
	var reply struct {
		Items []ruleRow `json:"items"`
	}
	err := v.call(k.Op+"list", map[string]any{"channel_id": channel}, &reply)
	return reply.Items, err
}

// channelPath returns the address of the channel of the address.
func (v *visit) channelPath() string { return "/channels/" + strconv.FormatInt(v.number(), 10) }

// setChannelStatus enables, disables or deletes the channel.
func setChannelStatus(v *visit) (string, error) {
	to := v.r.PathValue("to")
	if !slices.Contains([]string{"enable", "disable", "delete", "star", "unstar"}, to) {
		return "", notHere(v)
	}
	next := v.channelPath()
	if to == "delete" {
		next = "/channels"
	}
	return next, v.call("/channel/"+to, map[string]any{"channel_id": v.number()}, nil)
}

// setRuleStatus enables, disables or deletes a rule of any kind.
func setRuleStatus(v *visit) (string, error) {
	to, kind := v.r.PathValue("to"), v.r.PathValue("kind")
	i := slices.IndexFunc(ruleKinds, func(k ruleKind) bool { return k.Name == kind })
	if !slices.Contains([]string{"enable", "disable", "delete"}, to) || i < 0 && kind != escalations.Name {
		return "", notHere(v)
	}
	of := escalations
	if i >= 0 {
		of = ruleKinds[i]
	}
	return v.channelPath(), v.call(of.Op+to, map[string]any{"channel_id": v.number(), "rule_id": v.r.PathValue("rule")}, nil)
}

// formNumber returns a number of the form; 0 when it is none.
func formNumber(v *visit, name string) int64 {
	n, _ := strconv.ParseInt(cmp.Or(v.field(name), "0"), 10, 64)
	return n
}
