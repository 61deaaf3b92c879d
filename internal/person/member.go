package person

import (
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/role"
)

// Member is a person as administrators of the account see one.
type Member struct {
	AccountID      int64   `json:"account_id" doc:"The account."`
	MemberID       int64   `json:"member_id" doc:"The person."`
	MemberName     string  `json:"member_name" doc:"Name for display."`
	CountryCode    string  `json:"country_code" doc:"Country code of the phone number; may be empty."`
	Phone          string  `json:"phone" doc:"Phone number with its middle hidden."`
	Email          string  `json:"email" doc:"E-mail address."`
	Locale         string  `json:"locale" doc:"Preferred language; may be empty."`
	TimeZone       string  `json:"time_zone" doc:"IANA name; may be empty."`
	PhoneVerified  bool    `json:"phone_verified" doc:"Whether the phone number has been confirmed."`
	EmailVerified  bool    `json:"email_verified" doc:"Whether the e-mail address has been confirmed."`
	Avatar         string  `json:"avatar" doc:"Picture: a path or a URL; may be empty."`
	Status         string  `json:"status" enum:"enabled,pending" doc:"pending: invited, and has neither signed in nor an app key so far."`
	AccountRoleIDs []int64 `json:"account_role_ids" doc:"The person's roles."`
	IsExternal     bool    `json:"is_external" doc:"Always false: no other system adds persons."`
	RefID          string  `json:"ref_id" doc:"Their id in the system they come from; may be empty."`
	CreatedAt      int64   `json:"created_at" doc:"Unix seconds; 0: not known."`
	UpdatedAt      int64   `json:"updated_at" doc:"Unix seconds; 0: not known."`
}

const memberColumns = `account_id, person_id, person_name, country_code, phone, email, locale, time_zone, phone_verified, email_verified,
	avatar, status, ref_id, created_at, updated_at`

// scanMember reads a row of the columns above, without the roles.
func scanMember(scan db.Scan) (m Member, err error) {
	err = scan(&m.AccountID, &m.MemberID, &m.MemberName, &m.CountryCode, &m.Phone, &m.Email, &m.Locale, &m.TimeZone, &m.PhoneVerified,
		&m.EmailVerified,
		&m.Avatar, &m.Status, &m.RefID, &m.CreatedAt, &m.UpdatedAt)
	if m.Status != "pending" {
		m.Status = "enabled" // account files have active for the same, or no status
	}
	m.Phone = masked(m.Phone)
	return m, err
}

// masked returns a phone number with the middle half of its characters replaced by asterisks.
func masked(phone string) string {
	if len(phone) < 4 {
		return strings.Repeat("*", len(phone))
	}
	edge := len(phone) / 4
	return phone[:edge] + strings.Repeat("*", len(phone)-2*edge) + phone[len(phone)-edge:]
}

// getMember returns a person with their roles, or fault.Missing for one who does not exist or is deleted.
func getMember(tx *db.Tx, account, person int64) (Member, error) {
	m, found, err := db.One(tx, scanMember, `SELECT `+memberColumns+
		` FROM person WHERE account_id = $1 AND person_id = $2 AND status <> 'deleted'`, account, person)
	if err == nil && !found {
		err = fault.Missing("person", person)
	}
	if err == nil {
		m.AccountRoleIDs, err = role.Of(tx, account, person)
	}
	return m, err
}

// Self is the caller, with their roles and permissions in the account.
type Self struct {
	AccountID       int64    `json:"account_id" doc:"The account."`
	AccountName     string   `json:"account_name" doc:"The account's name."`
	AccountRoleIDs  []int64  `json:"account_role_ids" doc:"The caller's roles."`
	AccountTimeZone string   `json:"account_time_zone" doc:"IANA name; every wall-clock rule of the account reads it."`
	MemberID        int64    `json:"member_id" doc:"The caller."`
	MemberName      string   `json:"member_name" doc:"Name for display."`
	Phone           string   `json:"phone" doc:"Phone number with its middle hidden."`
	PhoneVerified   bool     `json:"phone_verified" doc:"Whether the phone number has been confirmed."`
	Email           string   `json:"email" doc:"E-mail address."`
	EmailVerified   bool     `json:"email_verified" doc:"Whether the e-mail address has been confirmed."`
	CountryCode     string   `json:"country_code" doc:"Country code of the phone number."`
	Avatar          string   `json:"avatar" doc:"Picture."`
	Locale          string   `json:"locale" doc:"Preferred language."`
	TimeZone        string   `json:"time_zone" doc:"IANA name; may be empty."`
	IsExternal      bool     `json:"is_external" doc:"Always false."`
	Status          string   `json:"status" enum:"enabled,pending" doc:"pending: invited, and has neither signed in nor an app key so far."`
	IsOwner         bool     `json:"is_owner" doc:"The caller owns the account."`
	Permissions     []string `json:"permissions" doc:"What this key may do, by name."`
}

func memberInfo(c *api.Call, _ api.Empty) (Self, error) {
	a, _, err := DumpAccount(c.Tx, c.Who.AccountID)
	if err != nil {
		return Self{}, err
	}
	m, err := getMember(c.Tx, c.Who.AccountID, c.Who.PersonID)
	return Self{a.AccountID, a.AccountName, m.AccountRoleIDs, a.TimeZone, m.MemberID, m.MemberName, m.Phone, m.PhoneVerified, m.Email,
		m.EmailVerified,
		m.CountryCode, m.Avatar, m.Locale, m.TimeZone, false, m.Status, c.Who.Owner, auth.Names(c.Who.Permissions)}, err
}
