package signin

import (
	"cmp"

	"tocsin/internal/api"
	"tocsin/internal/credential"
	"tocsin/internal/person"
	"tocsin/internal/platform/fault"
)

// SecurityRequest names a person.
type SecurityRequest struct {
	PersonID int64 `json:"person_id,omitzero" minimum:"0" doc:"The person; absent: the caller. Only the account's owner can see other persons."`
}

// Security describes how a person signs in.
type Security struct {
	HasPassword       bool  `json:"has_password" doc:"The person can sign in with a password."`
	PasswordSetAt     int64 `json:"password_set_at" doc:"When it was set, in Unix seconds; 0: never."`
	HasSecondFactor   bool  `json:"has_second_factor" doc:"A code is asked for at sign-in."`
	HasIdentity       bool  `json:"has_identity" doc:"The OpenID Connect provider knows the person by an identifier of its own."`
	EmailVerified     bool  `json:"email_verified" doc:"The e-mail address was proved: the provider finds the person by it."`
	RecoveryCodesLeft int64 `json:"recovery_codes_left" doc:"How many recovery codes were not used."`
}

// subject returns the person whom a call is about. Only the account's owner may act on others.
func subject(c *api.Call, id int64) (person.Ref, error) {
	r := person.Ref{AccountID: c.Who.AccountID, PersonID: cmp.Or(id, c.Who.PersonID)}
	if r.PersonID != c.Who.PersonID && !c.Who.Owner {
		return r, fault.Denied("only the account's owner may act on how another person signs in, %d", id)
	}
	return r, nil
}

func securityInfo(c *api.Call, in SecurityRequest) (out Security, err error) {
	r, err := subject(c, in.PersonID)
	if err != nil {
		return out, err
	}
	p, err := credential.PasswordOf(c.Tx, r.AccountID, r.PersonID)
	if err != nil {
		return out, err
	}
	out.HasPassword, out.PasswordSetAt = p.Hash != "", p.SetAt
	out.HasSecondFactor, err = credential.HasSecondFactor(c.Tx, r.AccountID, r.PersonID)
	if err != nil {
		return out, err
	}
	out.HasIdentity, err = credential.HasIdentity(c.Tx, r.AccountID, "", r.PersonID)
	if err != nil {
		return out, err
	}
	who, _, err := person.Find(c.Tx, r.AccountID, r.PersonID)
	if err != nil {
		return out, err
	}
	out.EmailVerified = who.EmailVerified
	out.RecoveryCodesLeft, err = credential.RecoveryCodesLeft(c.Tx, r.AccountID, r.PersonID)
	return out, err
}
