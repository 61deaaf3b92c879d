package console

// tab is an entry of the menu.
type tab struct {
	Name, Path, Text, Icon string
	Key                    string // goes there after g; empty: none
}

var tabs = []tab{
	{"now", "/", "Now", "house", "n"},
	{"incidents", "/incidents", "Incidents", "siren", "i"},
	{"schedules", "/schedules", "Schedules", "calendar-range", "s"},
	{"alerts", "/alerts", "Alerts", "bell-ring", "a"},
	{"channels", "/channels", "Channels", "layers", "c"},
	{"integrations", "/integrations", "Integrations", "webhook", ""},
	{"people", "/people", "People", "users", "p"},
	{"deliveries", "/deliveries", "Webhooks", "webhook", "w"},
	{"insight", "/insight", "Insight", "activity", ""},
	{"configuration", "/configuration", "Configuration", "layers", ""},
}

// Tabs returns the entries of the menu.
func (v *visit) Tabs() []tab { return tabs }

// Dock returns the entries at the bottom of a narrow screen, where a thumb reaches them.
func (v *visit) Dock() []tab { return tabs[:docked] }

// Rest returns the entries of the menu that are not there.
func (v *visit) Rest() []tab { return tabs[docked:] }

// docked is how many entries have room at the bottom of a narrow screen.
const docked = 4
