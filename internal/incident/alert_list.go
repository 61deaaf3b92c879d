package incident

import (
	"fmt"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/channel"
)

// AlertListRequest asks for the alerts of an incident.
type AlertListRequest struct {
	OneRequest
	IncludeEvents bool  `json:"include_events,omitzero" doc:"With the latest events of each alert, at most 20."`
	IsActive      *bool `json:"is_active,omitzero" doc:"Only those that are not over, or only those that are."`
	P             int64 `json:"p,omitzero" minimum:"0" maximum:"10000" doc:"Page, from 1."`
	Limit         int64 `json:"limit,omitzero" minimum:"0" maximum:"1000" doc:"Alerts on a page, 1,000 when absent."`
	api.After
}

// AlertView is an alert with the short names that clients of this list read.
type AlertView struct {
	alert.Alert
	Severity    string `json:"severity" enum:"Critical,Warning,Info,Ok" doc:"The same as alert_severity."`
	Status      string `json:"status" enum:"Critical,Warning,Info,Ok" doc:"The same as alert_status."`
	TriggerTime int64  `json:"trigger_time" doc:"The same as start_time, Unix seconds."`
}

func (r *Service) alertList(c *api.Call, in AlertListRequest) (reply api.CursorPage[AlertView], err error) {
	i, err := Permit(c.Tx, c.Who, in.IncidentID)
	if err != nil {
		return reply, err
	}
	hidden, err := channel.Hidden(c.Tx, c.Who) // an alert may be of another channel than its incident
	if err != nil {
		return reply, err
	}
	limit := in.Limit
	if limit == 0 {
		limit = 1000
	}
	binding := fmt.Sprint("alerts of an incident", i.AccountID, i.IncidentID, in.IsActive != nil && *in.IsActive, in.IsActive == nil)
	from, err := in.From(c, binding)
	if err != nil {
		return reply, err
	}
	q := alert.Query{Incident: i.IncidentID, Hidden: hidden, Active: in.IsActive, Events: in.IncludeEvents, After: from, Limit: limit}
	if from.Unset() {
		q.Offset = (max(in.P, 1) - 1) * limit
	}
	page, err := alert.ListOf(c, binding, q)
	items := make([]AlertView, 0, len(page.Items))
	for _, a := range page.Items {
		items = append(items, AlertView{Alert: a, Severity: a.AlertSeverity, Status: a.AlertStatus, TriggerTime: a.StartTime})
	}
	return api.PageOf(items, page), err
}
