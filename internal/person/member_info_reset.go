package person

import (
	"strings"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/credential"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

type memberResetRequest struct {
	MemberID    int64   `json:"member_id" minimum:"1" doc:"The person: the caller, or with Members Manage any person."`
	MemberName  *string `json:"member_name,omitzero" minLength:"2" maxLength:"39" doc:"Name for display."`
	Email       *string `json:"email,omitzero" maxLength:"255" doc:"E-mail address."`
	Phone       *string `json:"phone,omitzero" maxLength:"40" doc:"Phone number."`
	CountryCode *string `json:"country_code,omitzero" maxLength:"8" doc:"Country code of the phone number."`
	Avatar      *string `json:"avatar,omitzero" maxLength:"2048" doc:"Picture: a path or a URL."`
	Locale      *string `json:"locale,omitzero" enum:"zh-CN,en-US" doc:"Preferred language."`
	TimeZone    *string `json:"time_zone,omitzero" maxLength:"64" doc:"IANA name; empty: the account's."`
}

// AddressChange is a change of a person's e-mail address by a caller.
type AddressChange struct {
	Account    int64
	Person, By int64
	Name       string // of the person
	ByName     string
	Old, New   string
}

// Announce notifies the old address and the account's owner of a change of address; nil: no one is notified.
type Announce func(tx *db.Tx, change AddressChange, now time.Time) error

// memberReset changes the members of a person that were sent. An address that changes is no longer verified.
func (a Announce) memberReset(c *api.Call, in memberResetRequest) (api.Empty, error) {
	if in.MemberID != c.Who.PersonID && !c.Who.May(auth.MembersManage) {
		return api.Empty{}, fault.Denied("this key lacks the permission %s, which is required to change another person", auth.MembersManage)
	}
	account := c.Who.AccountID
	r, found, err := get(c.Tx, account, in.MemberID)
	if err != nil {
		return api.Empty{}, err
	}
	if !found || r.Status == "deleted" {
		return api.Empty{}, fault.Missing("person", in.MemberID)
	}
	if err := in.checkOwnerContacts(c, r); err != nil {
		return api.Empty{}, err
	}
	old, moves := r.Email, in.Email != nil && !strings.EqualFold(*in.Email, r.Email)
	if moves {
		if err := checkSignIn(c, r.PersonID); err != nil {
			return api.Empty{}, err
		}
		if err := configstore.FirstError(checkEmail("", *in.Email), checkUnique(c, "", *in.Email, "")); err != nil {
			return api.Empty{}, err
		}
		r.EmailVerified, r.EmailSetBy = false, c.Who.PersonID
	}
	if in.Phone != nil && *in.Phone != r.Phone {
		r.PhoneVerified = false
	}
	configstore.SetIfSent(&r.PersonName, in.MemberName)
	configstore.SetIfSent(&r.Email, in.Email)
	configstore.SetIfSent(&r.Phone, in.Phone)
	configstore.SetIfSent(&r.CountryCode, in.CountryCode)
	configstore.SetIfSent(&r.Avatar, in.Avatar)
	configstore.SetIfSent(&r.Locale, in.Locale)
	configstore.SetIfSent(&r.TimeZone, in.TimeZone)
	if err := zone("", r.TimeZone); err != nil {
		return api.Empty{}, err
	}
	r.UpdatedAt = c.Unix()
	c.Touched(configstore.Person, r.PersonID, r.PersonName)
	if err := r.put(c.Tx, account); err != nil || !moves {
		return api.Empty{}, err
	}
	return api.Empty{}, a.moved(c, r, old)
}

// moved ends the links of a person whose address has changed, because they may be in a mail to the old one, and announces the change.
func (a Announce) moved(c *api.Call, r Record, old string) error {
	if old != "" {
		if err := credential.EndLinks(c.Tx, c.Who.AccountID, r.PersonID); err != nil {
			return err
		}
	}
	if a == nil {
		return nil
	}
	return a(c.Tx, AddressChange{c.Who.AccountID, r.PersonID, c.Who.PersonID, r.PersonName, c.Who.PersonName, old, r.Email}, c.Now)
}

// checkOwnerContacts returns AccessDenied for a change of the addresses of the account's owner, unless the caller is the
// owner with a full key: a person who receives the owner's messages can close incidents in the owner's name. Values equal
// to the stored ones are no change.
func (in memberResetRequest) checkOwnerContacts(c *api.Call, r Record) error {
	owner, err := auth.OwnerOf(c.Tx, c.Who.AccountID)
	if err != nil || in.MemberID != owner || c.Who.Owner && !c.Who.Narrowed {
		return err
	}
	for _, field := range []struct {
		name   string
		sent   *string
		stored string
	}{{"email", in.Email, r.Email}, {"phone", in.Phone, r.Phone}, {"country_code", in.CountryCode, r.CountryCode}} {
		if field.sent != nil && *field.sent != field.stored {
			return fault.Denied("only the account's owner, with a key that is not narrowed, may change the owner's %s", field.name)
		}
	}
	return nil
}

// checkSignIn returns AccessDenied when another person's e-mail address is changed by a caller who lacks one of that
// person's permissions: links to sign in are sent to it, and an OpenID Connect provider names persons by it.
func checkSignIn(c *api.Call, person int64) error {
	if person == c.Who.PersonID && !c.Who.Narrowed {
		return nil
	}
	theirs, err := auth.PersonPermissions(c.Tx, c.Who.AccountID, person)
	if err == nil && theirs&^c.Who.Permissions != 0 {
		return fault.Denied("this key lacks permissions that person %d has, and so cannot change their email, by which they sign in", person)
	}
	return err
}
