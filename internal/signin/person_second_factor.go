package signin

import (
	"cmp"
	"net/url"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/credential"
	"tocsin/internal/person"
	"tocsin/internal/platform/fault"
	"tocsin/internal/session"
)

// OwnPassword is the password of the caller, who confirms a change with it.
type OwnPassword struct {
	Password string `json:"password,omitzero" maxLength:"256" secret:"value" doc:"The caller's password, if there is one."`
}

type confirmed struct{ hash string }

func (s *Service) checkOwnPassword(c *api.Call, in OwnPassword) (out confirmed, err error) {
	out.hash, err = s.confirm(c, in.Password, false)
	return out, err
}

// SecondBegun is the secret that a person puts into an app.
type SecondBegun struct {
	Secret string `json:"secret" doc:"The secret for the app, in base32. It is shown only once."`
	URI    string `json:"uri" doc:"The same as an otpauth URI, which apps read from a picture."`
}

func (s *Service) secondBegin(c *api.Call, in confirmed) (out SecondBegun, err error) {
	r := caller(c)
	c.Touched(configstore.Person, r.PersonID, c.Who.PersonName)
	if err := unchanged(c, in.hash); err != nil {
		return out, err
	}
	has, err := credential.HasSecondFactor(c.Tx, r.AccountID, r.PersonID)
	if err != nil {
		return out, err
	}
	if has {
		return out, fault.New(fault.Conflict, "person %d has a second factor already; remove it first", r.PersonID)
	}
	p, _, err := person.Find(c.Tx, r.AccountID, r.PersonID)
	if err != nil {
		return out, err
	}
	out.Secret = credential.NewSecret()
	label := url.PathEscape("Tocsin:" + cmp.Or(p.Email, p.PersonName))
	out.URI = "otpauth://totp/" + label + "?" + url.Values{"secret": {out.Secret}, "issuer": {"Tocsin"}}.Encode()
	return out, credential.BeginSecondFactor(c.Tx, s.Keyring, r.AccountID, r.PersonID, out.Secret)
}

// CodeRequest has a code that confirms the secret.
type CodeRequest struct {
	Code string `json:"one_time_password" minLength:"6" maxLength:"10" secret:"value" doc:"The code that the app shows."`
}

// SecondConfirmed has the recovery codes.
type SecondConfirmed struct {
	RecoveryCodes []string `json:"recovery_codes" doc:"Codes for when the app is lost. They are shown only once."`
}

func (s *Service) secondConfirm(c *api.Call, in CodeRequest) (out SecondConfirmed, err error) {
	r := caller(c)
	c.Touched(configstore.Person, r.PersonID, c.Who.PersonName)
	f, found, err := credential.SecondFactorOf(c.Tx, s.Keyring, r.AccountID, r.PersonID)
	switch {
	case err != nil:
		return out, err
	case !found || f.ConfirmedAt != 0:
		return out, fault.New(fault.Conflict, "there is no second factor to confirm; begin one first")
	}
	if may, err := s.attempts.code(c.Ctx, r, c.Now); err != nil || !may {
		return out, refusal(orTooMany(err))
	}
	accepted, err := credential.AcceptCode(c.Tx, r.AccountID, r.PersonID, f, in.Code, c.Now)
	if err != nil {
		return out, err
	}
	if !accepted {
		return out, fault.Invalid("one_time_password", "is not what the app shows now")
	}
	out.RecoveryCodes, err = credential.ConfirmSecondFactor(c.Tx, r.AccountID, r.PersonID, c.Now)
	if err != nil {
		return out, err
	}
	return out, session.EndOthers(c.Tx, r.AccountID, r.PersonID, c.Who.Session)
}

// RemovalRequest names the person whose second factor is removed.
type RemovalRequest struct {
	PersonID int64 `json:"person_id,omitzero" minimum:"0" doc:"The person; absent: the caller."`
	OwnPassword
}

type removal struct {
	person.Ref
	hash string // of the caller's password
}

func (s *Service) checkRemoval(c *api.Call, in RemovalRequest) (out removal, err error) {
	out.Ref, err = subject(c, in.PersonID)
	if err != nil {
		return out, err
	}
	out.hash, err = s.confirm(c, in.Password, false)
	return out, err
}

func secondRemove(c *api.Call, in removal) (api.Empty, error) {
	c.Touched(configstore.Person, in.PersonID, "")
	if err := unchanged(c, in.hash); err != nil {
		return api.Empty{}, err
	}
	return api.Empty{}, credential.ForgetSecondFactor(c.Tx, in.AccountID, in.PersonID)
}
