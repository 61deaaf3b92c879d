package incident

import (
	"tocsin/internal/alert"
	"tocsin/internal/api"
)

type feedRequest struct {
	OneRequest
	alert.FeedRequest
}

func (in feedRequest) Check() error { return in.Page.Check() }

func (r *Service) feed(c *api.Call, in feedRequest) (api.CursorPage[alert.Entry], error) {
	i, err := Permit(c.Tx, c.Who, in.IncidentID)
	if err != nil {
		return api.CursorPage[alert.Entry]{}, err
	}
	return alert.Feed(c, i.IncidentID, in.FeedRequest)
}
