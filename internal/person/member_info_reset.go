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

// MemberUpdates is what may change of a person; what is absent stays.
type MemberUpdates struct {
	MemberName  *string `json:"member_name,omitzero" minLength:"2" maxLength:"100" doc:"Name for display."`
	Email       *string `json:"email,omitzero" maxLength:"255" doc:"E-mail address."`
	Phone       *string `json:"phone,omitzero" maxLength:"40" doc:"Phone number; with its middle hidden, as replies show it: no change."`
	CountryCode *string `json:"country_code,omitzero" maxLength:"8" doc:"Country code of the phone number."`
	Avatar      *string `json:"avatar,omitzero" maxLength:"2048" doc:"Picture: a path or a URL."`
	Locale      *string `json:"locale,omitzero" enum:"zh-CN,en-US" doc:"Preferred language."`
	TimeZone    *string `json:"time_zone,omitzero" maxLength:"64" doc:"IANA name; empty: the account's."`
	RefID       *string `json:"ref_id,omitzero" maxLength:"255" doc:"Their id in the system they come from."`
}

// MemberResetRequest has two forms. With updates, the members beside it name the person. Without, member_id names the
// person, and the others are the updates.
type MemberResetRequest struct {
	MemberID int64 `json:"member_id,omitzero" minimum:"0" doc:"The person: the caller, or with Members Manage any person. Required without updates."`
	MemberUpdates
	Updates *MemberUpdates `json:"updates,omitzero" doc:"What changes. The members beside it name the person then, and all of them must fit: member_id, member_name, email, phone, country_code, ref_id."`
}

// Check rejects a request that names no person, and members beside updates that name none.
func (in MemberResetRequest) Check() error {
	if in.Updates == nil {
		if in.MemberID == 0 {
			return fault.Invalid("member_id", "is required, or updates and beside it member_id, member_name, email, phone or ref_id")
		}
		return nil
	}
	for _, field := range []struct {
		name string
		sent *string
	}{{"avatar", in.Avatar}, {"locale", in.Locale}, {"time_zone", in.TimeZone}} {
		if field.sent != nil {
			return fault.Invalid(field.name, "must be in updates: beside it are the members that name the person")
		}
	}
	return in.names().check()
}

// names returns what names the person beside updates.
func (in MemberResetRequest) names() MemberNames {
	text := func(sent *string) string {
		if sent == nil {
			return ""
		}
		return *sent
	}
	return MemberNames{
		MemberID: in.MemberID, MemberName: text(in.MemberName), Email: text(in.Email), Phone: text(in.Phone),
		CountryCode: text(in.CountryCode), RefID: text(in.RefID),
	}
}

// target returns the person that a request names and what it changes, if the caller may change that. A caller without
// Members Manage gets the same refusal whether a person has an address or not, and may not change ref_id, by which other
// systems find the person.
func (in MemberResetRequest) target(c *api.Call) (Record, MemberUpdates, error) {
	person, change := in.MemberID, in.MemberUpdates
	var unknown error
	if in.Updates != nil {
		change = *in.Updates
		person, unknown = in.names().find(c)
	}
	manages := c.Who.May(auth.MembersManage)
	switch {
	case unknown != nil && (manages || fault.KindOf(unknown) == fault.Internal):
		return Record{}, change, unknown
	case person != c.Who.PersonID && !manages:
		return Record{}, change, fault.Denied("this key lacks the permission %s, which is required to change another person", auth.MembersManage)
	}
	r, found, err := get(c.Tx, c.Who.AccountID, person)
	switch {
	case err != nil:
		return r, change, err
	case !found || r.Status == "deleted":
		return r, change, fault.Missing("person", person)
	case change.RefID != nil && *change.RefID != r.RefID && !manages:
		return r, change, fault.Denied("this key lacks the permission %s, which is required to change ref_id", auth.MembersManage)
	}
	return r, change, nil
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
func (a Announce) memberReset(c *api.Call, in MemberResetRequest) (api.Empty, error) {
	account := c.Who.AccountID
	r, change, err := in.target(c)
	if err != nil {
		return api.Empty{}, err
	}
	if change.Phone != nil && *change.Phone == masked(r.Phone) { // as replies show it, which must not replace the number
		change.Phone = nil
	}
	if err := change.checkOwnerContacts(c, r); err != nil {
		return api.Empty{}, err
	}
	old, moves := r.Email, change.Email != nil && !strings.EqualFold(*change.Email, r.Email)
	if moves {
		if err := checkSignIn(c, r.PersonID); err != nil {
			return api.Empty{}, err
		}
		if err := configstore.FirstError(checkEmail("", *change.Email), checkUnique(c, "", *change.Email, "")); err != nil {
			return api.Empty{}, err
		}
		r.EmailVerified, r.EmailSetBy = false, c.Who.PersonID
	}
	if change.RefID != nil && *change.RefID != r.RefID {
		if err := checkUnique(c, "", "", *change.RefID); err != nil {
			return api.Empty{}, err
		}
	}
	if change.Phone != nil && *change.Phone != r.Phone {
		r.PhoneVerified = false
	}
	configstore.SetIfSent(&r.PersonName, change.MemberName)
	configstore.SetIfSent(&r.Email, change.Email)
	configstore.SetIfSent(&r.Phone, change.Phone)
	configstore.SetIfSent(&r.CountryCode, change.CountryCode)
	configstore.SetIfSent(&r.Avatar, change.Avatar)
	configstore.SetIfSent(&r.Locale, change.Locale)
	configstore.SetIfSent(&r.TimeZone, change.TimeZone)
	configstore.SetIfSent(&r.RefID, change.RefID)
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
func (u MemberUpdates) checkOwnerContacts(c *api.Call, r Record) error {
	owner, err := auth.OwnerOf(c.Tx, c.Who.AccountID)
	if err != nil || r.PersonID != owner || c.Who.Owner && !c.Who.Narrowed {
		return err
	}
	for _, field := range []struct {
		name   string
		sent   *string
		stored string
	}{{"email", u.Email, r.Email}, {"phone", u.Phone, r.Phone}, {"country_code", u.CountryCode, r.CountryCode}} {
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
