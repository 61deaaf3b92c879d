package console

// tab is an entry of the menu.
type tab struct {
	Name, Path, Text, Icon string
}

var tabs = []tab{
	{"now", "/", "Now", "house"},
	{"incidents", "/incidents", "Incidents", "siren"},
	{"people", "/people", "People", "users"},
	{"deliveries", "/deliveries", "Webhooks", "webhook"},
}

// Tabs returns the entries of the menu.
func (v *visit) Tabs() []tab { return tabs }

// Dock returns the entries at the bottom of a narrow screen, where a thumb reaches them.
func (v *visit) Dock() []tab { return tabs[:min(4, len(tabs))] }
