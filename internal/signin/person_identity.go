package signin

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/credential"
	"tocsin/internal/person"
	"tocsin/internal/platform/fault"
	"tocsin/internal/session"
)

// IdentityRequest names the person whose identity is removed.
type IdentityRequest struct {
	PersonID int64 `json:"person_id" minimum:"1" doc:"The person."`
}

// identityRemove deletes who a person is at the provider, and ends the sessions that began there.
func identityRemove(c *api.Call, in IdentityRequest) (api.Empty, error) {
	if !c.Who.Owner {
		return api.Empty{}, fault.Denied("only the account's owner may remove who a person is at the provider")
	}
	p, found, err := person.Find(c.Tx, c.Who.AccountID, in.PersonID)
	if err != nil {
		return api.Empty{}, err
	}
	if !found || p.Status == "deleted" {
		return api.Empty{}, fault.Missing("person", in.PersonID)
	}
	c.Touched(configstore.Person, p.PersonID, p.PersonName)
	if err := credential.ForgetIdentities(c.Tx, c.Who.AccountID, p.PersonID); err != nil {
		return api.Empty{}, err
	}
	return api.Empty{}, session.EndWay(c.Tx, c.Who.AccountID, p.PersonID, session.ByOpenID)
}
