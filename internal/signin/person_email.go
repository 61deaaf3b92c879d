package signin

import (
	"context"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/credential"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// proofEvery is how long a person waits for another mail with a link that proves the address, which may be that of a stranger.
const proofEvery = 10 * time.Minute

// emailProve makes a mail to the caller due, with a link that proves the address.
func (s *Service) emailProve(c *api.Call, _ api.Empty) (api.Empty, error) {
	p, _, err := person.Find(c.Tx, c.Who.AccountID, c.Who.PersonID)
	switch {
	case err != nil:
		return api.Empty{}, err
	case p.EmailVerified:
		return api.Empty{}, fault.New(fault.Conflict, "the e-mail address is proved already")
	case p.Email == "" || !s.mails():
		return api.Empty{}, fault.New(fault.Conflict, "a proof needs an e-mail address, a mail server and the server's public address")
	}
	waits, err := credential.Waiting(c.Tx, c.Who.AccountID, c.Who.PersonID, credential.LinkEmail, c.Now.Add(-proofEvery))
	if err != nil {
		return api.Empty{}, err
	}
	if waits {
		return api.Empty{}, fault.TooSoon(proofEvery, "a mail was sent in the last 10 minutes; wait for it")
	}
	c.Touched(configstore.Person, p.PersonID, p.PersonName)
	mail := credential.Invitation{AccountID: c.Who.AccountID, PersonID: p.PersonID, MakerID: p.PersonID, Kind: credential.LinkEmail}
	return api.Empty{}, credential.Invite(c.Tx, mail, c.Now)
}

// ProveEmail proves the address that a link was mailed to. The person must be signed in: who reads the mail may be another.
func (s *Service) ProveEmail(ctx context.Context, token string, who auth.Principal, from Client, now time.Time) error {
	as := person.Ref{AccountID: who.AccountID, PersonID: who.PersonID}
	return s.DB.WriteOf(ctx, as.AccountID, func(tx *db.Tx) error {
		l, _, found, err := s.linkIn(tx, token, now)
		if err != nil || !found || l.Kind != credential.LinkEmail || l.AccountID != as.AccountID || l.PersonID != as.PersonID {
			return orEnded(err)
		}
		if err := person.Prove(tx, as.AccountID, as.PersonID); err != nil {
			return err
		}
		if err := credential.EndProofs(tx, as.AccountID, as.PersonID); err != nil {
			return err
		}
		return s.record(tx, as, opProve, from, `{"way":"link"}`, "", now)
	})
}
