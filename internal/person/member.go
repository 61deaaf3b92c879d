package person

import (
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/check"
	"tocsin/internal/db"
	"tocsin/internal/fault"
	"tocsin/internal/id"
	"tocsin/internal/reference"
	"tocsin/internal/role"
)

// Member is a person as those see them who administer the account.
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
	Status         string  `json:"status" enum:"enabled,pending" doc:"pending: invited, and without an app key so far."`
	AccountRoleIDs []int64 `json:"account_role_ids" doc:"The person's roles."`
	IsExternal     bool    `json:"is_external" doc:"Always false: nobody is brought in by another system."`
	RefID          string  `json:"ref_id" doc:"Their id in the system they come from; may be empty."`
	CreatedAt      int64   `json:"created_at" doc:"Unix seconds; 0: not known."`
	UpdatedAt      int64   `json:"updated_at" doc:"Unix seconds; 0: not known."`
}

const memberColumns = `account_id, person_id, person_name, country_code, phone, email, locale, time_zone, phone_verified, email_verified, avatar, status, ref_id, created_at, updated_at`

func scanMember(scan db.Scan) (m Member, err error) {
	err = scan(&m.AccountID, &m.MemberID, &m.MemberName, &m.CountryCode, &m.Phone, &m.Email, &m.Locale, &m.TimeZone, &m.PhoneVerified, &m.EmailVerified,
		&m.Avatar, &m.Status, &m.RefID, &m.CreatedAt, &m.UpdatedAt)
	if m.Status != "pending" {
		m.Status = "enabled" // files say active for the same, or nothing
	}
	m.Phone = masked(m.Phone)
	return m, err
}

// masked hides the middle of a phone number, half of its characters.
func masked(phone string) string {
	if len(phone) < 4 {
		return strings.Repeat("*", len(phone))
	}
	edge := len(phone) / 4
	return phone[:edge] + strings.Repeat("*", len(phone)-2*edge) + phone[len(phone)-edge:]
}

// getMember reads a person who is not deleted.
func getMember(tx *db.Tx, account, person int64) (Member, error) {
	m, found, err := db.One(tx, scanMember, `SELECT `+memberColumns+` FROM person WHERE account_id = $1 AND person_id = $2 AND status <> 'deleted'`, account, person)
	if err == nil && !found {
		err = fault.Missing("person", person)
	}
	if err == nil {
		m.AccountRoleIDs, err = role.Of(tx, account, person)
	}
	return m, err
}

// Self is the caller with what they want to know of the account.
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
	Status          string   `json:"status" enum:"enabled,pending" doc:"pending: invited, and without an app key so far."`
	IsOwner         bool     `json:"is_owner" doc:"The caller owns the account."`
	Permissions     []string `json:"permissions" doc:"What this key may do, by name."`
}

func memberInfo(c *api.Call, _ api.Empty) (Self, error) {
	a, _, err := DumpAccount(c.Tx, c.Who.AccountID)
	if err != nil {
		return Self{}, err
	}
	m, err := getMember(c.Tx, c.Who.AccountID, c.Who.PersonID)
	return Self{a.AccountID, a.AccountName, m.AccountRoleIDs, a.TimeZone, m.MemberID, m.MemberName, m.Phone, m.PhoneVerified, m.Email, m.EmailVerified,
		m.CountryCode, m.Avatar, m.Locale, m.TimeZone, false, m.Status, c.Who.Owner, auth.Names(c.Who.Permissions)}, err
}

// AccountInfo is the account as the API shows it.
type AccountInfo struct {
	AccountID   int64  `json:"account_id" doc:"The account."`
	AccountName string `json:"account_name" doc:"Its name."`
	TimeZone    string `json:"time_zone" doc:"IANA name; every wall-clock rule of the account reads it."`
	OwnerID     int64  `json:"owner_id" doc:"The person who has every permission."`
}

func accountInfo(c *api.Call, _ api.Empty) (AccountInfo, error) {
	a, _, err := DumpAccount(c.Tx, c.Who.AccountID)
	return AccountInfo(a), err
}

