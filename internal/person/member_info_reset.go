package person

import (
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
)

type memberResetRequest struct {
	MemberID    int64   `json:"member_id" minimum:"1" doc:"The person: the caller, or with Members Manage anybody."`
	MemberName  *string `json:"member_name,omitzero" minLength:"2" maxLength:"39" doc:"Name for display."`
	Email       *string `json:"email,omitzero" maxLength:"255" doc:"E-mail address."`
	Phone       *string `json:"phone,omitzero" maxLength:"40" doc:"Phone number."`
	CountryCode *string `json:"country_code,omitzero" maxLength:"8" doc:"Country code of the phone number."`
	Avatar      *string `json:"avatar,omitzero" maxLength:"2048" doc:"Picture: a path or a URL."`
	Locale      *string `json:"locale,omitzero" enum:"zh-CN,en-US" doc:"Preferred language."`
	TimeZone    *string `json:"time_zone,omitzero" maxLength:"64" doc:"IANA name; empty: the account's."`
}

// memberReset changes what was sent of a person. An address that changes is no longer confirmed.
func memberReset(c *api.Call, in memberResetRequest) (api.Empty, error) {
	if in.MemberID != c.Who.PersonID && !c.Who.May(auth.MembersManage) {
		return api.Empty{}, fault.Denied("this key lacks the permission %s, which changing another person needs", auth.MembersManage)
	}
	account := c.Who.AccountID
	r, found, err := get(c.Tx, account, in.MemberID)
	if err != nil {
		return api.Empty{}, err
	}
	if !found || r.Status == "deleted" {
		return api.Empty{}, fault.Missing("person", in.MemberID)
	}
	if err := in.ownersOwn(c, r); err != nil {
		return api.Empty{}, err
	}
	if in.Email != nil && !strings.EqualFold(*in.Email, r.Email) {
		if err := configstore.FirstError(checkEmail("", *in.Email), unused(c, "", *in.Email, "")); err != nil {
			return api.Empty{}, err
		}
		r.EmailVerified = false
	}
	if in.Phone != nil && *in.Phone != r.Phone {
		r.PhoneVerified = false
	}
	for field, sent := range map[*string]*string{&r.PersonName: in.MemberName, &r.Email: in.Email, &r.Phone: in.Phone,
		&r.CountryCode: in.CountryCode, &r.Avatar: in.Avatar, &r.Locale: in.Locale, &r.TimeZone: in.TimeZone} {
		if sent != nil {
			*field = *sent
		}
	}
	if err := zone("", r.TimeZone); err != nil {
		return api.Empty{}, err
	}
	r.UpdatedAt = c.Unix()
	c.Touched(configstore.Person, r.PersonID, r.PersonName)
	return api.Empty{}, r.put(c.Tx, account)
}

// ownersOwn refuses to change where the account's owner is reached, but to the owner with a full key: whoever receives
// the owner's messages can end an incident in the owner's name. What is sent back as it is changes nothing.
func (in memberResetRequest) ownersOwn(c *api.Call, r Record) error {
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
