package page

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/calendar"
	"tocsin/internal/channel"
	"tocsin/internal/person"
	"tocsin/internal/team"
)

// AllTeams returns all teams by name.
func (v *Visit) AllTeams() ([]team.Team, error) {
	request := team.ListRequest{}
	request.Limit = 100
	reply, err := Call[team.Listed](v, "/team/list", request)
	return reply.Items, err
}

// TeamNames returns the names of teams by id.
func (v *Visit) TeamNames(ids []int64) (map[int64]string, error) {
	names := map[int64]string{}
	ids = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(ids))), func(id int64) bool { return id == 0 })
	for some := range slices.Chunk(ids, 100) {
		reply, err := Call[api.Items[team.Brief]](v, "/team/infos", team.InfosRequest{TeamIDs: some})
		if err != nil {
			return names, err
		}
		for _, t := range reply.Items {
			names[t.TeamID] = t.TeamName
		}
	}
	return names, nil
}

// ChannelNames returns the names of the channels that the visitor may read, by id.
func (v *Visit) ChannelNames() (map[int64]string, error) {
	names := map[int64]string{}
	rows, err := v.ChannelChoices()
	for _, c := range rows {
		names[c.ChannelID] = c.ChannelName
	}
	return names, err
}

// ChannelChoices returns the channels that a form offers, by name.
func (v *Visit) ChannelChoices() ([]channel.Shown, error) {
	request := channel.ListRequest{OrderBy: "channel_name", Asc: true, IsBrief: true}
	request.Limit = 100
	reply, err := Call[api.CursorPage[channel.Shown]](v, "/channel/list", request)
	return reply.Items, err
}

// EscalationPath returns where the visitor makes the escalation rule of a schedule: in a new channel, in the only one, or in one to
// choose; empty: the visitor may not.
func (v *Visit) EscalationPath() (string, error) {
	if !v.Who.May(auth.ChannelsManage) {
		return "", nil
	}
	channels, err := v.ChannelChoices()
	switch {
	case err != nil:
		return "", err
	case len(channels) == 0:
		return "/channels/new?name=" + url.QueryEscape(v.T("Alerts")), nil
	case len(channels) == 1:
		return fmt.Sprintf("/channels/%d/escalations/new", channels[0].ChannelID), nil
	}
	return "/channels", nil
}

// Accounts returns the persons whose name or e-mail address contains a text, by name.
func (v *Visit) Accounts(part string) (all []person.Member, err error) {
	err = ByPage[person.MemberListed](v, "/member/list", person.MemberListRequest{Query: part}, func(items []person.Member) bool {
		all = append(all, items...)
		return len(all) < maxPeople
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b person.Member) int {
		return strings.Compare(strings.ToLower(a.MemberName), strings.ToLower(b.MemberName))
	})
	return all, nil
}

// maxPeople is how many persons a page with all of them reads.
const maxPeople = 2000

// Calendars returns the account's calendars.
func (v *Visit) Calendars() ([]calendar.Calendar, error) {
	reply, err := Call[calendar.Listed[calendar.Calendar]](v, "/calendar/list", calendar.ListRequest{})
	return reply.Items, err
}

// Names are persons by their ids.
type Names map[int64]Person

// Of returns the name of a person, or the id of one that is not known.
func (n Names) Of(id int64) string {
	if p := n[id]; p.Name != "" {
		return p.Name
	}
	return strconv.FormatInt(id, 10)
}

// List returns the names of persons in one text.
func (n Names) List(ids []int64) string {
	var all []string
	for _, id := range ids {
		all = append(all, n.Of(id))
	}
	return strings.Join(all, ", ")
}

// WeekdayNames returns the days of the week by their numbers.
func (v *Visit) WeekdayNames() []string {
	return []string{v.T("Sun"), v.T("Mon"), v.T("Tue"), v.T("Wed"), v.T("Thu"), v.T("Fri"), v.T("Sat")}
}
