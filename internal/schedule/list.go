package schedule

import (
	"tocsin/internal/api"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

const (
	defaultLimit = 10
	maxQuery     = 100    // characters
	maxDepth     = 10_000 // the last schedule of a list that a page may show
)

type listRequest struct {
	Query      string  `json:"query,omitzero" maxLength:"100" doc:"Part of the name, in upper or lower case."`
	P          int64   `json:"p,omitzero" minimum:"1" doc:"Page, from 1; absent: 1. p times limit is at most 10000."`
	Limit      int64   `json:"limit,omitzero" minimum:"1" maximum:"100" doc:"Schedules on a page, 1 to 100; absent: 10."`
	IsMyTeam   bool    `json:"is_my_team,omitzero" doc:"Only schedules of teams the caller is in."`
	IsMyManage bool    `json:"is_my_manage,omitzero" doc:"Only schedules of teams the caller is in that the caller created; not together with is_my_team."`
	TeamIDs    []int64 `json:"team_ids,omitzero" maxItems:"1000" doc:"Only schedules of these teams; empty: of any."`
	Window
}

// Check returns fault.Invalid for filters that exclude each other and for a page beyond maxDepth.
func (in listRequest) Check() error {
	if in.IsMyTeam && in.IsMyManage {
		return fault.Invalid("is_my_manage", "must not be set together with is_my_team")
	}
	if limit := in.limit(); in.P > maxDepth/limit {
		return fault.Invalid("p", "must be at most %d with a limit of %d, got %d", maxDepth/limit, limit, in.P)
	}
	return text("query", in.Query, maxQuery)
}

func (in listRequest) limit() int64 {
	if in.Limit == 0 {
		return defaultLimit
	}
	return in.Limit
}

// Page is the reply of /schedule/list.
type Page struct {
	Items []Schedule `json:"items" doc:"The schedules of this page."`
	Total int64      `json:"total" doc:"How many schedules match, on all pages together."`
}

// matching selects schedules by name, team and caller. The list of teams is one text, ",1,2,", because the number of SQL
// texts must not depend on the request.
const matching = ` FROM schedule s WHERE s.account_id = $1
	AND s.name_folded LIKE $2 ESCAPE '\'
	AND ($3 = '' OR $3 LIKE '%,' || s.team_id || ',%')
	AND (NOT $4 OR EXISTS (SELECT 1 FROM team_person t WHERE t.account_id = s.account_id AND t.team_id = s.team_id AND t.person_id = $5))
	AND (NOT $6 OR s.create_by = $5)`

func (r *Service) list(c *api.Call, in listRequest) (Page, error) {
	w, err := in.parse(maxWindow)
	if err != nil {
		return Page{}, err
	}
	args := []any{c.Who.AccountID, db.Containing(in.Query), db.List(in.TeamIDs), in.IsMyTeam || in.IsMyManage, c.Who.PersonID, in.IsMyManage}
	total, _, err := db.One(c.Tx, db.Column[int64], `SELECT count(*)`+matching, args...)
	if err != nil {
		return Page{}, err
	}
	limit := in.limit()
	found, err := db.All(c.Tx, scanRow(c.Who.AccountID, w == nil), `SELECT `+columns+matching+newestFirst+` LIMIT $7 + 0 OFFSET $8 + 0`,
		append(args, limit, (max(in.P, 1)-1)*limit)...)
	if err != nil {
		return Page{}, err
	}
	items, left := make([]Schedule, len(found)), maxNamed
	for i, s := range found {
		if w == nil {
			items[i], err = r.show(c, s)
		} else if err = s.attach(c.Tx); err == nil {
			items[i], err = r.showAt(c, s, *w, &left)
		}
		if err != nil {
			return Page{}, err
		}
	}
	return Page{items, total}, nil
}

const newestFirst = ` ORDER BY create_at DESC, schedule_id DESC`
