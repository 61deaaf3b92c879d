package person

import (
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/credential"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/push"
	"tocsin/internal/role"
	"tocsin/internal/session"
	"tocsin/internal/team"
)

type memberDeleteRequest struct {
	MemberID    int64  `json:"member_id,omitzero" minimum:"0" doc:"By id."`
	MemberName  string `json:"member_name,omitzero" maxLength:"255" doc:"By name, if only one has it."`
	Email       string `json:"email,omitzero" maxLength:"255" doc:"By e-mail address."`
	Phone       string `json:"phone,omitzero" maxLength:"40" doc:"By phone number."`
	CountryCode string `json:"country_code,omitzero" maxLength:"8" doc:"Of the phone number."`
	RefID       string `json:"ref_id,omitzero" maxLength:"255" doc:"By their id in the system they come from."`
	api.DryRun
}

// find returns the person that the request names, fault.Missing when there is none, and fault.Invalid when several fit.
func (in memberDeleteRequest) find(c *api.Call) (Member, error) {
	if in.MemberID != 0 {
		return getMember(c.Tx, c.Who.AccountID, in.MemberID)
	}
	ids, err := db.All(c.Tx, db.Column[int64], `SELECT person_id FROM person WHERE account_id = $1 AND status <> 'deleted'
		AND ($2 = '' OR person_name = $2) AND ($3 = '' OR lower(email) = lower($3)) AND ($4 = '' OR phone = $4) AND ($5 = '' OR ref_id = $5)
			AND ($6 = '' OR country_code = $6)
		ORDER BY person_id LIMIT 2`, c.Who.AccountID, in.MemberName, in.Email, in.Phone, in.RefID, in.CountryCode)
	switch {
	case err != nil:
		return Member{}, err
	case len(ids) == 0:
		return Member{}, fault.Missing("person", strings.Join([]string{in.MemberName, in.Email, in.Phone, in.RefID}, ""))
	case len(ids) > 1:
		return Member{}, fault.Invalid("member_id", "must select a person: %d and others fit", ids[0])
	}
	return getMember(c.Tx, c.Who.AccountID, ids[0])
}

// Check returns fault.Invalid unless the request names a person.
func (in memberDeleteRequest) Check() error {
	if in.MemberID == 0 && in.MemberName == "" && in.Email == "" && in.Phone == "" && in.RefID == "" {
		return fault.Invalid("member_id", "or member_name, email, phone or ref_id is required")
	}
	return nil
}

// memberDelete deletes a person's app keys, sessions, passwords, roles and memberships, and marks the person as deleted.
// The row stays because history names it.
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
	c.Removed(configstore.Person, m.MemberID, m.MemberName)
	if err := configstore.RefuseReferenced(c.Tx, c.Who.AccountID, configstore.Person, m.MemberID); err != nil {
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
	for _, remove := range []func(tx *db.Tx, account, person int64) error{
		auth.DeleteKeysOf, session.EndAll, credential.Forget, push.Forget, role.RevokeAll, markDeleted,
	} {
		if err := remove(c.Tx, c.Who.AccountID, m.MemberID); err != nil {
			return api.Removal{}, err
		}
	}
	warnings, err := team.LeaveAll(c, m.MemberID)
	if err != nil {
		return api.Removal{}, err
	}
	c.Warn(warnings...)
	return api.Removal{}, configstore.BumpRevision(c.Tx, c.Who.AccountID)
}

// markDeleted marks a person as deleted.
func markDeleted(tx *db.Tx, account, person int64) error {
	return tx.Do(`UPDATE person SET status = 'deleted' WHERE account_id = $1 AND person_id = $2`, account, person)
}
