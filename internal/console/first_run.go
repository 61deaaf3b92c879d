package console

import (
	"cmp"
	"net/url"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/incident"
	"tocsin/internal/console/page"
	"tocsin/internal/core/lint"
	"tocsin/internal/core/sentence"
	findings "tocsin/internal/engine/lint"
	incidents "tocsin/internal/incident"
	integrations "tocsin/internal/integration"
	"tocsin/internal/person"
	schedules "tocsin/internal/schedule"
)

// firstRunView takes the place of Now until the account has a schedule, a channel and a source of alerts: what Now shows of an account
// without them would read as if all were well.
type firstRunView struct {
	page.Titled
	Steps    []firstStep
	Problems []sentence.Words // for which an alert would reach no one now
	Checked  bool             // else the configuration was checked too often just now, and the problems are not known
}

// firstStep is a step until alerts reach people.
type firstStep struct {
	Done, Here                bool // Here: the first step that is not done
	Title, Text, Path, Button string
}

// Template returns the template of the view, which is shown at the address of Now.
func (firstRunView) Template() string { return "first_run" }

// Done returns how many steps are done.
func (d firstRunView) Done() (n int) {
	for _, s := range d.Steps {
		if s.Done {
			n++
		}
	}
	return n
}

// firstRunRights are those of who sets an account up; others read Now.
var firstRunRights = []auth.Permission{
	auth.SchedulesManage, auth.IntegrationsManage, auth.MembersManage, auth.ChannelsRead, auth.ChannelsManage,
	auth.IncidentsRead,
}

// firstRun is what of an account that pages people exists already.
type firstRun struct{ schedule, channel, source bool }

// readFirstRun returns the steps until alerts reach people; nil: the account has what it needs, it has an open incident besides
// drills, or another person sets it up.
func readFirstRun(v *page.Visit) (page.View, error) {
	if v.Query("now") != "" || slices.ContainsFunc(firstRunRights, func(p auth.Permission) bool { return !v.Who.May(p) }) {
		return nil, nil
	}
	has, err := readHas(v)
	if err != nil || has.schedule && has.channel && has.source {
		return nil, err
	}
	open := incidents.ListRequest{Progress: incident.OpenIncidents}
	open.Limit = 100
	burning, err := incident.ReadList(v, open)
	if err != nil {
		return nil, err
	}
	for _, i := range burning.Items {
		if !i.IsTest { // Now lists it, and it comes before setting up
			return nil, nil
		}
	}
	return firstSteps(v, has)
}

// readHas reads what of an account that pages people exists already.
func readHas(v *page.Visit) (has firstRun, err error) {
	request := schedules.ListRequest{}
	request.Limit = 1
	all, err := page.Call[schedules.Page](v, "/schedule/list", request)
	if err != nil {
		return has, err
	}
	has.schedule = all.Total > 0
	channels, err := v.ChannelChoices()
	if err != nil {
		return has, err
	}
	has.channel = len(channels) > 0
	err = page.ByPage[api.CursorPage[integrations.Integration]](v, "/integration/list", integrations.ListRequest{},
		func(items []integrations.Integration) bool {
			has.source = slices.ContainsFunc(items, func(i integrations.Integration) bool { return !i.IsWebhook() })
			return !has.source
		})
	return has, err
}

// firstSteps returns the steps, and for what an alert would reach no one now.
func firstSteps(v *page.Visit, has firstRun) (page.View, error) {
	request := person.MemberListRequest{}
	request.Limit = 1
	people, err := page.Call[person.MemberListed](v, "/member/list", request)
	if err != nil {
		return nil, err
	}
	d := firstRunView{Titled: page.Titled(v.T("Nobody can be paged yet"))}
	found, err := page.Call[findings.Listed](v, "/lint/list", findings.ListRequest{Severity: "error"})
	if err != nil && api.RefusalOf(err) == nil {
		return nil, err
	}
	d.Checked = err == nil
	leaves, ruled := d.Checked, has.channel
	for _, f := range found.Items {
		d.Problems = append(d.Problems, sentence.Words(f.Sentence))
		leaves = leaves && f.Code != lint.ServerSendsNothing && f.Code != lint.OwnerUnreachable
		ruled = ruled && f.Code != lint.ChannelWithoutRule
	}
	rules, err := v.EscalationPath()
	if err != nil {
		return nil, err
	}
	d.Steps = []firstStep{
		{Done: v.Me.Email != "", Title: v.T("Say who you are"),
			Text: cmp.Or(v.Me.Email, v.T("Enter your e-mail address.")) + " · " + v.Zone.String(), Path: "/me", Button: v.T("Edit")},
		{Done: leaves, Title: v.T("Let messages leave this server"),
			Text: v.T("Page yourself, and see whether the message arrives."),
			Path: "/me", Button: v.T("Test messages")},
		{Done: people.Total > 1, Title: v.T("Invite the people who take turns"),
			Text: v.T("They see everything, act on incidents and swap shifts."),
			Path: "/people", Button: v.T("Invite people")},
		{Done: has.schedule, Title: v.T("Say who is on call when"), Text: v.T("You see the next two weeks before anything is saved."),
			Path: "/schedules/new?name=" + url.QueryEscape(v.T("On call")), Button: v.T("Make a schedule")},
		{Done: ruled, Title: v.T("Page who is on call"), Text: v.T("A channel takes the alerts, and its rule notifies people."),
			Path: rules, Button: v.T("Make a channel")},
		{Done: has.source, Title: v.T("Connect what watches your systems"),
			Text: v.T("Alertmanager, Grafana, Zabbix, or anything that can send HTTP."),
			Path: "/integrations/new", Button: v.T("Connect a source")},
	}
	if next := slices.IndexFunc(d.Steps, func(s firstStep) bool { return !s.Done }); next >= 0 {
		d.Steps[next].Here = true
	}
	return d, nil
}
