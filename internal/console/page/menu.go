package page

import (
	"cmp"
	"slices"
	"strings"

	"tocsin/internal/auth"
)

// section is pages that stand together: an entry of the menu, or a group under one.
type section struct {
	Name       string // the Tab of its pages
	Text, Icon string
	Key        string // goes there after g; empty: none
	Under      string // the section that has it in its own page; empty: it is in the menu
	entries    []entry
}

// entry is a page that a section leads to.
type entry struct {
	Path, Text, About string
	Needs             Rights // without one of them the page shows nothing; none: it is for everyone
}

// The sections that are not in the menu: others are under the first, and the second is the visitor's own.
const (
	setUp = "setup"
	own   = "me"
)

// readStatusPages is who is led to status pages: anyone may read them, and few need to.
var readStatusPages = Rights{auth.IncidentsRead, auth.StatusPagesManage, auth.StatusPageEventsManage}

var sections = []section{
	{"now", "Now", "house", "n", "", []entry{{"/", "Now", "", nil}}},
	{"incidents", "Incidents", "siren", "i", "", []entry{
		{"/incidents", "Incidents", "", Rights{auth.IncidentsRead}}, {"/status-pages", "Status pages", "", readStatusPages},
	}},
	{"alerts", "Alerts", "bell-ring", "a", "", []entry{
		{"/alerts", "Alerts", "", Rights{auth.ChannelsRead}},
		{"/untold", "Nobody was told", "", Rights{auth.IncidentsRead}},
		{"/rum", "Browser and app errors", "", nil},
	}},
	{"schedules", "On call", "calendar-range", "o", "", []entry{
		{"/schedules", "Schedules", "", nil}, {"/calendar-feeds", "Calendar feeds", "", ReadSchedules},
	}},
	{"rules", "Rules", "list-filter", "r", "", []entry{
		{"/rules", "Rules", "", ReadRules}, {"/datasources", "Datasources", "", Rights{auth.DatasourcesRead}},
		{"/edges", "Edges", "", Rights{auth.AlertingEnginesRead}},
	}},
	{"channels", "Channels", "layers", "c", "", []entry{{"/channels", "Channels", "", nil}}},
	{"insight", "Insight", "activity", "t", "", []entry{{"/insight", "Insight", "", Rights{auth.IncidentsRead}}}},
	{setUp, "Set up", "globe", "s", "", []entry{{"/setup", "Set up", "", nil}}},
	{"sources", "Sources", "", "", setUp, []entry{
		{"/integrations", "Integrations", "What sends alerts, and with which key.", Rights{auth.IntegrationsRead}},
	}},
	{"messages", "Messages out", "", "", setUp, []entry{
		{"/deliveries", "Webhooks", "What was sent to other programs, and what failed.", Rights{auth.IntegrationsRead}},
		{"/endpoints", "Endpoints", "Where webhooks go, and what waits for them.", Rights{auth.IntegrationsRead}},
		{"/chat-apps", "Chat apps", "Slack, Feishu, DingTalk, WeCom and Teams: war rooms and messages.", Rights{auth.IntegrationsRead}},
		{"/templates", "Message templates", "The text of e-mails, chats, calls and text messages.", Rights{auth.TemplatesRead}},
	}},
	{"people", "People", "", "", setUp, []entry{
		{"/people", "People", "Who is here, and how they are reached.", nil}, {"/teams", "Teams", "Who owns channels and schedules.", nil},
		{"/roles", "Roles", "Who may do what.", nil},
		{"/audit", "Audit", "Who changed what, and when.", Rights{auth.AuditRead}},
	}},
	{"account", "Account", "", "", setUp, []entry{
		{checkup, "Configuration check", "What would go wrong at the next alert.", ReadLint},
		{"/account", "Account", "Its name and time zone, and who is told if nobody else is.", nil},
		{"/health/server", "Server health", "Disk, queues, and whether messages leave in time.", Rights{auth.AuditRead}},
		{"/calendars", "Calendars", "Working days and holidays.", nil}, {"/fields", "Custom fields", "Custom fields of incidents.", nil},
	}},
	{own, "My settings", "", "", own, []entry{
		{"/me", "My settings", "", nil}, {"/me/security", "Sign-in", "", nil}, {"/me/sessions", "Sessions", "", nil},
		{"/keys", "App keys", "", nil},
	}},
}

