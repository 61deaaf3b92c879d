package person

import (
	"strconv"
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

// MemberNames is what a request may name a person by.
type MemberNames struct {
	MemberID    int64  `json:"member_id,omitzero" minimum:"0" doc:"By id."`
	MemberName  string `json:"member_name,omitzero" maxLength:"255" doc:"By name, if only one has it."`
	Email       string `json:"email,omitzero" maxLength:"255" doc:"By e-mail address."`
	Phone       string `json:"phone,omitzero" maxLength:"40" doc:"By phone number."`
	CountryCode string `json:"country_code,omitzero" maxLength:"8" doc:"Of the phone number."`
	RefID       string `json:"ref_id,omitzero" maxLength:"255" doc:"By their id in the system they come from."`
}

// Release removes a person from the objects that name the person, for a person who is to be deleted. It returns
// fault.Conflict if one of them would be left without a person, and fault.Denied for a caller who may not change it.
type Release func(c *api.Call, person int64) error

// releases are the functions of the packages whose objects name persons.
type releases []Release

// find returns the person whom all names fit, fault.Missing when there is none, and fault.Invalid when there are several.
func (n MemberNames) find(c *api.Call) (person int64, err error) {
	ids, err := db.All(c.Tx, db.Column[int64], `SELECT person_id FROM person WHERE account_id = $1 AND status <> 'deleted'
		AND ($2 = '' OR person_name = $2) AND ($3 = '' OR lower(email) = lower($3)) AND ($4 = '' OR phone = $4) AND ($5 = '' OR ref_id = $5)
			AND ($6 = '' OR country_code = $6) AND (person_id = $7 OR $7 = 0)
		ORDER BY person_id LIMIT 2`, c.Who.AccountID, n.MemberName, n.Email, n.Phone, n.RefID, n.CountryCode, n.MemberID)
	switch {
	case err != nil:
		return 0, err
	case len(ids) == 0:
		return 0, fault.Missing("person", n.shown())
	case len(ids) > 1:
		return 0, fault.Invalid("member_id", "must select a person: %d and others fit", ids[0])
	}
	return ids[0], nil
}

// shown returns the names as they were sent, for an error.
func (n MemberNames) shown() string {
	var names []string
	if n.MemberID != 0 {
		names = append(names, strconv.FormatInt(n.MemberID, 10))
	}
	for _, name := range []string{n.MemberName, n.Email, n.Phone, n.RefID} {
		if name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// check returns fault.Invalid if a person is not named.
func (n MemberNames) check() error {
	if n.MemberID == 0 && n.MemberName == "" && n.Email == "" && n.Phone == "" && n.RefID == "" {
		return fault.Invalid("member_id", "or member_name, email, phone or ref_id is required")
	}
	return nil
}

// MemberDeleteRequest names a person to delete.
type MemberDeleteRequest struct {
	MemberNames
	IsForce bool `json:"is_force,omitzero" doc:"Remove the person from schedules, escalation rules and the account's fallback first. Refused where a role of a turn, or a step, would be left without a person."`
	api.DryRun
}

// Check returns fault.Invalid unless the request names a person.
func (in MemberDeleteRequest) Check() error { return in.check() }

// memberMoves returns the person if the request removes the person from schedules.
func memberMoves(c *api.Call, in MemberDeleteRequest) ([]configstore.Target, error) {
	if !in.IsForce {
		return nil, nil
	}
	person, err := in.find(c)
	return []configstore.Target{configstore.RefTo(configstore.Person, person)}, err
}

// memberDelete deletes a person's app keys, sessions, passwords, roles and memberships, and marks the person as deleted.
// The row stays because history names it.
func (release releases) memberDelete(c *api.Call, in MemberDeleteRequest) (api.Removal, error) {
	person, err := in.find(c)
	if err != nil {
		return api.Removal{}, err
	}
	m, err := getMember(c.Tx, c.Who.AccountID, person)
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
	if err := markDeleted(c.Tx, c.Who.AccountID, m.MemberID); err != nil { // first, so that no change of a shift notifies the person
		return api.Removal{}, err
	}
	if !in.IsForce {
		release = nil
	}
	for _, remove := range release {
		if err := remove(c, m.MemberID); err != nil {
			return api.Removal{}, err
		}
	}
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
		auth.DeleteKeysOf, session.EndAll, credential.Forget, push.Forget, role.RevokeAll,
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
