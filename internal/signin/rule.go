package signin

import (
	"errors"
	"strings"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/credential"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/team"
)

// The rule of docs/signing-in.md: who may let whom in, and whom an identity is bound to.

// letsIn returns AccessDenied for a maker who could become more than they are by letting a person in: with a link, or by setting
// the address that a provider names. It is asked when a link is made, and again when the link is used.
func letsIn(tx *db.Tx, maker auth.Principal, p person.Record) error {
	if maker.Owner {
		return nil
	}
	pending, err := person.Pending(tx, maker.AccountID, p)
	switch {
	case err != nil:
		return err
	case !pending:
		return fault.Denied("only the account's owner may make a link for a person who is not pending, %d", p.PersonID)
	case !maker.May(auth.MembersManage):
		return fault.Denied("this key lacks the permission %s", auth.MembersManage)
	}
	theirs, err := auth.PersonPermissions(tx, maker.AccountID, p.PersonID)
	if err != nil {
		return err
	}
	if theirs&^maker.Permissions != 0 {
		return fault.Denied("this key lacks permissions that person %d has, and so cannot make a link", p.PersonID)
	}
	return inTeamsOf(tx, maker, p)
}

// inTeamsOf returns AccessDenied for a maker who is not in all teams of a person, and so may read less. Who manages teams could
// join them.
func inTeamsOf(tx *db.Tx, maker auth.Principal, p person.Record) error {
	if maker.May(auth.TeamsManage) {
		return nil
	}
	teams, err := team.Of(tx, maker.AccountID, p.PersonID)
	if err != nil {
		return err
	}
	for _, one := range teams {
		in, err := auth.InTeam(tx, maker, one)
		if err != nil {
			return err
		}
		if !in {
			return fault.Denied("person %d is in team %d, which this key's person is not in, and so cannot make a link", p.PersonID, one)
		}
	}
	return nil
}

// stillLetsIn reports whether the maker of a link, or who has set an address, may still let a person in. 0 is the server, its
// operator or an account file.
func stillLetsIn(tx *db.Tx, maker, account int64, p person.Record) (bool, error) {
	if maker == 0 {
		return true, nil
	}
	who, found, err := auth.OfPerson(tx, account, maker)
	if err != nil || !found {
		return false, err
	}
	err = letsIn(tx, who, p)
	if fault.KindOf(err) == fault.AccessDenied {
		return false, nil
	}
	return err == nil, err
}

// linkIn returns the link of a token and its person. found is false when the link opens nothing.
func (s *Service) linkIn(tx *db.Tx, token string, now time.Time) (l credential.Link, who person.Record, found bool, err error) {
	l, found, err = credential.FindLink(tx, token, now)
	if err != nil || !found {
		return l, who, false, err
	}
	who, found, err = person.Find(tx, l.AccountID, l.PersonID)
	if err != nil || !found || who.Status == "deleted" {
		return l, who, false, err
	}
	switch l.Kind {
	case credential.LinkPassword:
		found, err = stillLetsIn(tx, l.MakerID, l.AccountID, who)
	case credential.LinkEmail:
		found = strings.EqualFold(l.MailedTo, who.Email)
	}
	return l, who, found, err
}

// bindable returns nil if an identity of the provider may be bound to a person because of the e-mail address: if it is the
// person's first there, and the address was proved, or the person is pending and its setter may let the person in.
func (s *Service) bindable(tx *db.Tx, account int64, p person.Record) error {
	other, err := credential.HasIdentity(tx, account, s.OpenID.Issuer, p.PersonID)
	if err != nil {
		return err
	}
	if other {
		return ErrOther
	}
	if p.EmailVerified {
		return nil
	}
	signedIn, err := person.SignedIn(tx, account, p.PersonID)
	if err != nil {
		return err
	}
	if signedIn || p.EmailSetBy == p.PersonID {
		return ErrUnproved
	}
	may, err := stillLetsIn(tx, p.EmailSetBy, account, p)
	if err == nil && !may {
		err = ErrUnproved
	}
	return err
}

// The reasons why the provider's person is not the person here who has the address.
var (
	ErrUnproved = errors.New("the person with this e-mail address has not proved it")
	ErrOther    = errors.New("the person with this e-mail address is another identity at the provider")
)
