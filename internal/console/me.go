package console

import (
	"cmp"
	"maps"
	"slices"

	"tocsin/internal/auth"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/explain"
	incidents "tocsin/internal/incident"
	"tocsin/internal/preference"
)

var mePages = []page{{path: "/me", template: "me", tab: "people", show: showMe}}

var meActions = []action{
	{path: "/me", do: saveMe, show: showMe, page: "me"},
	{path: "/me/page", do: pageMe, show: showMe, page: "me"},
	{path: "/me/notify", do: savePreference, show: showMe, page: "me"},
}

// notifying is how a person is notified.
type notifying struct{ preference.Preference }

// severityMethods is the methods for one severity.
type severityMethods struct {
	Severity, Field string
	Methods         []string
}

// Uses reports whether a method is one of them.
func (s severityMethods) Uses(method string) bool { return slices.Contains(s.Methods, method) }

// BySeverity returns the methods by severity, the worst first.
func (p notifying) BySeverity() []severityMethods {
	return []severityMethods{
		{"Critical", "critical", p.Trigger.Critical}, {"Warning", "warning", p.Trigger.Warning}, {"Info", "info", p.Trigger.Info},
	}
}

// Contacts returns the methods that the person has an address for.
func (p notifying) Contacts() []string { return slices.Sorted(maps.Keys(p.Preference.Contacts)) }

// Choices returns the methods that the person can choose: those that everyone has, those with an address, and those that
// are chosen already.
func (p notifying) Choices() []string {
	all := []string{"voice", "sms", "push", "email"}
	for _, more := range [][]string{p.Contacts(), p.Trigger.Critical, p.Trigger.Warning, p.Trigger.Info, p.Shift.PersonalChannels} {
		for _, method := range more {
			if !slices.Contains(all, method) {
				all = append(all, method)
			}
		}
	}
	return all
}

// ShiftUses reports whether the person is reminded of shifts by a method.
func (p notifying) ShiftUses(method string) bool {
	return slices.Contains(p.Shift.PersonalChannels, method)
}

func (v *visit) preference(person int64) (notifying, error) {
	request := preference.InfoRequest{Whose: preference.Whose{PersonID: person}}
	p, err := call[preference.Preference](v, "/preference/info", request)
	return notifying{p}, err
}

type meView struct {
	titled
	Preference notifying
	Push       browsers
	Zones      []string
	Warnings   []sentence.Words
	Test       *testPage // that the visitor asked for; nil: none
	QuietFrom  string    // the first of the quiet hours, for the form
	QuietTo    string
	MoreQuiet  int // further ones, which the form keeps
}

func showMe(v *visit) (view, error) {
	d := meView{titled: titled(v.T("My settings")), Zones: zones}
	var err error
	d.Preference, err = v.preference(v.who.PersonID)
	if err != nil {
		return nil, err
	}
	d.Push, err = v.browsers()
	if err != nil {
		return nil, err
	}
	d.Test, err = v.testPage(v.query("page"))
	if err != nil {
		return nil, err
	}
	d.Warnings, _ = v.made.([]sentence.Words)
	if hours := d.Preference.QuietHours; len(hours) > 0 {
		d.QuietFrom = hours[0].Start
		d.QuietTo = hours[0].End
		d.MoreQuiet = len(hours) - 1
	}
	if v.Failure != nil && v.r.PostForm.Has("name") {
		v.Me.Name = v.field("name")
		v.Me.Locale, v.Me.TimeZone = v.field("locale"), v.field("zone")
	}
	if v.Failure != nil && v.r.PostForm.Has("quiet_from") {
		d.QuietFrom, d.QuietTo = v.field("quiet_from"), v.field("quiet_to")
		d.Preference.Trigger.Critical, d.Preference.Trigger.Warning = v.r.PostForm["critical"], v.r.PostForm["warning"]
		d.Preference.Trigger.Info, d.Preference.Shift.PersonalChannels = v.r.PostForm["info"], v.r.PostForm["shift"]
	}
	return d, nil
}

// testPage is the incident of a test and what came of its notifications.
type testPage struct {
	Incident string
	Hidden   bool // the visitor may not read incidents
	Notified []notified
}

// notified is a notification of the test, with its result.
type notified struct {
	explain.Notice
	At int64 // Unix seconds
}

// Waits reports whether the notification is still to be sent.
func (n notified) Waits() bool { return n.Status == "waiting" || n.Status == "sending" }

// NextAt returns when the next attempt is made, in Unix seconds.
func (n notified) NextAt() int64 { return n.DueAt / 1000 }

// testPage returns what came of a test by its incident; nil without one.
func (v *visit) testPage(incident string) (*testPage, error) {
	if incident == "" {
		return nil, nil
	}
	test := &testPage{Incident: incident, Hidden: !v.who.May(auth.IncidentsRead)}
	if test.Hidden {
		return test, nil
	}
	x, err := v.explainIncident(incident)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	for _, s := range x.Incidents {
		for _, n := range s.Notices {
			fresh := n.Status == "waiting" && n.Attempts == 0 && n.DueAt/1000 <= v.Now.Unix()
			if n.PersonID == v.who.PersonID && !fresh {
				test.Notified = append(test.Notified, notified{n, cmp.Or(n.SettledAt, n.CreatedAt) / 1000})
			}
		}
	}
	return test, nil
}

// pageMe pages the visitor for a test.
func pageMe(v *visit) (string, error) {
	request := incidents.PageMeRequest{IncidentSeverity: v.field("severity")}
	made, err := call[incidents.Created](v, "/incident/page-me", request)
	return "/me?page=" + made.IncidentID, err
}

func saveMe(v *visit) (string, error) { return "/me?done=saved", v.saveProfile(v.who.PersonID) }

// savePreference replaces the methods and the first of the quiet hours. What could keep a notification away is shown.
func savePreference(v *visit) (string, error) {
	old, err := v.preference(v.who.PersonID)
	if err != nil {
		return "", err
	}
	hours := append([]preference.Quiet{}, old.QuietHours[min(1, len(old.QuietHours)):]...)
	if from, to := v.field("quiet_from"), v.field("quiet_to"); from != "" || to != "" {
		first := preference.Quiet{}
		if len(old.QuietHours) > 0 {
			first = old.QuietHours[0]
		}
		first.Start, first.End = from, to
		hours = append([]preference.Quiet{first}, hours...)
	}
	chosen := func(name string) []string { return append([]string{}, v.r.PostForm[name]...) }
	reply, err := call[preference.Updated](v, "/preference/update", preference.UpdateRequest{
		Trigger:    &preference.Trigger{Critical: chosen("critical"), Warning: chosen("warning"), Info: chosen("info")},
		Shift:      &preference.Shift{PersonalChannels: chosen("shift")},
		QuietHours: &hours,
	})
	if err == nil && len(reply.Warnings.Warnings) > 0 {
		v.made = reply.Warnings.Warnings
		return "", nil
	}
	return "/me?done=saved", err
}