type memberListRequest struct {
	api.Page
	RoleID  int64  `json:"role_id,omitzero" minimum:"0" doc:"Only persons who have this role."`
	OrderBy string `json:"orderby,omitzero" enum:"created_at,updated_at" doc:"What to order by; absent: created_at."`
	Asc     bool   `json:"asc,omitzero" doc:"Ascending."`
	Query   string `json:"query,omitzero" maxLength:"100" doc:"Part of the name or e-mail address, in upper or lower case."`
}

type memberListed struct {
	P     int64    `json:"p" doc:"The page."`
	Limit int64    `json:"limit" doc:"Persons on a page."`
	Total int64    `json:"total" doc:"How many there are, exactly."`
	Items []Member `json:"items" doc:"The persons of this page, invited ones among them."`
}

const members = ` FROM person WHERE account_id = $1 AND status <> 'deleted' AND name_folded LIKE $2 ESCAPE '\'
	AND ($3 = 0 OR person_id IN (SELECT person_id FROM person_role WHERE account_id = $1 AND role_id = $3))`

func (in memberListRequest) order() string {
	switch {
	case in.OrderBy == "updated_at" && in.Asc:
		return ` ORDER BY updated_at, person_id`
	case in.OrderBy == "updated_at":
		return ` ORDER BY updated_at DESC, person_id DESC`
	case in.Asc:
		return ` ORDER BY created_at, person_id`
	}
	return ` ORDER BY created_at DESC, person_id DESC`
}

func memberList(c *api.Call, in memberListRequest) (memberListed, error) {
	args := []any{c.Who.AccountID, db.Containing(in.Query), in.RoleID}
	total, _, err := db.One(c.Tx, db.Column[int64], `SELECT count(*)`+members, args...)
	if err != nil {
		return memberListed{}, err
	}
	limit, offset := in.Window(20)
	items, err := db.All(c.Tx, scanMember, `SELECT `+memberColumns+members+in.order()+` LIMIT $4 + 0 OFFSET $5 + 0`, append(args, limit, offset)...)
	for i := 0; i < len(items) && err == nil; i++ {
		items[i].AccountRoleIDs, err = role.Of(c.Tx, c.Who.AccountID, items[i].MemberID)
	}
	return memberListed{max(in.P, 1), limit, total, items}, err
}

// Invited is a person to be invited.
type Invited struct {
	MemberName  string  `json:"member_name,omitzero" minLength:"2" maxLength:"39" doc:"Name for display; absent: the e-mail address up to its @."`
	Email       string  `json:"email,omitzero" maxLength:"255" doc:"E-mail address; this or a phone number is needed."`
	Phone       string  `json:"phone,omitzero" maxLength:"40" doc:"Phone number."`
	CountryCode string  `json:"country_code,omitzero" maxLength:"8" doc:"Country code of the phone number, such as CN."`
	RoleIDs     []int64 `json:"role_ids,omitzero" maxItems:"100" doc:"Roles to give."`
	Locale      string  `json:"locale,omitzero" enum:"zh-CN,en-US" doc:"Preferred language."`
	TimeZone    string  `json:"time_zone,omitzero" maxLength:"64" doc:"IANA name."`
	RefID       string  `json:"ref_id,omitzero" maxLength:"255" doc:"Their id in the system they come from."`
}

type inviteRequest struct {
	Members []Invited `json:"members" minItems:"1" maxItems:"20" doc:"Whom to invite, 1 to 20: all of them, or none."`
	From    string    `json:"from,omitzero" maxLength:"255" doc:"Ignored."`
}

// Check holds each person against the rules between fields.
func (in inviteRequest) Check() error {
	for i, m := range in.Members {
		at := check.Record("members", i)
		if m.Email == "" && m.Phone == "" {
			return at.Invalid("email", "or phone is needed")
		}
		if err := check.First(checkEmail(at, m.Email), zone(at, m.TimeZone)); err != nil {
			return err
		}
	}
	return nil
}

