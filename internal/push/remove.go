package push

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
)

// OneRequest names a browser of the caller.
type OneRequest struct {
	SubscriptionID int64 `json:"subscription_id" minimum:"1" doc:"A browser of the caller."`
}

// own returns a browser of the caller. That of another person does not exist for the caller.
func (in OneRequest) own(c *api.Call) (Subscription, error) {
	s, found, err := Find(c.Tx, c.Who.AccountID, in.SubscriptionID)
	if err == nil && (!found || s.PersonID != c.Who.PersonID) {
		err = fault.Missing("subscription", in.SubscriptionID)
	}
	return s, err
}

func remove(c *api.Call, in OneRequest) (api.Empty, error) {
	s, err := in.own(c)
	if err != nil {
		return api.Empty{}, err
	}
	c.Touched(configstore.Person, s.PersonID, "")
	return api.Empty{}, Remove(c.Tx, s.AccountID, s.ID)
}
