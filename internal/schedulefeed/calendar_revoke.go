package schedulefeed

import (
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/fault"
)

// RevokeRequest names an address to revoke.
type RevokeRequest struct {
	FeedID string `json:"feed_id" minLength:"24" maxLength:"24" doc:"The address to revoke."`
}

func (s *Service) revoke(c *api.Call, in RevokeRequest) (api.Empty, error) {
	f, found, err := find(c.Tx, c.Who.AccountID, in.FeedID)
	if err != nil {
		return api.Empty{}, err
	}
	if !found || f.Creator != c.Who.PersonID && !c.Who.May(auth.SchedulesManage) {
		return api.Empty{}, fault.Missing("calendar_feed", in.FeedID)
	}
	name, _, err := nameOf(c.Tx, f.Account, f.Kind, f.Target)
	if err != nil {
		return api.Empty{}, err
	}
	c.Removed("calendar_feed", f.ID, name)
	err = c.Tx.Do(`DELETE FROM ical_feed WHERE account_id = $1 AND feed_id = $2`, f.Account, f.ID)
	return api.Empty{}, err
}
