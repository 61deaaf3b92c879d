package signin

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/credential"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// PasswordRequest has a person's present password and the new one.
type PasswordRequest struct {
	Password    string `json:"password" maxLength:"256" secret:"value" doc:"The present password."`
	NewPassword string `json:"new_password" minLength:"12" maxLength:"256" secret:"value" doc:"The new one, 12 to 256 characters."`
}

// changed is a password whose change has been checked.
type changed struct{ before, after string } // hashes

// checkPassword compares and hashes without a transaction, because both take long.
func (s *Service) checkPassword(c *api.Call, in PasswordRequest) (out changed, err error) {
	out.before, err = s.confirm(c, in.Password, true)
	if err != nil {
		return out, err
	}
	if err := credential.CheckPassword("new_password", in.NewPassword); err != nil {
		return out, err
	}
	if in.NewPassword == in.Password {
		return out, fault.Invalid("new_password", "must differ from the present one")
	}
	out.after, err = s.hash(c.Ctx, in.NewPassword)
	return out, refusal(err)
}

func (s *Service) passwordUpdate(c *api.Call, in changed) (api.Empty, error) {
	r := caller(c)
	c.Touched(configstore.Person, r.PersonID, c.Who.PersonName)
	if err := unchanged(c, in.before); err != nil {
		return api.Empty{}, err
	}
	return api.Empty{}, setPassword(c.Tx, r, in.after, c.Who.Session, c.Now)
}

// unchanged returns fault.Conflict when the password was changed since it was compared.
func unchanged(c *api.Call, hash string) error {
	p, err := credential.PasswordOf(c.Tx, c.Who.AccountID, c.Who.PersonID)
	if err == nil && p.Hash != hash {
		err = fault.New(fault.Conflict, "the password was changed at the same time; try again")
	}
	return err
}

func caller(c *api.Call) person.Ref {
	return person.Ref{AccountID: c.Who.AccountID, PersonID: c.Who.PersonID}
}

// confirm checks that the caller knows the password, and returns its hash. A person without a password passes, unless one is
// required. This protects changes that would let someone with a stolen session take over the account.
func (s *Service) confirm(c *api.Call, password string, required bool) (hash string, err error) {
	var own credential.Password
	err = s.DB.Read(c.Ctx, func(tx *db.Tx) (err error) {
		own, err = credential.PasswordOf(tx, c.Who.AccountID, c.Who.PersonID)
		return err
	})
	switch {
	case err != nil:
		return "", err
	case own.Hash == "" && required:
		return "", fault.New(fault.Conflict, "person %d has no password; the first one is set with a link", c.Who.PersonID)
	case own.Hash == "":
		return "", nil
	}
	if may, err := s.attempts.code(c.Ctx, caller(c), c.Now); err != nil || !may {
		return "", refusal(orTooMany(err))
	}
	same, err := s.matches(c.Ctx, hasher{known: true}, own.Hash, password)
	if err == nil && !same {
		err = ErrWrong
	}
	return own.Hash, refusal(err)
}
