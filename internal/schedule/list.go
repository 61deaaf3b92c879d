package schedule

import (
	"fmt"

	"tocsin/internal/api"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

const (
	defaultLimit = 10
	maxQuery     = 100 // characters
)

// ListRequest asks for schedules, by name and team.
type ListRequest struct {
	Query      string  `json:"query,omitzero" maxLength:"100" doc:"Part of the name, in upper or lower case."`
	IsMyTeam   bool    `json:"is_my_team,omitzero" doc:"Only schedules of teams the caller is in."`
	IsMyManage bool    `json:"is_my_manage,omitzero" doc:"Only schedules of teams the caller is in that the caller created; not together with is_my_team."`
	TeamIDs    []int64 `json:"team_ids,omitzero" maxItems:"1000" doc:"Only schedules of these teams; empty: of any."`
	Window
	api.CursorRequest
}

// Check returns fault.Invalid for filters that exclude each other and for a page that is too deep.
func (in ListRequest) Check() error {
	if in.IsMyTeam && in.IsMyManage {
		return fault.Invalid("is_my_manage", "must not be set together with is_my_team")
	}
	page := in.Page
	page.Limit, _ = in.CursorRequest.Window(defaultLimit)
	if err := page.Check(); err != nil {
		return err
	}
	return text("query", in.Query, maxQuery)
}

// Page is the reply of /schedule/list.
type Page struct{ api.CursorPage[Schedule] }

// matching selects schedules by name, team and caller. The list of teams is one text, ",1,2,", because the number of SQL
// texts must not depend on the request.
const matching = ` FROM schedule s WHERE s.account_id = $1
	AND s.name_folded LIKE $2 ESCAPE '\'
	AND ($3 = '' OR $3 LIKE '%,' || s.team_id || ',%')
	AND (NOT $4 OR EXISTS (SELECT 1 FROM team_person t WHERE t.account_id = s.account_id AND t.team_id = s.team_id AND t.person_id = $5))
	AND (NOT $6 OR s.create_by = $5)`

func (r *Service) list(c *api.Call, in ListRequest) (reply Page, err error) {
	w, err := in.parse(maxWindow)
	if err != nil {
		return reply, err
	}
	args := []any{c.Who.AccountID, db.Containing(in.Query), db.List(in.TeamIDs), in.IsMyTeam || in.IsMyManage, c.Who.PersonID, in.IsMyManage}
	binding := fmt.Sprint("schedules", args)
	from, err := in.From(c, binding)
	if err != nil {
		return reply, err
	}
	total, _, err := db.One(c.Tx, db.Column[int64], `SELECT count(*)`+matching, args...)
	if err != nil {
		return reply, err
	}
	limit, offset := in.CursorRequest.Window(defaultLimit)
	found, onPage, err := db.Page(c.Tx, limit, api.PageBytes, scanRow(c.Who.AccountID, w == nil), `SELECT `+columns+matching+
		` AND ($7 OR (create_at, schedule_id) < ($8, $9))`+newestFirst+` LIMIT $10 + 0 OFFSET $11 + 0`,
		append(args, from.Unset(), from.At, from.Number(), limit+1, offset)...)
	if err != nil {
		return reply, err
	}
	c.WarnShort(onPage, limit, "")
	page := api.NewCursorPage(c, found, onPage, total, binding,
		func(s *stored) api.Position { return api.NumberedAt(s.CreateAt, s.ScheduleID) })
	items, left := make([]Schedule, len(page.Items)), maxNamed
	for i, s := range page.Items {
		if w == nil {
			items[i], err = r.show(c, s)
			if err != nil {
				return reply, err
			}
			continue
		}
		if err := s.attach(c.Tx); err != nil {
			return reply, err
		}
		items[i], err = r.showAt(c, s, *w, &left)
		if err != nil {
			return reply, err
		}
	}
	return Page{api.PageOf(items, page)}, nil
}

const newestFirst = ` ORDER BY create_at DESC, schedule_id DESC`
