package page

import "tocsin/internal/auth"

// tab is an entry of the menu.
type tab struct {
	Name, Path, Text, Icon string
	Key                    string // goes there after g; empty: none
	needs                  Rights // without one of them the page shows nothing; none: it is for everyone
}

var tabs = []tab{
	{"now", "/", "Now", "house", "n", nil},
	{"incidents", "/incidents", "Incidents", "siren", "i", Rights{auth.IncidentsRead}},
	{"schedules", "/schedules", "Schedules", "calendar-range", "s", nil},
	{"alerts", "/alerts", "Alerts", "bell-ring", "a", Rights{auth.ChannelsRead}},
	{"rules", "/rules", "Rules", "list-filter", "r", ReadRules},
	{"channels", "/channels", "Channels", "layers", "c", nil},
	{"integrations", "/integrations", "Integrations", "webhook", "", Rights{auth.IntegrationsRead}},
	{"people", "/people", "People", "users", "p", nil},
	{"deliveries", "/deliveries", "Webhooks", "webhook", "w", Rights{auth.IntegrationsRead}},
	{"insight", "/insight", "Insight", "activity", "", Rights{auth.IncidentsRead}},
	{"configuration", "/configuration", "Configuration", "layers", "", nil},
}

// Tabs returns the entries of the menu that the visitor may open.
func (v *Visit) Tabs() (mine []tab) {
	for _, t := range tabs {
		if v.Who.MayAny(t.needs) {
			mine = append(mine, t)
		}
	}
	return mine
}

// Dock returns the entries at the bottom of a narrow screen, where a thumb reaches them.
func (v *Visit) Dock() []tab {
	mine := v.Tabs()
	return mine[:min(docked, len(mine))]
}

// Rest returns the entries of the menu that are not there.
func (v *Visit) Rest() []tab {
	mine := v.Tabs()
	return mine[min(docked, len(mine)):]
}

// docked is how many entries have room at the bottom of a narrow screen.
const docked = 4
