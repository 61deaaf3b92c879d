package console

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/console/incident"
	"tocsin/internal/console/page"
	incidents "tocsin/internal/incident"
	integrations "tocsin/internal/integration"
	"tocsin/internal/person"
	"tocsin/internal/rum"
	schedules "tocsin/internal/schedule"
	"tocsin/internal/statuspage"
	"tocsin/internal/team"
)

// findView is what a text finds in the account, by kind.
type findView struct {
	page.Titled
	Text   string
	Groups []foundGroup
}

// foundGroup is what a text finds of one kind.
type foundGroup struct {
	Text  string
	Items []found
}

// found is a page that a text leads to.
type found struct{ Path, Text, About string }

// finder finds records of one kind by a part of their names.
type finder struct {
	Text string // the kind, for people
	find func(v *page.Visit, text string) ([]found, error)
}

// finders are in the order in which a page shows what they find.
var finders = []finder{
	{"Pages of the console", findPages},
	{"Incidents", findIncidents},
	{"People", findPeople},
	{"Schedules", findSchedules},
	{"Channels", findChannels},
	{"Teams", findTeams},
	{"Alert rules", findRules},
	{"Sources", findIntegrations},
	{"Browser and app errors", findApplications},
	{"Status pages", findStatusPages},
}

// maxFound is how many records of a kind are shown. A longer text finds fewer records.
const maxFound = 6

// maxSearched is the longest text in characters, which all lists accept.
const maxSearched = 100

// showFind answers the page that finds pages and records by a text. A kind that the visitor may not read is left out.
func showFind(v *page.Visit) (page.View, error) {
	text := []rune(v.Query("q"))
	d := findView{Titled: page.Titled(v.T("Find")), Text: string(text[:min(len(text), maxSearched)])}
	for _, f := range finders {
		if d.Text == "" {
			break
		}
		items, err := f.find(v, d.Text)
		if refused := api.RefusalOf(err); refused != nil && refused.Status == http.StatusForbidden {
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(items) > 0 {
			d.Groups = append(d.Groups, foundGroup{v.T(f.Text), items[:min(len(items), maxFound)]})
		}
	}
	return d, nil
}

// foundOf returns a page of each record.
func foundOf[T any](items []T, of func(T) found) []found {
	all := make([]found, len(items))
	for i, item := range items {
		all[i] = of(item)
	}
	return all
}

func addressed[ID int64 | uint64](path string, id ID, text string) found {
	return found{Path: path + strconv.FormatInt(int64(id), 10), Text: text} // no identifier is larger
}

// searched is a page of as many records as are shown.
var searched = api.CursorRequest{Page: api.Page{Limit: maxFound}}

func findPages(v *page.Visit, text string) ([]found, error) {
	return foundOf(v.Entries(text), func(t page.Tab) found { return found{t.Path, t.Text, t.About} }), nil
}

func findIncidents(v *page.Visit, text string) (all []found, err error) {
	request := incidents.ListRequest{Query: strings.TrimPrefix(text, "#"), CursorRequest: searched}
	list, err := incident.ReadList(v, request)
	for _, i := range list.Items {
		all = append(all, found{"/incidents/" + i.IncidentID, i.Title, "#" + i.Num + " · " + v.When(i.StartTime)})
	}
	return all, err
}

func findPeople(v *page.Visit, text string) ([]found, error) {
	reply, err := page.Call[person.MemberListed](v, "/member/list", person.MemberListRequest{Query: text, CursorRequest: searched})
	return foundOf(reply.Items, func(m person.Member) found {
		return found{"/people/" + strconv.FormatInt(m.MemberID, 10), cmp.Or(m.MemberName, m.Email), m.Email}
	}), err
}

func findSchedules(v *page.Visit, text string) ([]found, error) {
	request := schedules.ListRequest{Query: text}
	request.Limit = maxFound
	reply, err := page.Call[schedules.Page](v, "/schedule/list", request)
	return foundOf(reply.Items, func(s schedules.Schedule) found { return addressed("/schedules/", s.ScheduleID, *s.ScheduleName) }), err
}

func findChannels(v *page.Visit, text string) ([]found, error) {
	reply, err := page.Call[api.CursorPage[channel.Shown]](v, "/channel/list", channel.ListRequest{Query: text, CursorRequest: searched})
	return foundOf(reply.Items, func(c channel.Shown) found { return addressed("/channels/", c.ChannelID, c.ChannelName) }), err
}

func findTeams(v *page.Visit, text string) ([]found, error) {
	reply, err := page.Call[team.Listed](v, "/team/list", team.ListRequest{Query: text, CursorRequest: searched})
	return foundOf(reply.Items, func(t team.Team) found { return addressed("/teams/", t.TeamID, t.TeamName) }), err
}

func findRules(v *page.Visit, text string) (all []found, err error) {
	rules, err := page.Call[[]alertrule.Basic](v, "/monit/rule/list/basic", alertrule.ListRequest{})
	for _, r := range rules {
		if strings.Contains(strings.ToLower(r.Name), strings.ToLower(text)) {
			all = append(all, addressed("/rules/", r.ID, r.Name))
		}
	}
	return all, err
}

func findIntegrations(v *page.Visit, text string) ([]found, error) {
	request := integrations.ListRequest{Query: text, CursorRequest: searched}
	reply, err := page.Call[api.CursorPage[integrations.Integration]](v, "/integration/list", request)
	return foundOf(reply.Items, func(i integrations.Integration) found {
		return addressed("/integrations/", i.IntegrationID, i.IntegrationName)
	}), err
}

func findApplications(v *page.Visit, text string) ([]found, error) {
	request := rum.ApplicationListRequest{Query: text, CursorRequest: searched}
	reply, err := page.Call[api.CursorPage[rum.Application]](v, "/rum/application/list", request)
	return foundOf(reply.Items, func(a rum.Application) found {
		return found{Path: "/rum/applications/" + a.ApplicationID, Text: a.ApplicationName}
	}), err
}

func findStatusPages(v *page.Visit, text string) (all []found, err error) {
	reply, err := page.Call[statuspage.Listed[statuspage.PageView]](v, "/status-page/list", api.Empty{})
	for _, p := range reply.Items {
		if strings.Contains(strings.ToLower(p.Name), strings.ToLower(text)) {
			all = append(all, addressed("/status-pages/", p.PageID, p.Name))
		}
	}
	return all, err
}
