package schedule

import (
	"tocsin/internal/api"
	"tocsin/internal/platform/db"
)

// OverrideListRequest asks for overrides, by schedule, person and window.
type OverrideListRequest struct {
	ScheduleIDs []int64 `json:"schedule_ids,omitzero" maxItems:"1000" doc:"Only overrides of these schedules; empty: of any."`
	PersonID    int64   `json:"person_id,omitzero" minimum:"0" doc:"Only overrides that name this person, as who is replaced or who is on call instead."`
	Start       *int64  `json:"start,omitzero" minimum:"1000000000" maximum:"9999999999" doc:"Only overrides that end after this moment, Unix seconds in ten digits."`
	End         *int64  `json:"end,omitzero" minimum:"1000000000" maximum:"9999999999" doc:"Only overrides that begin before this moment, likewise."`
	api.Page
}

const matchingOverrides = ` FROM schedule_override WHERE account_id = $1 AND ($2 = '' OR $2 LIKE '%,' || schedule_id || ',%')
	AND ($3 = 0 OR person_id = $3 OR by_person = $3) AND ($4 = 0 OR end_at > $4) AND ($5 = 0 OR start_at < $5)`

func (r *Service) overrideList(c *api.Call, in OverrideListRequest) (page api.Paged[Override], err error) {
	w := window{}
	if in.Start != nil {
		w.from = *in.Start
	}
	if in.End != nil {
		w.to = *in.End
	}
	args := []any{c.Who.AccountID, db.List(in.ScheduleIDs), in.PersonID, w.from, w.to}
	total, _, err := db.One(c.Tx, db.Column[int64], `SELECT count(*)`+matchingOverrides, args...)
	if err != nil {
		return page, err
	}
	limit, offset := in.Window(20)
	items, err := db.All(c.Tx, scanOverride, `SELECT `+overrideColumns+matchingOverrides+`
		ORDER BY start_at DESC, create_at DESC, override_id DESC LIMIT $6 + 0 OFFSET $7 + 0`, append(args, limit, offset)...)
	return api.NewPaged(items, offset, total), err
}
