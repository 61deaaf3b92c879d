package team

import (
	"fmt"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/check"
	"tocsin/internal/db"
	"tocsin/internal/fault"
	"tocsin/internal/id"
	"tocsin/internal/object"
	"tocsin/internal/reference"
)

type upsertRequest struct {
	TeamID           int64   `json:"team_id,omitzero" minimum:"0" doc:"The team to change; absent or 0: a new one."`
	TeamName         string  `json:"team_name" minLength:"1" maxLength:"39" doc:"Unique in the account, 1 to 39 characters."`
	Description      *string `json:"description,omitzero" maxLength:"500" doc:"At most 500 characters."`
	PersonIDs        []int64 `json:"person_ids,omitzero" maxItems:"1000" minimum:"1" doc:"Who is in it, in the order in which they are shown; absent: as it is."`
	RefID            *string `json:"ref_id,omitzero" maxLength:"255" doc:"Its id in the system it comes from."`
	ResetIfNameExist bool    `json:"reset_if_name_exist,omitzero" doc:"Without team_id: change the team of this name, if there is one."`
}

type upserted struct {
	TeamID   int64  `json:"team_id" doc:"The team."`
	TeamName string `json:"team_name" doc:"Its name, as it was sent."`
	api.Warnings
}

func upsert(c *api.Call, in upsertRequest) (upserted, error) {
	account := c.Who.AccountID
	r, err := target(c, in)
	if err != nil {
		return upserted{}, err
	}
	r.TeamName, r.UpdatedAt, r.UpdatedBy = in.TeamName, c.Unix(), c.Who.PersonID
	if in.Description != nil {
		r.Description = *in.Description
	}
	if in.RefID != nil {
		r.RefID = *in.RefID
	}
	if in.PersonIDs != nil {
		r.PersonIDs = in.PersonIDs
	}
	if err := Erase(c.Tx, account, r.TeamID); err != nil {
		return upserted{}, err
	}
	if _, err := r.insert(c.Tx, account); err != nil {
		return upserted{}, err
	}
	if err := join(c.Tx, account, check.At(""), r); err != nil {
		return upserted{}, err
	}
	c.Touched(reference.Team, r.TeamID, r.TeamName)
	warnings, err := strangers(c, in.PersonIDs)
	return upserted{r.TeamID, r.TeamName, api.Warnings{Warnings: warnings}}, err
}

// target is the team that an upsert is about, as it is now.
func target(c *api.Call, in upsertRequest) (Record, error) {
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
	return Record{TeamID: id.Number(), CreatorID: c.Who.PersonID, CreatedAt: c.Unix()}, nil
}

func byName(tx *db.Tx, account int64, name string) (team int64, found bool, err error) {
	return db.One(tx, db.Column[int64], `SELECT team_id FROM team WHERE account_id = $1 AND team_name = $2 ORDER BY team_id`, account, name)
}

// strangers names persons that the account does not have.
func strangers(c *api.Call, persons []int64) (warnings []string, err error) {
	for i, person := range persons {
		known, err := object.Known(c.Tx, c.Who.AccountID, reference.To(reference.Person, person))
		if err != nil {
			return nil, err
		}
		if !known {
			warnings = append(warnings, fmt.Sprintf("person_ids[%d]: person %d does not exist", i, person))
		}
	}
	return slices.Clip(warnings), nil
}

type deleteRequest struct {
	Named
	api.DryRun
}

func remove(c *api.Call, in deleteRequest) (api.Removal, error) {
	r, err := in.find(c)
	if err != nil {
		return api.Removal{}, err
	}
	c.Removed(reference.Team, r.TeamID, r.TeamName)
	if err := reference.Refuse(c.Tx, c.Who.AccountID, reference.Team, r.TeamID); err != nil {
		return api.Removal{}, err
	}
	return api.Removal{}, Erase(c.Tx, c.Who.AccountID, r.TeamID)
}
