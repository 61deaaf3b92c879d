package incident

import (
	"cmp"
	"fmt"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/engine/untold"
)

var untoldPages = []page.Page{{Path: "/untold", Template: "untold", Tab: "alerts", Show: showUntold}}

// Unreached is an incident, an alert or an event of which no rule notified a person.
type Unreached struct{ untold.Item }

// ReadUntold lists what no rule notified a person of.
func ReadUntold(v *page.Visit, request untold.ListRequest) (all []Unreached, reply api.Paged[untold.Item], err error) {
	reply, err = page.Call[api.Paged[untold.Item]](v, "/incident/untold/list", request)
	for _, item := range reply.Items {
		all = append(all, Unreached{item})
	}
	return all, reply, err
}

// Path returns the page of what reached no one.
func (u Unreached) Path() string {
	switch {
	case u.IncidentID != "":
		return "/incidents/" + u.IncidentID
	case u.AlertID != "":
		return "/alerts/" + u.AlertID
	}
	return "/alerts/" + u.EventID + "/why?event=1"
}

// WhyPath returns the page that explains why it reached no one; empty: it is the page of Path.
func (u Unreached) WhyPath() string {
	if u.IncidentID == "" && u.AlertID == "" {
		return ""
	}
	return u.Path() + "/why"
}

// cures returns the pages of what sent it and where it arrived, as far as the visitor may read them.
func cures(v *page.Visit, u Unreached) (links []page.Link) {
	if u.ChannelID != 0 && v.Who.MayAny([]auth.Permission{auth.ChannelsRead, auth.ChannelsManage}) {
		links = append(links, page.Link{Path: fmt.Sprintf("/channels/%d", u.ChannelID), Text: v.T("Channel")})
	}
	if u.IntegrationID != 0 && v.Who.MayAny([]auth.Permission{auth.IntegrationsRead, auth.IntegrationsManage}) {
		links = append(links, page.Link{Path: fmt.Sprintf("/integrations/%d", u.IntegrationID), Text: v.T("Integration")})
	}
	return links
}

type untoldView struct {
	page.Titled
	page.Pager
	State  string // empty: all
	States []page.TabLink
	Items  []Unreached
}

func showUntold(v *page.Visit) (page.View, error) {
	d := untoldView{Titled: page.Titled(v.T("Alerts nobody was told about")), Pager: v.Pager(), State: v.Query("state")}
	states := []string{"", "waiting", "fallback", "unreached", "by_choice"}
	if !slices.Contains(states, d.State) {
		d.State = ""
	}
	request := untold.ListRequest{State: d.State}
	request.P, request.Limit = d.Page, page.PageSize
	items, reply, err := ReadUntold(v, request)
	d.Items = items
	d.Total = reply.Total
	d.More = reply.HasNextPage
	texts := []string{v.T("All"), v.T("Fallback is next"), v.T("Fallback told"), v.T("Fallback failed"), v.T("Silenced on purpose")}
	for i, state := range states {
		path := "/untold"
		if state != "" {
			path += "?state=" + state
		}
		d.States = append(d.States, page.TabLink{Link: page.Link{Path: path, Text: texts[i]}, Here: state == d.State})
	}
	return d, err
}

// untoldStates are the texts of the states of what reached no one.
var untoldStates = map[string]string{
	"waiting": "Fallback is next", "fallback": "Fallback told",
	"unreached": "Fallback failed",
	"by_choice": "Silenced on purpose",
}

// untoldState names a state of what reached no one.
func untoldState(v *page.Visit, state string) string { return v.T(cmp.Or(untoldStates[state], state)) }
