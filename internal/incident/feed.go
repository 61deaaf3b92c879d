package incident

import (
	"tocsin/internal/alert"
	"tocsin/internal/api"
)

// FeedRequest asks for what happened to an incident.
type FeedRequest struct {
	OneRequest
	alert.FeedRequest
}

// Check holds the request against its bounds.
func (in FeedRequest) Check() error { return in.Page.Check() }

func (r *Service) feed(c *api.Call, in FeedRequest) (api.CursorPage[alert.Entry], error) {
	i, err := Permit(c.Tx, c.Who, in.IncidentID)
	if err != nil {
		return api.CursorPage[alert.Entry]{}, err
	}
	return alert.Feed(c, i.IncidentID, in.FeedRequest)
}