func checkEmail(at check.At, email string) error {
	before, after, found := strings.Cut(email, "@")
	if email != "" && (!found || before == "" || after == "" || strings.ContainsAny(email, " \t\r\n<>,")) {
		return at.Invalid("email", "must be an e-mail address, got %.80q", email)
	}
	return nil
}

type invitedItem struct {
	MemberID   int64  `json:"member_id" doc:"The new person."`
	MemberName string `json:"member_name" doc:"Their name."`
}

func memberInvite(c *api.Call, in inviteRequest) (api.Items[invitedItem], error) {
	out := api.Items[invitedItem]{Items: []invitedItem{}}
	for i, m := range in.Members {
		at := check.Record("members", i)
		if err := unused(c, at, m.Email, m.RefID); err != nil {
			return out, err
		}
		person := id.Number()
		name := m.MemberName
		if name == "" {
			name, _, _ = strings.Cut(m.Email+m.Phone, "@")
		}
		_, err := c.Tx.Exec(`INSERT INTO person (account_id, person_id, person_name, avatar, locale, time_zone, email, phone, phone_verified, email_verified, "as", status,
			country_code, ref_id, name_folded, created_at, updated_at) VALUES ($1, $2, $3, '', $4, $5, $6, $7, FALSE, FALSE, 'member', 'pending', $8, $9, $10, $11, $11)`,
			c.Who.AccountID, person, name, m.Locale, m.TimeZone, m.Email, m.Phone, m.CountryCode, m.RefID, db.Fold(name+"\n"+m.Email), c.Unix())
		if err != nil {
			return out, err
		}
		c.Touched(reference.Person, person, name)
		for _, r := range m.RoleIDs {
			if err := role.Grant(c, r, []int64{person}); err != nil {
				return out, err
			}
		}
		out.Items = append(out.Items, invitedItem{person, name})
	}
	return out, nil
}

