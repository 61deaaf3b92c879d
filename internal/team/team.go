package team

import (
	"fmt"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Named names a team by its id, its name or its external reference.
type Named struct {
	TeamID   int64  `json:"team_id,omitzero" minimum:"0" doc:"By its id."`
	TeamName string `json:"team_name,omitzero" maxLength:"128" doc:"By its name."`
	RefID    string `json:"ref_id,omitzero" maxLength:"255" doc:"By its id in the system it comes from."`
}

// Check returns fault.Invalid unless exactly one of the three is set.
func (n Named) Check() error {
	given := 0
	for _, is := range []bool{n.TeamID != 0, n.TeamName != "", n.RefID != ""} {
		if is {
			given++
		}
	}
	if given != 1 {
		return fault.Invalid("team_id", "exactly one of team_id, team_name and ref_id must be set, got %d of them", given)
	}
	return nil
}

// find returns the team, fault.Missing when there is none, and fault.Invalid when a name fits several teams.
func (n Named) find(c *api.Call) (Record, error) {
	if n.TeamID != 0 {
		return get(c.Tx, c.Who.AccountID, n.TeamID)
	}
	teams, err := db.All(c.Tx, db.Column[int64],
		`SELECT team_id FROM team WHERE account_id = $1 AND ($2 = '' OR team_name = $2) AND ($3 = '' OR ref_id = $3) ORDER BY team_id LIMIT 2`,
		c.Who.AccountID, n.TeamName, n.RefID)
	switch {
	case err != nil:
		return Record{}, err
	case len(teams) == 0:
		return Record{}, fault.Missing("team", n.TeamName+n.RefID)
	case len(teams) > 1: // from an account file, where names may repeat
		return Record{}, fault.Invalid("team_id", "must select a team: %d and %d both have %q", teams[0], teams[1], n.TeamName+n.RefID)
	}
	return get(c.Tx, c.Who.AccountID, teams[0])
}

// Team is a team as the API shows it.
type Team struct {
	AccountID     int64   `json:"account_id" doc:"Owning account."`
	TeamID        int64   `json:"team_id" doc:"The team's identifier."`
	TeamName      string  `json:"team_name" doc:"Unique in the account."`
	Description   string  `json:"description" doc:"What it is for; may be empty."`
	Status        string  `json:"status" enum:"enabled" doc:"Always enabled."`
	UpdatedByName string  `json:"updated_by_name" doc:"The name of the person who changed it last; empty when not known."`
	UpdatedBy     int64   `json:"updated_by" doc:"That person; 0: not known."`
	CreatorID     int64   `json:"creator_id" doc:"The person who made it; 0: not known."`
	CreatorName   string  `json:"creator_name" doc:"That person's name; empty when not known."`
	CreatedAt     int64   `json:"created_at" doc:"Unix seconds; 0: not known."`
	UpdatedAt     int64   `json:"updated_at" doc:"Unix seconds; 0: not known."`
	PersonIDs     []int64 `json:"person_ids" doc:"Its members, in the order in which they were sent."`
	RefID         string  `json:"ref_id" doc:"Its id in the system it comes from; empty: none."`
}

// show returns a team with the names of the persons who created and changed it.
func show(c *api.Call, r Record) (Team, error) {
	name := func(person int64) (name string, err error) {
		if person != 0 {
			name, _, err = db.One(c.Tx, db.Column[string], `SELECT person_name FROM person WHERE account_id = $1 AND person_id = $2`,
				c.Who.AccountID, person)
		}
		return name, err
	}
	creator, err := name(r.CreatorID)
	if err != nil {
		return Team{}, err
	}
	updater, err := name(r.UpdatedBy)
	return Team{c.Who.AccountID, r.TeamID, r.TeamName, r.Description, "enabled", updater, r.UpdatedBy, r.CreatorID, creator, r.CreatedAt,
		r.UpdatedAt, r.PersonIDs, r.RefID}, err
}

func info(c *api.Call, in Named) (Team, error) {
	r, err := in.find(c)
	if err != nil {
		return Team{}, err
	}
	return show(c, r)
}

// InfosRequest asks for several teams.
type InfosRequest struct {
	TeamIDs []int64 `json:"team_ids" maxItems:"100" doc:"The teams, at most 100."`
}

// Brief is a team in the reply of /team/infos.
type Brief struct {
	TeamID    int64   `json:"team_id" doc:"The team."`
	TeamName  string  `json:"team_name" doc:"Its name."`
	PersonIDs []int64 `json:"person_ids" doc:"Its members, in the order in which they were sent."`
}

func infos(c *api.Call, in InfosRequest) (api.Items[Brief], error) {
	items, seen := []Brief{}, map[int64]bool{}
	for _, id := range in.TeamIDs {
		if seen[id] {
			continue
		}
		seen[id] = true
		r, found, err := Find(c.Tx, c.Who.AccountID, id)
		if err != nil {
			return api.Items[Brief]{}, err
		}
		if found {
			items = append(items, Brief{r.TeamID, r.TeamName, r.PersonIDs})
		}
	}
	return api.Items[Brief]{Items: items}, nil
}

// ListRequest asks for a page of teams.
type ListRequest struct {
	api.CursorRequest
	OrderBy  string `json:"orderby,omitzero" enum:"created_at,updated_at,team_name" doc:"What to order by; absent: created_at."`
	Asc      bool   `json:"asc,omitzero" doc:"Ascending."`
	PersonID int64  `json:"person_id,omitzero" minimum:"0" doc:"Only teams that this person is in."`
	Query    string `json:"query,omitzero" maxLength:"100" doc:"Part of the name, in upper or lower case."`
}

// Listed is a page of teams.
type Listed struct {
	P     int64 `json:"p" doc:"The page."`
	Limit int64 `json:"limit" doc:"Teams on a page."`
	api.CursorPage[Team]
}

// matching selects the teams of a list, by a part of the name ($2) and by a member ($3; 0: any).
const matching = ` FROM team WHERE account_id = $1 AND name_folded LIKE $2 ESCAPE '\'
	AND ($3 = 0 OR team_id IN (SELECT team_id FROM team_person WHERE account_id = $1 AND person_id = $3))`

// orders lists the sort orders, each with the condition that a team is behind a position; the second of each is ascending.
var orders = map[string][2]string{
	"": {
		` AND ($4 OR (created_at, team_id) < ($5, $6)) ORDER BY created_at DESC, team_id DESC`,
		` AND ($4 OR (created_at, team_id) > ($5, $6)) ORDER BY created_at, team_id`,
	},
	"updated_at": {
		` AND ($4 OR (updated_at, team_id) < ($5, $6)) ORDER BY updated_at DESC, team_id DESC`,
		` AND ($4 OR (updated_at, team_id) > ($5, $6)) ORDER BY updated_at, team_id`,
	},
	"team_name": {
		` AND ($4 OR (name_folded, team_id) < ($5, $6)) ORDER BY name_folded DESC, team_id DESC`,
		` AND ($4 OR (name_folded, team_id) > ($5, $6)) ORDER BY name_folded, team_id`,
	},
}

// behind returns the position of a page as the statements of the list compare it.
func (in ListRequest) behind(from api.Position) []any {
	if in.OrderBy == "team_name" {
		return []any{from.Unset(), from.Name, from.Number()}
	}
	return []any{from.Unset(), from.At, from.Number()}
}

// position returns where a team stands in the list.
func (in ListRequest) position(t Team) api.Position {
	switch in.OrderBy {
	case "team_name":
		p := api.NumberedAt(0, t.TeamID)
		p.Name = db.Fold(t.TeamName)
		return p
	case "updated_at":
		return api.NumberedAt(t.UpdatedAt, t.TeamID)
	}
	return api.NumberedAt(t.CreatedAt, t.TeamID)
}

func list(c *api.Call, in ListRequest) (Listed, error) {
	if in.OrderBy == "created_at" {
		in.OrderBy = ""
	}
	args := []any{c.Who.AccountID, db.Containing(in.Query), in.PersonID}
	binding := fmt.Sprint("teams", args, in.OrderBy, in.Asc)
	from, err := in.From(c, binding)
	if err != nil {
		return Listed{}, err
	}
	total, _, err := db.One(c.Tx, db.Column[int64], `SELECT count(*)`+matching, args...)
	if err != nil {
		return Listed{}, err
	}
	order := orders[in.OrderBy][0]
	if in.Asc {
		order = orders[in.OrderBy][1]
	}
	limit, offset := in.Window(20)
	args = append(append(args, in.behind(from)...), limit+1, offset)
	found, err := db.All(c.Tx, scanTeam, `SELECT `+columns+matching+order+` LIMIT $7 + 0 OFFSET $8 + 0`, args...)
	if err != nil {
		return Listed{}, err
	}
	teams := make([]Team, len(found))
	for i, r := range found {
		r.PersonIDs, err = Members(c.Tx, c.Who.AccountID, r.TeamID)
		if err != nil {
			return Listed{}, err
		}
		teams[i], err = show(c, r)
		if err != nil {
			return Listed{}, err
		}
	}
	return Listed{max(in.P, 1), limit, api.NewCursorPage(c, teams, limit, total, binding, in.position)}, nil
}

// DeleteRequest names a team to delete.
type DeleteRequest struct {
	Named
	api.DryRun
}

// remove deletes a team that no other object refers to.
func remove(c *api.Call, in DeleteRequest) (api.Removal, error) {
	r, err := in.find(c)
	if err != nil {
		return api.Removal{}, err
	}
	c.Removed(configstore.Team, r.TeamID, r.TeamName)
	if err := configstore.RefuseReferenced(c.Tx, c.Who.AccountID, configstore.Team, r.TeamID); err != nil {
		return api.Removal{}, err
	}
	return api.Removal{}, Erase(c.Tx, c.Who.AccountID, r.TeamID)
}
