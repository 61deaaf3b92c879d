package console

import (
	"cmp"
	"fmt"
	"slices"

	"tocsin/internal/auth"
)

var untoldPages = []page{{path: "/untold", template: "untold", tab: "now", show: showUntold}}

// untold is an incident, an alert or an event of which no rule notified a person.
type untold struct {
	IncidentID    string `json:"incident_id"`
	AlertID       string `json:"alert_id"`
	EventID       string `json:"event_id"`
	ChannelID     int64  `json:"channel_id"`
	IntegrationID int64  `json:"integration_id"`
	Title         string `json:"title"`
	Severity      string `json:"severity"`
	Why           string `json:"why"`
	State         string `json:"state"`
	ByChoice      string `json:"by_choice"`
	Since         int64  `json:"since"`
	LastAt        int64  `json:"last_at"`
	Events        int64  `json:"events"`
	NotifiedAt    int64  `json:"notified_at"`
}

// Path returns the page of what reached no one.
func (u untold) Path() string {
	switch {
	case u.IncidentID != "":
		return "/incidents/" + u.IncidentID
	case u.AlertID != "":
		return "/alerts/" + u.AlertID
	}
	return "/alerts/" + u.EventID + "/why?event=1"
}

// WhyPath returns the page that explains why it reached no one; empty: it is the page of Path.
func (u untold) WhyPath() string {
	if u.IncidentID == "" && u.AlertID == "" {
		return ""
	}
	return u.Path() + "/why"
}

// Cures returns the pages of what sent it and where it arrived, as far as the visitor may read them.
func (v *visit) Cures(u untold) (links []pageLink) {
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
	Items  []untold
}

func showUntold(v *visit) (view, error) {
	d := untoldView{titled: titled(v.T("What reached no one")), pager: v.pager(), State: v.query("state")}
	states := []string{"", "waiting", "fallback", "unreached", "by_choice"}
	if !slices.Contains(states, d.State) {
		d.State = ""
	}
	request := map[string]any{"p": d.Page, "limit": perPage}
	if d.State != "" {
		request["state"] = d.State
	}
	var reply struct {
		Items []untold `json:"items"`
		Total int64    `json:"total"`
		More  bool     `json:"has_next_page"`
	}
	err := v.call("/incident/untold/list", request, &reply)
	d.Items = reply.Items
	d.Total = reply.Total
	d.More = reply.More
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
