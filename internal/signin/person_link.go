package signin

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/credential"
	"tocsin/internal/person"
	"tocsin/internal/platform/fault"
)

// LinkRequest names the person whom a link is for.
type LinkRequest struct {
	PersonID int64 `json:"person_id" minimum:"1" doc:"The person."`
	IsMailed bool  `json:"is_mailed,omitzero" doc:"Send the person a mail with a link of its own as well."`
}

// LinkCreated is a link that was created.
type LinkCreated struct {
	LinkPath   string `json:"link_path" doc:"Path of the link on this server. It is shown only once."`
	LinkEndsAt int64  `json:"link_ends_at" doc:"When the link ends, in Unix seconds."`
}

func (s *Service) linkCreate(c *api.Call, in LinkRequest) (out LinkCreated, err error) {
	p, found, err := person.Find(c.Tx, c.Who.AccountID, in.PersonID)
	if err != nil {
		return out, err
	}
	if !found || p.Status == "deleted" {
		return out, fault.Missing("person", in.PersonID)
	}
	if err := checkLink(c, p); err != nil {
		return out, err
	}
	c.Touched(configstore.Person, p.PersonID, p.PersonName)
	if in.IsMailed {
		if p.Email == "" || !s.mails() {
			return out, fault.Invalid("is_mailed", "needs an e-mail address of the person, a mail server and the server's public address")
		}
		mail := credential.Invitation{
			AccountID: c.Who.AccountID, PersonID: p.PersonID, MakerID: c.Who.PersonID, Kind: credential.LinkPassword,
		}
		if err := credential.Invite(c.Tx, mail, c.Now); err != nil {
			return out, err
		}
	}
	link := credential.Link{AccountID: c.Who.AccountID, PersonID: p.PersonID, MakerID: c.Who.PersonID}
	out.LinkPath, out.LinkEndsAt, err = credential.PasswordLink(c.Tx, link, c.Now)
	return out, err
}

// checkLink returns AccessDenied for callers who could become more than they are by a link: a link outlives the key that
// made it, and its user has all permissions of the person.
func checkLink(c *api.Call, p person.Record) error {
	if c.Who.Narrowed || c.Who.ExpiresAt != 0 {
		return fault.Denied("a key that is narrowed or expires cannot make a link, which is neither")
	}
	return letsIn(c.Tx, c.Who, p)
}
