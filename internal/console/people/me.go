package people

import (
	"cmp"
	"maps"
	"slices"

	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/explain"
	incidents "tocsin/internal/incident"
	"tocsin/internal/preference"
)

var mePages = []page.Page{{Path: "/me", Template: "me", Tab: "me", Show: showMe}}

var meActions = []page.Action{
	{Path: "/me", Do: saveMe, Show: showMe, Template: "me"},
	{Path: "/me/page", Do: pageMe, Show: showMe, Template: "me"},
	{Path: "/me/notify", Do: savePreference, Show: showMe, Template: "me"},
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

func readPreference(v *page.Visit, person int64) (notifying, error) {
	request := preference.InfoRequest{Whose: preference.Whose{PersonID: person}}
	p, err := page.Call[preference.Preference](v, "/preference/info", request)
	return notifying{p}, err
}

type meView struct {
	page.Titled
	Preference notifying
	Push       browsers
	Zones      []string
	Warnings   []sentence.Words
	Test       *testPage // that the visitor asked for; nil: none
	QuietFrom  string    // the first of the quiet hours, for the form
	QuietTo    string
	MoreQuiet  int // further ones, which the form keeps
}

func showMe(v *page.Visit) (page.View, error) {
	d := meView{Titled: page.Titled(v.T("My settings")), Zones: zones}
	var err error
	d.Preference, err = readPreference(v, v.Who.PersonID)
	if err != nil {
		return nil, err
	}
	d.Push, err = readBrowsers(v)
	if err != nil {
		return nil, err
	}
	d.Test, err = readTestPage(v, v.Query("page"))
	if err != nil {
		return nil, err
	}
	d.Warnings, _ = v.Made.([]sentence.Words)
	if hours := d.Preference.QuietHours; len(hours) > 0 {
		d.QuietFrom = hours[0].Start
		d.QuietTo = hours[0].End
		d.MoreQuiet = len(hours) - 1
	}
	if v.Failure != nil && v.Request.PostForm.Has("name") {
		v.Me.Name, v.Me.Email = v.Field("name"), v.Field("email")
		v.Me.Locale, v.Me.TimeZone = v.Field("locale"), v.Field("zone")
	}
	if v.Failure != nil && v.Request.PostForm.Has("quiet_from") {
		d.QuietFrom, d.QuietTo = v.Field("quiet_from"), v.Field("quiet_to")
		d.Preference.Trigger.Critical, d.Preference.Trigger.Warning = v.Request.PostForm["critical"], v.Request.PostForm["warning"]
		d.Preference.Trigger.Info, d.Preference.Shift.PersonalChannels = v.Request.PostForm["info"], v.Request.PostForm["shift"]
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

// readTestPage returns what came of a test by its incident; nil without one.
func readTestPage(v *page.Visit, incident string) (*testPage, error) {
	if incident == "" {
		return nil, nil
	}
	test := &testPage{Incident: incident, Hidden: !v.Who.May(auth.IncidentsRead)}
	if test.Hidden {
		return test, nil
	}
	x, err := page.Call[explain.Explanation](v, "/incident/explain", incidents.OneRequest{IncidentID: incident})
	if err != nil {
		return nil, page.IgnoreMissing(err)
	}
	for _, s := range x.Incidents {
		for _, n := range s.Notices {
			fresh := n.Status == "waiting" && n.Attempts == 0 && n.DueAt/1000 <= v.Now.Unix()
			if n.PersonID == v.Who.PersonID && !fresh {
				test.Notified = append(test.Notified, notified{n, cmp.Or(n.SettledAt, n.CreatedAt) / 1000})
			}
		}
	}
	return test, nil
}

// pageMe pages the visitor for a test.
func pageMe(v *page.Visit) (string, error) {
	request := incidents.PageMeRequest{IncidentSeverity: v.Field("severity")}
	made, err := page.Call[incidents.Created](v, "/incident/page-me", request)
	return "/me?page=" + made.IncidentID, err
}

func saveMe(v *page.Visit) (string, error) { return "/me?done=saved", saveProfile(v, v.Who.PersonID) }

// savePreference replaces the methods and the first of the quiet hours. What could keep a notification away is shown.
func savePreference(v *page.Visit) (string, error) {
	old, err := readPreference(v, v.Who.PersonID)
	if err != nil {
		return "", err
	}
	hours := append([]preference.Quiet{}, old.QuietHours[min(1, len(old.QuietHours)):]...)
	if from, to := v.Field("quiet_from"), v.Field("quiet_to"); from != "" || to != "" {
		first := preference.Quiet{}
		if len(old.QuietHours) > 0 {
			first = old.QuietHours[0]
		}
		first.Start, first.End = from, to
		hours = append([]preference.Quiet{first}, hours...)
	}
	chosen := func(name string) []string { return append([]string{}, v.Request.PostForm[name]...) }
	reply, err := page.Call[preference.Updated](v, "/preference/update", preference.UpdateRequest{
		Trigger:    &preference.Trigger{Critical: chosen("critical"), Warning: chosen("warning"), Info: chosen("info")},
		Shift:      &preference.Shift{PersonalChannels: chosen("shift")},
		QuietHours: &hours,
	})
	if err == nil && len(reply.Warnings.Warnings) > 0 {
		v.Made = reply.Warnings.Warnings
		return "", nil
	}
	return "/me?done=saved", err
}
