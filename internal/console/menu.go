package console

// tab is an entry of the menu.
type tab struct {
	Name, Path, Text, Icon string
	Key                    string // goes there after g; empty: none
	needs                  string // a permission, without which the page shows nothing; empty: it is for everyone
}

var tabs = []tab{
	{"now", "/", "Now", "house", "n", ""},
	{"incidents", "/incidents", "Incidents", "siren", "i", "Incidents Read (on-call)"},
	{"schedules", "/schedules", "Schedules", "calendar-range", "s", ""},
	{"alerts", "/alerts", "Alerts", "bell-ring", "a", "Channels Read (on-call)"},
	{"channels", "/channels", "Channels", "layers", "c", ""},
	{"integrations", "/integrations", "Integrations", "webhook", "", "Integrations Read (on-call)"},
	{"people", "/people", "People", "users", "p", ""},
	{"deliveries", "/deliveries", "Webhooks", "webhook", "w", "Integrations Read (on-call)"},
	{"insight", "/insight", "Insight", "activity", "", "Incidents Read (on-call)"},
	{"configuration", "/configuration", "Configuration", "layers", "", ""},
}

// Tabs returns the entries of the menu that the visitor may open.
func (v *visit) Tabs() (mine []tab) {
	for _, t := range tabs {
		if v.need(t.needs) == nil {
			mine = append(mine, t)
		}
	}
	return mine
}

// Dock returns the entries at the bottom of a narrow screen, where a thumb reaches them.
func (v *visit) Dock() []tab {
	mine := v.Tabs()
	return mine[:min(docked, len(mine))]
}

// Rest returns the entries of the menu that are not there.
func (v *visit) Rest() []tab {
	mine := v.Tabs()
	return mine[min(docked, len(mine)):]
}

// docked is how many entries have room at the bottom of a narrow screen.
const docked = 4
