package person

import (
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/credential"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
	"tocsin/internal/role"
)

// Invited is a person to be invited.
type Invited struct {
	MemberName  string  `json:"member_name,omitzero" minLength:"2" maxLength:"100" doc:"Name for display; absent: the e-mail address up to its @."`
	Email       string  `json:"email,omitzero" maxLength:"255" doc:"E-mail address; this or a phone number is required."`
	Phone       string  `json:"phone,omitzero" maxLength:"40" doc:"Phone number."`
	CountryCode string  `json:"country_code,omitzero" maxLength:"8" doc:"Country code of the phone number, such as CN."`
	RoleIDs     []int64 `json:"role_ids,omitzero" maxItems:"100" doc:"Roles to grant."`
	Locale      string  `json:"locale,omitzero" enum:"zh-CN,en-US" doc:"Preferred language."`
	TimeZone    string  `json:"time_zone,omitzero" maxLength:"64" doc:"IANA name."`
	RefID       string  `json:"ref_id,omitzero" maxLength:"255" doc:"Their id in the system they come from."`
}

// InviteRequest has persons to invite.
type InviteRequest struct {
	Members []Invited `json:"members" minItems:"1" maxItems:"20" doc:"The persons to invite, 1 to 20: all of them or none."`
	From    string    `json:"from,omitzero" maxLength:"255" doc:"Ignored."`
}

// Check returns fault.Invalid for a person without an address, or with an invalid one.
func (in InviteRequest) Check() error {
	for i, m := range in.Members {
		at := configstore.PathOf("members", i)
		if m.Email == "" && m.Phone == "" {
			return at.Invalid("email", "or phone is required")
		}
		if err := configstore.FirstError(checkEmail(at, m.Email), zone(at, m.TimeZone)); err != nil {
			return err
		}
	}
	return nil
}

// checkEmail returns fault.Invalid for a malformed address; an empty one is valid.
func checkEmail(at configstore.RecordPath, email string) error {
	if email == "" {
		return nil
	}
	return at.Email("email", email)
}

// InvitedItem is a person who was invited.
type InvitedItem struct {
	MemberID   int64  `json:"member_id" doc:"The new person."`
	MemberName string `json:"member_name" doc:"Their name."`
	LinkPath   string `json:"link_path" doc:"Path on this server at which the person sets a password and signs in, once. Hand it over: whoever has it can sign in as the person."`
	LinkEndsAt int64  `json:"link_ends_at" doc:"When the link ends, in Unix seconds."`
}

// memberInvite stores persons and a link for each. Those with an e-mail address are sent a link of their own as well.
func memberInvite(c *api.Call, in InviteRequest) (api.Items[InvitedItem], error) {
	out := api.Items[InvitedItem]{Items: []InvitedItem{}}
	for i, m := range in.Members {
		item, err := invite(c, configstore.PathOf("members", i), m)
		if err != nil {
			return out, err
		}
		item.LinkPath, item.LinkEndsAt, err = credential.PasswordLink(c.Tx, linkOf(c, item.MemberID), c.Now)
		if err != nil {
			return out, err
		}
		out.Items = append(out.Items, item)
	}
	return out, configstore.BumpRevision(c.Tx, c.Who.AccountID)
}

// InviteByEmail invites one person as /member/invite does. The caller checks the permission.
func InviteByEmail(c *api.Call, at configstore.RecordPath, email string) (person int64, name string, err error) {
	if err := at.Email("", email); err != nil {
		return 0, "", err
	}
	item, err := invite(c, at, Invited{Email: email})
	if err != nil {
		return 0, "", err
	}
	return item.MemberID, item.MemberName, configstore.BumpRevision(c.Tx, c.Who.AccountID)
}

// invite stores a new person who is pending, with their roles. A mail to their address becomes due.
func invite(c *api.Call, at configstore.RecordPath, m Invited) (item InvitedItem, err error) {
	if err := checkUnique(c, at, m.Email, m.RefID); err != nil {
		return item, err
	}
	person, err := id.Unused(func(n int64) (bool, error) { return stored(c.Tx, c.Who.AccountID, n) })
	if err != nil {
		return item, err
	}
	name := m.MemberName
	if name == "" {
		name, _, _ = strings.Cut(m.Email+m.Phone, "@")
	}
	err = c.Tx.Do(`INSERT INTO person (account_id, person_id, person_name, avatar, locale, time_zone, email, phone, phone_verified,
			email_verified, "as", status,
			country_code, ref_id, name_folded, created_at, updated_at, email_set_by)
				VALUES ($1, $2, $3, '', $4, $5, $6, $7, FALSE, FALSE, 'member', 'pending', $8, $9, $10, $11, $11, $12)`,
		c.Who.AccountID, person, name, m.Locale, m.TimeZone, m.Email, m.Phone, m.CountryCode, m.RefID, db.Fold(name+"\n"+m.Email), c.Unix(),
		c.Who.PersonID)
	if err != nil {
		return item, err
	}
	c.Touched(configstore.Person, person, name)
	if m.Email != "" {
		mail := credential.Invitation{
			AccountID: c.Who.AccountID, PersonID: person, MakerID: c.Who.PersonID, Kind: credential.LinkPassword,
		}
		if err := credential.Invite(c.Tx, mail, c.Now); err != nil {
			return item, err
		}
	}
	for _, r := range m.RoleIDs {
		if err := role.Grant(c, r, []int64{person}); err != nil {
			return item, err
		}
	}
	return InvitedItem{MemberID: person, MemberName: name}, nil
}

// linkOf returns a link that a caller makes for a person.
func linkOf(c *api.Call, person int64) credential.Link {
	return credential.Link{AccountID: c.Who.AccountID, PersonID: person, MakerID: c.Who.PersonID}
}

// stored reports whether a person, deleted or not, has an id.
func stored(tx *db.Tx, account, person int64) (bool, error) {
	_, found, err := db.One(tx, db.Column[int64], `SELECT 1 FROM person WHERE account_id = $1 AND person_id = $2`, account, person)
	return found, err
}

// checkUnique returns fault.Invalid for an e-mail address or external id that another person has.
func checkUnique(c *api.Call, at configstore.RecordPath, email, ref string) error {
	for _, field := range []struct{ name, value, query string }{
		{"email", email, `SELECT person_id FROM person WHERE account_id = $1 AND lower(email) = lower($2) AND status <> 'deleted'`},
		{"ref_id", ref, `SELECT person_id FROM person WHERE account_id = $1 AND ref_id = $2 AND status <> 'deleted'`},
	} {
		if field.value == "" {
			continue
		}
		other, taken, err := db.One(c.Tx, db.Column[int64], field.query, c.Who.AccountID, field.value)
		if err != nil {
			return err
		}
		if taken {
			return at.Invalid(field.name, "is that of person %d already", other)
		}
	}
	return nil
}
