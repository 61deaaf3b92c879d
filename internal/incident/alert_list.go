package incident

import (
	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/channel"
)

type alertListRequest struct {
	OneRequest
	IncludeEvents bool  `json:"include_events,omitzero" doc:"With the latest events of each alert, at most 20."`
	IsActive      *bool `json:"is_active,omitzero" doc:"Only those that are not over, or only those that are."`
	P             int64 `json:"p,omitzero" minimum:"0" maximum:"10000" doc:"Page, from 1."`
	Limit         int64 `json:"limit,omitzero" minimum:"0" maximum:"1000" doc:"Alerts on a page, 1,000 when absent."`
}

func (r *Service) alertList(c *api.Call, in alertListRequest) (api.Paged[alert.Alert], error) {
	i, err := Permit(c.Tx, c.Who, in.IncidentID)
	if err != nil {
		return api.Paged[alert.Alert]{}, err
	}
	hidden, err := channel.Hidden(c.Tx, c.Who) // an alert may be of another channel than its incident
	if err != nil {
		return api.Paged[alert.Alert]{}, err
	}
	limit := in.Limit
	if limit == 0 {
		limit = 1000
	}
	offset := (max(in.P, 1) - 1) * limit
	items, total, err := alert.ListOf(c.Tx, i.AccountID, i.IncidentID, hidden, in.IsActive, in.IncludeEvents, limit, offset)
	return api.NewPaged(items, offset, total), err
}
