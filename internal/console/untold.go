package console

import (
	"cmp"
	"fmt"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/engine/untold"
)

var untoldPages = []page{{path: "/untold", template: "untold", tab: "now", show: showUntold}}

// unreached is an incident, an alert or an event of which no rule notified a person.
type unreached struct{ untold.Item }

// untold lists what no rule notified a person of.
func (v *visit) untold(request untold.ListRequest) (all []unreached, reply api.Paged[untold.Item], err error) {
	reply, err = call[api.Paged[untold.Item]](v, "/incident/untold/list", request)
	for _, item := range reply.Items {
		all = append(all, unreached{item})
	}
	return all, reply, err
}

// Path returns the page of what reached no one.
func (u unreached) Path() string {
	switch {
	case u.IncidentID != "":
		return "/incidents/" + u.IncidentID
	case u.AlertID != "":
		return "/alerts/" + u.AlertID
	}
	return "/alerts/" + u.EventID + "/why?event=1"
}

// WhyPath returns the page that explains why it reached no one; empty: it is the page of Path.
func (u unreached) WhyPath() string {
	if u.IncidentID == "" && u.AlertID == "" {
		return ""
	}
	return u.Path() + "/why"
}

// Cures returns the pages of what sent it and where it arrived, as far as the visitor may read them.
func (v *visit) Cures(u unreached) (links []pageLink) {
	if u.ChannelID != 0 && v.who.MayAny([]auth.Permission{auth.ChannelsRead, auth.ChannelsManage}) {
		links = append(links, pageLink{fmt.Sprintf("/channels/%d", u.ChannelID), v.T("Channel")})
	}
	if u.IntegrationID != 0 && v.who.MayAny([]auth.Permission{auth.IntegrationsRead, auth.IntegrationsManage}) {
		links = append(links, pageLink{fmt.Sprintf("/integrations/%d", u.IntegrationID), v.T("Integration")})
	}
	return links
}

type untoldView struct {
	titled
	pager
	State  string // empty: all
	States []tabLink
	Items  []unreached
}

func showUntold(v *visit) (view, error) {
	d := untoldView{titled: titled(v.T("What reached no one")), pager: v.pager(), State: v.query("state")}
	states := []string{"", "waiting", "fallback", "unreached", "by_choice"}
	if !slices.Contains(states, d.State) {
		d.State = ""
	}
	request := untold.ListRequest{State: d.State}
	request.P, request.Limit = d.Page, perPage
	items, reply, err := v.untold(request)
	d.Items = items
	d.Total = reply.Total
	d.More = reply.HasNextPage
	texts := []string{v.T("All"), v.T("Fallback next"), v.T("Fallback notified"), v.T("Fallback unreached"), v.T("By choice")}
	for i, state := range states {
		path := "/untold"
		if state != "" {
			path += "?state=" + state
		}
		d.States = append(d.States, tabLink{pageLink{path, texts[i]}, state == d.State})
	}
	return d, err
}

// untoldStates are the texts of the states of what reached no one.
var untoldStates = map[string]string{
	"waiting": "the fallback is notified next", "fallback": "the fallback was notified",
	"unreached": "the fallback could not be reached either",
	"by_choice": "silent by choice",
}

// UntoldState names a state of what reached no one.
func (v *visit) UntoldState(state string) string { return v.T(cmp.Or(untoldStates[state], state)) }

// ReadsUntold reports whether the visitor may read what reached no one.
func (v *visit) ReadsUntold() bool { return v.who.May(auth.IncidentsRead) }
