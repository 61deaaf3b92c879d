package team

import (
	"fmt"
	"slices"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// UpsertRequest is a team to create or to change. An absent member of a team that is changed stays as it is.
type UpsertRequest struct {
	TeamID           int64    `json:"team_id,omitzero" minimum:"0" doc:"The team to change; absent or 0: a new one."`
	TeamName         string   `json:"team_name" minLength:"1" maxLength:"39" doc:"Unique in the account, 1 to 39 characters."`
	Description      *string  `json:"description,omitzero" maxLength:"500" doc:"At most 500 characters."`
	PersonIDs        []int64  `json:"person_ids,omitzero" maxItems:"1000" minimum:"1" doc:"Who is in it, in the order in which they are shown."`
	Emails           []string `json:"emails,omitzero" maxItems:"1000" maxLength:"255" doc:"Who is in it besides, by e-mail address in upper or lower case; a caller with Members Manage (org) invites those who are no members yet."`
	Phones           []string `json:"phones,omitzero" maxItems:"1000" maxLength:"40" doc:"Who is in it besides, by phone number."`
	CountryCode      string   `json:"countryCode,omitzero" maxLength:"8" doc:"Country code of the phones that do not begin with +, such as CN; absent: any."`
	RefID            *string  `json:"ref_id,omitzero" maxLength:"255" doc:"Its id in the system it comes from; no two teams have the same."`
	ResetIfNameExist bool     `json:"reset_if_name_exist,omitzero" doc:"Without team_id: change the team of this name, if there is one."`
}

// Upserted is the team that was created or changed.
type Upserted struct {
	TeamID   int64     `json:"team_id" doc:"The team."`
	TeamName string    `json:"team_name" doc:"Its name, as it was sent."`
	Invited  []Invited `json:"invited,omitzero" maxItems:"20" doc:"Persons who were no members yet and are pending now; absent without any."`
	api.Warnings
}

// Invited is a person whom an upsert invited.
type Invited struct {
	MemberID   int64  `json:"member_id" doc:"The new person."`
	MemberName string `json:"member_name" doc:"Their name."`
	Email      string `json:"email" doc:"The address as it was sent."`
}

// maxInvited is the number of persons that one call may invite, as many as /member/invite.
const maxInvited = 20

func (s *Service) upsert(c *api.Call, in UpsertRequest) (Upserted, error) {
	account := c.Who.AccountID
	r, err := target(c, in)
	if err != nil {
		return Upserted{}, err
	}
	r.TeamName = in.TeamName
	r.UpdatedAt = c.Unix()
	r.UpdatedBy = c.Who.PersonID
	if in.Description != nil {
		r.Description = *in.Description
	}
	if in.RefID != nil {
		r.RefID = *in.RefID
		if r.RefID != "" {
			if err := checkRefID(c, r); err != nil {
				return Upserted{}, err
			}
		}
	}
	var invited []Invited
	before := r.PersonIDs
	if in.PersonIDs != nil || in.Emails != nil || in.Phones != nil {
		r.PersonIDs, invited, err = s.members(c, in)
		if err != nil {
			return Upserted{}, err
		}
	}
	if err := Erase(c.Tx, account, r.TeamID); err != nil {
		return Upserted{}, err
	}
	if _, err := r.insert(c.Tx, account); err != nil {
		return Upserted{}, err
	}
	if err := insertMembers(c.Tx, account, configstore.RecordPath(""), r); err != nil {
		return Upserted{}, err
	}
	c.Touched(configstore.Team, r.TeamID, r.TeamName)
	c.Gained(slices.DeleteFunc(slices.Clone(r.PersonIDs), func(p int64) bool { return slices.Contains(before, p) })...)
	warnings, err := unknownPersons(c, in.PersonIDs)
	if err != nil {
		return Upserted{}, err
	}
	rules, err := pagingEmpty(c, r.TeamID)
	if len(rules) > 0 {
		warnings = append(warnings, "person_ids: the team is empty, and escalation rules page it: "+api.Named(rules))
	}
	return Upserted{r.TeamID, r.TeamName, invited, api.Warn(warnings)}, err
}

// target returns the stored team that an upsert changes, or a new one with a new id.
func target(c *api.Call, in UpsertRequest) (Record, error) {
	named, found, err := byName(c.Tx, c.Who.AccountID, in.TeamName)
	if err != nil {
		return Record{}, err
	}
	switch {
	case in.TeamID == 0 && found && in.ResetIfNameExist:
		return get(c.Tx, c.Who.AccountID, named)
	case found && named != in.TeamID:
		return Record{}, fault.Invalid("team_name", "another team, %d, is called %q", named, in.TeamName)
	case in.TeamID != 0:
		return get(c.Tx, c.Who.AccountID, in.TeamID)
	}
	unused, err := id.Unused(func(n int64) (bool, error) { return Table.Known(c.Tx, c.Who.AccountID, n) })
	return Record{TeamID: unused, CreatorID: c.Who.PersonID, CreatedAt: c.Unix()}, err
}

// byName returns the team with this name.
func byName(tx *db.Tx, account int64, name string) (team int64, found bool, err error) {
	return db.One(tx, db.Column[int64], `SELECT team_id FROM team WHERE account_id = $1 AND team_name = $2 ORDER BY team_id`, account, name)
}

// checkRefID returns fault.Invalid for a reference that another team has, because teams are found by it.
func checkRefID(c *api.Call, r Record) error {
	other, taken, err := db.One(c.Tx, db.Column[int64],
		`SELECT team_id FROM team WHERE account_id = $1 AND ref_id = $2 AND team_id <> $3 ORDER BY team_id LIMIT 1`, c.Who.AccountID, r.RefID,
		r.TeamID)
	if err == nil && taken {
		err = fault.Invalid("ref_id", "is that of team %d already, got %q", other, r.RefID)
	}
	return err
}

// Queries for a person by an address, narrowed by $3. An empty address matches no person.
const (
	byEmail = `SELECT person_id FROM person WHERE account_id = $1 AND lower(email) = lower($2) AND email <> '' AND $3 = ''
		AND status <> 'deleted' ORDER BY person_id LIMIT 2`
	byPhone = `SELECT person_id FROM person WHERE account_id = $1 AND phone = $2 AND phone <> '' AND ($3 = '' OR country_code = $3)
		AND status <> 'deleted' ORDER BY person_id LIMIT 2`
)

// members returns the persons that the request names: by id first, then by e-mail address, then by phone number. A person
// who is named several times is in the team once. It invites the persons of addresses that no member has.
func (s *Service) members(c *api.Call, in UpsertRequest) (all []int64, invited []Invited, err error) {
	all = slices.Clone(in.PersonIDs)
	add := func(person int64) {
		if !slices.Contains(all, person) {
			all = append(all, person)
		}
	}
	for i, email := range in.Emails {
		at := configstore.PathOf("emails", i)
		person, found, err := personAt(c, at, byEmail, email, "")
		if err != nil {
			return nil, nil, err
		}
		if !found {
			added, err := s.invite(c, at, email, len(invited))
			if err != nil {
				return nil, nil, err
			}
			person, invited = added.MemberID, append(invited, added)
		}
		add(person)
	}
	for i, phone := range in.Phones {
		country := in.CountryCode
		if strings.HasPrefix(phone, "+") {
			country = ""
		}
		at := configstore.PathOf("phones", i)
		person, found, err := personAt(c, at, byPhone, phone, country)
		if err == nil && !found {
			err = at.Invalid("", "no person in the account has %q; /member/invite invites people", phone)
		}
		if err != nil {
			return nil, nil, err
		}
		add(person)
	}
	return all, invited, nil
}

// invite invites the person of an address if the caller may; before is the number of persons whom this call has invited.
func (s *Service) invite(c *api.Call, at configstore.RecordPath, email string, before int) (added Invited, err error) {
	switch {
	case s.Invite == nil || !c.Who.May(auth.MembersManage):
		return added, at.Invalid("", "no person in the account has %q; /member/invite invites people, with %s", email, auth.MembersManage)
	case before == maxInvited:
		return added, at.Invalid("", "is the address of one more new person, and a call may invite %d; got %q", maxInvited, email)
	}
	added.Email = email
	added.MemberID, added.MemberName, err = s.Invite(c, at, email)
	return added, err
}

// personAt returns the one person that a query by an address finds.
func personAt(c *api.Call, at configstore.RecordPath, query, address, more string) (person int64, exists bool, err error) {
	found, err := db.All(c.Tx, db.Column[int64], query, c.Who.AccountID, address, more)
	switch {
	case err != nil || len(found) == 0:
		return 0, false, err
	case len(found) > 1:
		return 0, false, at.Invalid("", "%q is that of several persons, %d and %d among them; use person_ids instead",
			address, found[0], found[1])
	}
	return found[0], true, nil
}

// unknownPersons returns a warning for each person that the account does not have.
func unknownPersons(c *api.Call, persons []int64) (warnings []string, err error) {
	for i, person := range persons {
		known, err := auth.KnownPerson(c.Tx, c.Who.AccountID, person)
		if err != nil {
			return nil, err
		}
		if !known {
			warnings = append(warnings, fmt.Sprintf("person_ids[%d]: person %d does not exist", i, person))
		}
	}
	return slices.Clip(warnings), nil
}
