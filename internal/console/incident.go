package console

import (
	"net/url"
	"strings"
)

var incidentPages = []page{
	{path: "/incidents", template: "incidents", tab: "incidents", show: showIncidents},
	{path: "/incidents/{id}", template: "incident", tab: "incidents", show: showIncident},
}

var incidentActions = []action{
	{path: "/incidents/{id}/ack", do: onIncident("/incident/ack"), show: showIncident, page: "incident"},
	{path: "/incidents/{id}/unack", do: onIncident("/incident/unack"), show: showIncident, page: "incident"},
	{path: "/incidents/{id}/resolve", do: onIncident("/incident/resolve"), show: showIncident, page: "incident"},
}

// incidentRow is an incident in a list.
type incidentRow struct {
	ID         string      `json:"incident_id"`
	Num        string      `json:"num"`
	Title      string      `json:"title"`
	Severity   string      `json:"incident_severity"`
	Progress   string      `json:"progress"`
	ChannelID  int64       `json:"channel_id"`
	Channel    string      `json:"channel_name"`
	StartTime  int64       `json:"start_time"`
	AckTime    int64       `json:"ack_time"`
	CloseTime  int64       `json:"close_time"`
	Alerts     int64       `json:"alert_cnt"`
	Firing     int64       `json:"active_alert_cnt"`
	Responders []responder `json:"responders"`
}

type responder struct {
	ID      int64  `json:"person_id"`
	Name    string `json:"person_name"`
	AckedAt int64  `json:"acknowledged_at"`
}

// Holder returns who has acknowledged the incident; empty when no person has.
func (i incidentRow) Holder() string {
	var names []string
	for _, r := range i.Responders {
		if r.AckedAt > 0 {
			names = append(names, r.Name)
		}
	}
	return strings.Join(names, ", ")
}

// month is the longest window of /incident/list, in seconds.
const month = 31 * 86400

// incidents returns the newest incidents that a filter of /incident/list finds in the last month.
func (v *visit) incidents(filter map[string]any) ([]incidentRow, error) {
	var reply struct {
		Items []incidentRow `json:"items"`
	}
	now := v.Now.Unix()
	filter["start_time"], filter["end_time"] = now-month+1, now+1
	err := v.call("/incident/list", filter, &reply)
	return reply.Items, err
}

type incidentsView struct {
	titled
	Show      string // mine, open or all
	Incidents []incidentRow
}

func showIncidents(v *visit) (view, error) {
	d := incidentsView{titled: titled(v.T("Incidents")), Show: v.query("show")}
	filter := map[string]any{"limit": 100}
	switch d.Show {
	case "mine":
		filter["responder_ids"], filter["progress"] = []int64{v.who.PersonID}, "Triggered,Processing"
	case "all":
	default:
		d.Show = "open"
		filter["progress"] = "Triggered,Processing"
	}
	var err error
	d.Incidents, err = v.incidents(filter)
	return d, err
}

type incidentView struct {
	titled
	Incident incidentRow
	Done     string // what was done a moment ago; empty: nothing
}

func showIncident(v *visit) (view, error) {
	var i incidentRow
	if err := v.call("/incident/info", map[string]any{"incident_id": v.r.PathValue("id")}, &i); err != nil {
		return nil, err
	}
	return incidentView{titled(i.Title), i, v.query("done")}, nil
}

// onIncident returns an action that calls an operation on the incident of the address.
func onIncident(path string) func(*visit) (string, error) {
	return func(v *visit) (string, error) {
		incident := v.r.PathValue("id")
		done := path[strings.LastIndexByte(path, '/')+1:]
		return "/incidents/" + url.PathEscape(incident) + "?done=" + done, v.call(path, map[string]any{"incident_ids": []string{incident}}, nil)
	}
}
