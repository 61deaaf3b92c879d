package rum

import (
	"fmt"

	"tocsin/internal/api"
	"tocsin/internal/platform/db"
)

// defaultLimit is the number of elements of a page without a limit.
const defaultLimit = 20

// ApplicationListRequest asks for a page of applications.
type ApplicationListRequest struct {
	api.CursorRequest
	OrderBy  string `json:"orderby,omitzero" enum:"created_at,updated_at," doc:"What to sort by; absent or empty: created_at."`
	Asc      bool   `json:"asc,omitzero" doc:"Oldest first; else newest first."`
	Query    string `json:"query,omitzero" maxLength:"100" doc:"Part of the name, in upper or lower case."`
	TeamID   int64  `json:"team_id,omitzero" minimum:"0" doc:"Only applications of this team; 0: of any."`
	IsMyTeam bool   `json:"is_my_team,omitzero" doc:"Only applications of teams the caller is in."`
}

const applicationsMatching = ` FROM rum_application a
	WHERE account_id = $1 AND status <> 'deleted' AND name_folded LIKE $4 ESCAPE '\' AND ($5 = 0 OR team_id = $5)
	AND (NOT $6 OR ` + ofMyTeam + `) AND ` + mayRead

const applicationPage = `SELECT ` + applicationColumns + applicationsMatching

// applicationPages holds the statement of a page for each order, behind a position; application_id breaks ties in all of them.
var applicationPages = map[order]string{
	{"created_at", false}: applicationPage + ` AND ($7 OR (created_at, application_id) < ($8, $9))
		ORDER BY created_at DESC, application_id DESC LIMIT $10 + 0 OFFSET $11 + 0`,
	{"created_at", true}: applicationPage + ` AND ($7 OR (created_at, application_id) > ($8, $9))
		ORDER BY created_at, application_id LIMIT $10 + 0 OFFSET $11 + 0`,
	{"updated_at", false}: applicationPage + ` AND ($7 OR (updated_at, application_id) < ($8, $9))
		ORDER BY updated_at DESC, application_id DESC LIMIT $10 + 0 OFFSET $11 + 0`,
	{"updated_at", true}: applicationPage + ` AND ($7 OR (updated_at, application_id) > ($8, $9))
		ORDER BY updated_at, application_id LIMIT $10 + 0 OFFSET $11 + 0`,
}

// order is the column by which a list is sorted, and the direction.
type order struct {
	by  string
	asc bool
}

// position returns where an application stands in the list.
func (in ApplicationListRequest) position(a Application) api.Position {
	if in.OrderBy == "updated_at" {
		return api.Position{At: a.UpdatedAt, ID: a.ApplicationID}
	}
	return api.Position{At: a.CreatedAt, ID: a.ApplicationID}
}

// applicationList answers /rum/application/list, with the applications that the caller may read.
func (r *Service) applicationList(c *api.Call, in ApplicationListRequest) (reply api.CursorPage[Application], err error) {
	if in.OrderBy == "" {
		in.OrderBy = "created_at"
	}
	args := []any{c.Who.AccountID, c.Who.Owner, c.Who.PersonID, db.Containing(in.Query), in.TeamID, in.IsMyTeam}
	binding := fmt.Sprint("rum applications", args, in.OrderBy, in.Asc)
	from, err := in.From(c, binding)
	if err != nil {
		return reply, err
	}
	total, _, err := db.One(c.Tx, db.Column[int64], `SELECT count(*)`+applicationsMatching, args...)
	if err != nil {
		return reply, err
	}
	limit, offset := in.Window(defaultLimit)
	items, onPage, err := db.Page(c.Tx, limit, api.PageBytes, scanApplication, applicationPages[order{in.OrderBy, in.Asc}],
		append(args, from.Unset(), from.At, from.ID, limit+1, offset)...)
	for i := range items {
		if err == nil {
			err = items[i].openToken(r.keyring.Show(c.Report))
		}
	}
	c.WarnShort(onPage, limit, "")
	return api.NewCursorPage(c, items, onPage, total, binding, in.position), err
}
