package absence

import (
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
)

// ListRequest asks for absences, by person and window.
type ListRequest struct {
	PersonIDs []int64 `json:"person_ids,omitzero" maxItems:"1000" doc:"Only absences of these persons; empty: of any."`
	Start     int64   `json:"start,omitzero" minimum:"1000000000" maximum:"9999999999" doc:"Only absences that end after this moment, Unix seconds in ten digits."`
	End       int64   `json:"end,omitzero" minimum:"1000000000" maximum:"9999999999" doc:"Only absences that begin before this moment, likewise."`
	api.Page
}

const matching = ` FROM person_absence WHERE account_id = $1 AND ($2 = '' OR $2 LIKE '%,' || person_id || ',%')
	AND ($3 = 0 OR end_at > $3) AND ($4 = 0 OR start_at < $4) AND ($5 OR person_id = $6)`

// list shows callers who may read schedules the absences of all, for the timelines show them as well, and others their own.
func (r *Service) list(c *api.Call, in ListRequest) (page api.Paged[Absence], err error) {
	others := mayPlan(c.Who) || c.Who.May(auth.SchedulesRead)
	args := []any{c.Who.AccountID, db.List(in.PersonIDs), in.Start, in.End, others, c.Who.PersonID}
	total, _, err := db.One(c.Tx, db.Column[int64], `SELECT count(*)`+matching, args...)
	if err != nil {
		return page, err
	}
	limit, offset := in.Window(20)
	items, err := db.All(c.Tx, scanRow, `SELECT `+columns+matching+` ORDER BY start_at DESC, absence_id DESC LIMIT $7 + 0 OFFSET $8 + 0`,
		append(args, limit, offset)...)
	for i := range items {
		if permit(c, items[i].PersonID) != nil {
			items[i].Note = ""
		}
	}
	return api.NewPaged(items, offset, total), err
}
