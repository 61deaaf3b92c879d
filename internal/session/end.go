package session

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
)

// EndRequest names the sessions to end.
type EndRequest struct {
	PersonID   int64    `json:"person_id,omitzero" minimum:"0" doc:"The person; absent: the caller. Only the account's owner can end sessions of other persons."`
	SessionIDs []string `json:"session_ids,omitzero" maxItems:"100" maxLength:"64" doc:"The sessions to end."`
	IsAll      bool     `json:"is_all,omitzero" doc:"End all sessions of the person but the one that the call comes from."`
}

// Check returns fault.Invalid unless the request names sessions.
func (in EndRequest) Check() error {
	if (len(in.SessionIDs) == 0) != in.IsAll {
		return fault.Invalid("session_ids", "or is_all is required, and not both")
	}
	return nil
}

// end ends sessions. One that has ended already is no error: the caller wants it gone.
func end(c *api.Call, in EndRequest) (api.Empty, error) {
	person, err := personOf(c, in.PersonID)
	if err != nil {
		return api.Empty{}, err
	}
	c.Touched(configstore.Person, person, "")
	if in.IsAll {
		return api.Empty{}, EndOthers(c.Tx, c.Who.AccountID, person, c.Who.Session)
	}
	own, err := Of(c.Tx, c.Who.AccountID, person, c.Now)
	if err != nil {
		return api.Empty{}, err
	}
	for _, s := range own {
		for _, named := range in.SessionIDs {
			if s.ID == named {
				c.Touched("session", s.ID, "")
				err = EndOne(c.Tx, c.Who.AccountID, s.ID)
			}
			if err != nil {
				return api.Empty{}, err
			}
		}
	}
	return api.Empty{}, nil
}