// unused refuses an e-mail address or external id that another person has.
func unused(c *api.Call, at check.At, email, ref string) error {
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

type memberDeleteRequest struct {
	MemberID    int64  `json:"member_id,omitzero" minimum:"0" doc:"By id."`
	MemberName  string `json:"member_name,omitzero" maxLength:"255" doc:"By name, if only one has it."`
	Email       string `json:"email,omitzero" maxLength:"255" doc:"By e-mail address."`
	Phone       string `json:"phone,omitzero" maxLength:"40" doc:"By phone number."`
	CountryCode string `json:"country_code,omitzero" maxLength:"8" doc:"Of the phone number."`
	RefID       string `json:"ref_id,omitzero" maxLength:"255" doc:"By their id in the system they come from."`
	api.DryRun
}

// find is the one person who is meant.
func (in memberDeleteRequest) find(c *api.Call) (Member, error) {
	if in.MemberID != 0 {
		return getMember(c.Tx, c.Who.AccountID, in.MemberID)
	}
	ids, err := db.All(c.Tx, db.Column[int64], `SELECT person_id FROM person WHERE account_id = $1 AND status <> 'deleted'
		AND ($2 = '' OR person_name = $2) AND ($3 = '' OR lower(email) = lower($3)) AND ($4 = '' OR phone = $4) AND ($5 = '' OR ref_id = $5) AND ($6 = '' OR country_code = $6)
		ORDER BY person_id LIMIT 2`, c.Who.AccountID, in.MemberName, in.Email, in.Phone, in.RefID, in.CountryCode)
	switch {
	case err != nil:
		return Member{}, err
	case len(ids) == 0:
		return Member{}, fault.Missing("person", strings.Join([]string{in.MemberName, in.Email, in.Phone, in.RefID}, ""))
	case len(ids) > 1:
		return Member{}, fault.Invalid("member_id", "must say who is meant: %d and others fit", ids[0])
	}
	return getMember(c.Tx, c.Who.AccountID, ids[0])
}

// Check wants at least one way to find the person.
func (in memberDeleteRequest) Check() error {
	if in.MemberID == 0 && in.MemberName == "" && in.Email == "" && in.Phone == "" && in.RefID == "" {
		return fault.Invalid("member_id", "or member_name, email, phone or ref_id must be given")
	}
	return nil
}

// memberDelete takes a person out of the account with their app keys, roles and memberships. The record
// stays, as deleted, because history names it.
func memberDelete(c *api.Call, in memberDeleteRequest) (api.Removal, error) {
	m, err := in.find(c)
	if err != nil {
		return api.Removal{}, err
	}
	owner, err := auth.OwnerOf(c.Tx, c.Who.AccountID)
	if err != nil {
		return api.Removal{}, err
	}
	if owner == m.MemberID {
		return api.Removal{}, fault.New(fault.Conflict, "person %d owns the account and cannot be deleted", m.MemberID)
	}
	c.Removed(reference.Person, m.MemberID, m.MemberName)
	if err := reference.Refuse(c.Tx, c.Who.AccountID, reference.Person, m.MemberID); err != nil {
		return api.Removal{}, err
	}
	keys, err := auth.ListKeys(c.Tx, c.Who.AccountID)
	if err != nil {
		return api.Removal{}, err
	}
	for _, k := range keys {
		if k.PersonID == m.MemberID {
			c.Removed("app_key", k.ID, k.Name)
		}
	}
	for _, query := range []string{
		`DELETE FROM app_key WHERE account_id = $1 AND person_id = $2`, `DELETE FROM person_role WHERE account_id = $1 AND person_id = $2`,
		`DELETE FROM team_person WHERE account_id = $1 AND person_id = $2`, `UPDATE person SET status = 'deleted' WHERE account_id = $1 AND person_id = $2`,
	} {
		if _, err := c.Tx.Exec(query, c.Who.AccountID, m.MemberID); err != nil {
			return api.Removal{}, err
		}
	}
	return api.Removal{}, nil
}

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
	if in.Email != nil && !strings.EqualFold(*in.Email, r.Email) {
		if err := check.First(checkEmail("", *in.Email), unused(c, "", *in.Email, "")); err != nil {
			return api.Empty{}, err
		}
		r.EmailVerified = false
	}
	if in.Phone != nil && *in.Phone != r.Phone {
		r.PhoneVerified = false
	}
	for field, sent := range map[*string]*string{&r.PersonName: in.MemberName, &r.Email: in.Email, &r.Phone: in.Phone, &r.CountryCode: in.CountryCode, &r.Avatar: in.Avatar, &r.Locale: in.Locale, &r.TimeZone: in.TimeZone} {
		if sent != nil {
			*field = *sent
		}
	}
	if err := zone("", r.TimeZone); err != nil {
		return api.Empty{}, err
	}
	r.UpdatedAt = c.Unix()
	c.Touched(reference.Person, r.PersonID, r.PersonName)
	return api.Empty{}, r.put(c.Tx, account)
}

type memberRoleRequest struct {
	MemberID int64   `json:"member_id" minimum:"1" doc:"The person."`
	RoleIDs  []int64 `json:"role_ids" maxItems:"100" doc:"The roles, at most 100."`
}

func memberRoleGrant(c *api.Call, in memberRoleRequest) (api.Empty, error) {
	return api.Empty{}, eachRole(c, in, role.Grant)
}

func memberRoleRevoke(c *api.Call, in memberRoleRequest) (api.Empty, error) {
	return api.Empty{}, eachRole(c, in, role.Revoke)
}

func eachRole(c *api.Call, in memberRoleRequest, do func(*api.Call, int64, []int64) error) error {
	if _, err := getMember(c.Tx, c.Who.AccountID, in.MemberID); err != nil {
		return err
	}
	for _, r := range in.RoleIDs {
		if err := do(c, r, []int64{in.MemberID}); err != nil {
			return err
		}
	}
	return nil
}

func memberRoleUpdate(c *api.Call, in memberRoleRequest) (api.Empty, error) {
	m, err := getMember(c.Tx, c.Who.AccountID, in.MemberID)
	if err != nil {
		return api.Empty{}, err
	}
	c.Touched(reference.Person, m.MemberID, m.MemberName)
	return api.Empty{}, role.Replace(c, in.MemberID, in.RoleIDs)
}