// Tab is an entry of a menu.
type Tab struct {
	Path, Text, About, Icon string
	Key                     string
	Here                    bool
	Problems                int64 // of the worst kind, in what it leads to
}

// Group is entries with a heading.
type Group struct {
	Name, Text string
	Tabs       []Tab
}

// open returns the entries of a section that the visitor may open.
func (v *Visit) open(s section) (mine []entry) {
	for _, e := range s.entries {
		if v.Who.MayAny(e.Needs) {
			mine = append(mine, e)
		}
	}
	return mine
}

// Bar returns the entries of the menu that the visitor may open.
func (s *screen) Bar() (tabs []Tab) {
	at := s.section()
	for _, one := range sections {
		if mine := s.open(one); one.Under == "" && len(mine) > 0 {
			t := Tab{Path: mine[0].Path, Text: s.T(one.Text), Icon: one.Icon, Key: one.Key, Here: one.Name == cmp.Or(at.Under, at.Name)}
			if one.Name == setUp {
				t.Problems = s.Worst()
			}
			tabs = append(tabs, t)
		}
	}
	return tabs
}

// Dock returns the entries at the bottom of a narrow screen, where a thumb reaches them.
func (s *screen) Dock() []Tab {
	all := s.Bar()
	return all[:min(docked, len(all))]
}

// Rest returns the entries that are not there.
func (s *screen) Rest() []Tab {
	all := s.Bar()
	return all[min(docked, len(all)):]
}

// docked is how many entries have room at the bottom of a narrow screen, and in the bar of one that is not wide.
const docked = 4

// section returns the section of the page.
func (s *screen) section() section {
	i := slices.IndexFunc(sections, func(one section) bool { return one.Name == s.Tab })
	if i < 0 {
		return section{}
	}
	return sections[i]
}

// Beside returns the pages that stand beside this one in its section; none, when it is alone.
func (s *screen) Beside() Group {
	at := s.section()
	g := Group{at.Name, s.T(at.Text), s.tabs(at)}
	if len(g.Tabs) < 2 && at.Under != setUp {
		return Group{}
	}
	return g
}

// InSetUp reports whether the section of the page is a part of the page Set up.
func (s *screen) InSetUp() bool { return s.section().Under == setUp }

// Own reports whether the page is one of the visitor's own.
func (s *screen) Own() bool { return s.Tab == own }

// SetUp returns what is set up seldom, in groups.
func (v *Visit) SetUp() (all []Group) {
	for _, one := range sections {
		if tabs := v.tabs(one); one.Under == setUp && len(tabs) > 0 {
			all = append(all, Group{one.Name, v.T(one.Text), tabs})
		}
	}
	return all
}

// Entries returns the entries of all sections that the visitor may open and that have a text in their name, in English too.
func (v *Visit) Entries(text string) (all []Tab) {
	has := func(name string) bool { return strings.Contains(strings.ToLower(name), strings.ToLower(text)) }
	for _, s := range sections {
		for i, t := range v.tabs(s) {
			if has(t.Text) || has(v.open(s)[i].Text) {
				all = append(all, t)
			}
		}
	}
	return all
}

// tabs returns the entries of a section that the visitor may open.
func (v *Visit) tabs(s section) []Tab {
	mine := v.open(s)
	tabs := make([]Tab, len(mine))
	at, longest := v.Request.URL.Path, -1
	for i, e := range mine {
		tabs[i] = Tab{Path: e.Path, Text: v.T(e.Text)}
		if e.About != "" {
			tabs[i].About = v.T(e.About)
		}
		if e.Path == checkup {
			tabs[i].Problems = v.Worst()
		}
		if (at == e.Path || strings.HasPrefix(at, e.Path+"/")) && (longest < 0 || len(e.Path) > len(mine[longest].Path)) {
			longest = i
		}
	}
	if longest >= 0 {
		tabs[longest].Here = true
	}
	return tabs
}
