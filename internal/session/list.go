package session

import (
	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
)

// Item is a session as it is listed.
type Item struct {
	SessionID string `json:"session_id" doc:"The session's identifier; it is no secret."`
	Way       string `json:"way" enum:"app_key,password,oidc,link" doc:"How the person signed in; oidc: OpenID Connect."`
	KeyID     int64  `json:"key_id" doc:"The app key that the person signed in with, whose end is the session's; 0: none."`
	IP        string `json:"ip" doc:"The address that the person signed in from."`
	Agent     string `json:"agent" doc:"The browser, as it names itself."`
	CreatedAt int64  `json:"created_at" doc:"When the person signed in, in Unix seconds."`
	UsedAt    int64  `json:"used_at" doc:"The last use, in Unix seconds, to the minute."`
	ExpiresAt int64  `json:"expires_at" doc:"When it ends if it is not used any more, in Unix seconds."`
	IsCurrent bool   `json:"is_current" doc:"The call comes from this session."`
}

// ListRequest asks for the sessions of a person.
type ListRequest struct {
	PersonID int64 `json:"person_id,omitzero" minimum:"0" doc:"The person; absent: the caller. Only the account's owner can list sessions of other persons."`
}

// personOf returns the person whose sessions a call is about. Only the account's owner may act on those of others.
func personOf(c *api.Call, person int64) (int64, error) {
	if person == 0 || person == c.Who.PersonID {
		return c.Who.PersonID, nil
	}
	if !c.Who.Owner {
		return 0, fault.Denied("only the account's owner may act on sessions of another person, %d", person)
	}
	return person, nil
}

func list(c *api.Call, in ListRequest) (api.Items[Item], error) {
	out := api.Items[Item]{Items: []Item{}}
	person, err := personOf(c, in.PersonID)
	if err != nil {
		return out, err
	}
	all, err := Of(c.Tx, c.Who.AccountID, person, c.Now)
	for _, s := range all {
		out.Items = append(out.Items, Item{s.ID, s.Way, s.KeyID, s.IP, s.Agent, s.CreatedAt, s.UsedAt, s.End(), s.ID == c.Who.Session})
	}
	return out, err
}
