package signin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/credential"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/session"
)

const (
	byPassword = session.ByPassword
	byLink     = session.ByLink
	byOpenID   = session.ByOpenID
)

// Begin starts a session for a person who has passed, and returns its secret. before is the session that the browser
// has so far, which ends.
func (s *Service) Begin(ctx context.Context, p Passed, from Client, before session.Session, now time.Time) (secret string, err error) {
	if p.Second {
		return "", ErrWrong // a code is missing: callers ask for it first
	}
	err = s.DB.WriteOf(ctx, p.AccountID, func(tx *db.Tx) (err error) {
		secret, err = s.begin(tx, p, 0, from, before, now)
		return err
	})
	return secret, err
}

// BeginWithKey starts a session for the person of an app key, with that key's permissions.
func (s *Service) BeginWithKey(
	ctx context.Context, who auth.Principal, from Client, before session.Session, now time.Time,
) (secret string, err error) {
	err = s.DB.WriteOf(ctx, who.AccountID, func(tx *db.Tx) (err error) {
		p := Passed{Ref: person.Ref{AccountID: who.AccountID, PersonID: who.PersonID}, Way: session.ByAppKey}
		secret, err = s.begin(tx, p, who.KeyID, from, before, now)
		return err
	})
	return secret, err
}

func (s *Service) begin(tx *db.Tx, p Passed, key int64, from Client, before session.Session, now time.Time) (secret string, err error) {
	first, err := session.First(tx, p.AccountID, p.PersonID)
	if err != nil {
		return "", err
	}
	if before.ID != "" {
		if err := session.EndOne(tx, before.AccountID, before.ID); err != nil {
			return "", err
		}
	}
	if key == 0 {
		if _, may, err := auth.OfPerson(tx, p.AccountID, p.PersonID); err != nil || !may {
			return "", orWrong(err)
		}
	}
	if err := credential.SignedIn(tx, p.AccountID, p.PersonID, key != 0); err != nil {
		return "", err
	}
	secret, err = session.Begin(tx, session.Session{
		AccountID: p.AccountID, PersonID: p.PersonID, Way: p.Way, KeyID: key, IP: from.IP, Agent: strings.ToValidUTF8(from.Agent, ""),
	}, now)
	if err != nil {
		return "", err
	}
	if first && from.Zone != "" {
		if err := person.AdoptZone(tx, p.AccountID, p.PersonID, from.Zone, now); err != nil {
			return "", err
		}
	}
	return secret, s.record(tx, p.Ref, opSignIn, from, fmt.Sprintf(`{"way":%q}`, p.Way), "", now)
}

func orWrong(err error) error {
	if err == nil {
		err = ErrWrong
	}
	return err
}

// End ends a session, as its person asks.
func (s *Service) End(ctx context.Context, old session.Session, from Client, now time.Time) error {
	return s.DB.WriteOf(ctx, old.AccountID, func(tx *db.Tx) error {
		if err := session.EndOne(tx, old.AccountID, old.ID); err != nil {
			return err
		}
		return s.record(tx, person.Ref{AccountID: old.AccountID, PersonID: old.PersonID}, opSignOut, from, `{}`, "", now)
	})
}

// Link returns what a link is for and whose it is. Guessing is limited by network.
func (s *Service) Link(ctx context.Context, token string, from Client, now time.Time) (l credential.Link, who person.Record, err error) {
	found := false
	err = s.DB.Snapshot(ctx, func(tx *db.Tx) (err error) {
		l, who, found, err = s.linkIn(tx, token, now)
		return err
	})
	switch {
	case err != nil:
		return l, who, err
	case found:
		return l, who, nil
	}
	if may, err := s.attempts.network(ctx, from.IP, now); err != nil || !may {
		return l, who, orTooMany(err)
	}
	return l, who, ErrEnded
}

// Open returns the person of a link that opens the console.
func (s *Service) Open(l credential.Link) Passed {
	return Passed{Ref: person.Ref{AccountID: l.AccountID, PersonID: l.PersonID}, Way: byLink}
}

// UseLink sets the password of a link's person and ends the link with all sessions of the person, which a thief may
// have. A second factor stays.
func (s *Service) UseLink(ctx context.Context, token, password string, from Client, now time.Time) (p Passed, err error) {
	l, _, err := s.Link(ctx, token, from, now)
	if err != nil {
		return p, err
	}
	if l.Kind != credential.LinkPassword {
		return p, ErrEnded
	}
	if err := credential.CheckPassword("password", password); err != nil {
		return p, err
	}
	hash, err := s.hash(ctx, password)
	if err != nil {
		return p, err
	}
	p = Passed{Ref: person.Ref{AccountID: l.AccountID, PersonID: l.PersonID}, Way: byLink, setAt: now.Unix()}
	err = s.DB.WriteOf(ctx, p.AccountID, func(tx *db.Tx) error {
		l, who, found, err := s.linkIn(tx, token, now)
		if err != nil || !found { // another use may have been faster
			return orEnded(err)
		}
		pending, err := person.Pending(tx, p.AccountID, who)
		if err != nil {
			return err
		}
		if err := setPassword(tx, p.Ref, hash, "", now); err != nil {
			return err
		}
		if pending && l.MailedTo != "" && strings.EqualFold(l.MailedTo, who.Email) { // no one else has a way in, so the mail proves it
			if err := person.Prove(tx, p.AccountID, p.PersonID); err != nil {
				return err
			}
		}
		if err := person.Enable(tx, p.AccountID, p.PersonID); err != nil {
			return err
		}
		return s.record(tx, p.Ref, opLinkSet, from, `{"way":"link"}`, "", now)
	})
	if err != nil {
		return p, err
	}
	return s.passed(ctx, p)
}

// setPassword stores a password and ends the person's sessions but one.
func setPassword(tx *db.Tx, r person.Ref, hash, but string, now time.Time) error {
	if err := credential.SetPassword(tx, r.AccountID, r.PersonID, hash, now); err != nil {
		return err
	}
	return session.EndOthers(tx, r.AccountID, r.PersonID, but)
}

func orEnded(err error) error {
	if err == nil {
		err = ErrEnded
	}
	return err
}

// refusal returns a reason as an error of an operation.
func refusal(err error) error {
	switch {
	case errors.Is(err, ErrWrong):
		return fault.Invalid("password", "is wrong")
	case errors.Is(err, ErrTooMany):
		return fault.TooSoon(time.Minute, "too many attempts; wait a minute")
	case errors.Is(err, ErrBusy):
		return fault.TooSoon(time.Second, "too many passwords are being checked; wait a moment")
	}
	return err
}
