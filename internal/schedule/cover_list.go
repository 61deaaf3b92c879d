package schedule

import (
	"fmt"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
)

// CoverListRequest asks for requests for cover, by schedule, status and person.
type CoverListRequest struct {
	ScheduleIDs []int64 `json:"schedule_ids,omitzero" maxItems:"1000" doc:"Only requests of these schedules; empty: of any."`
	Status      string  `json:"status,omitzero" enum:"open,accepted,declined,cancelled,expired" doc:"Only requests of this status."`
	PersonID    int64   `json:"person_id,omitzero" minimum:"1" doc:"Only requests of this person."`
	ForMe       bool    `json:"for_me,omitzero" doc:"Only requests that can be accepted now, and that the caller was asked by and has not declined."`
	api.Page
}

const matchingCovers = ` FROM cover_request WHERE account_id = $1 AND ($2 = '' OR $2 LIKE '%,' || schedule_id || ',%')
	AND ($3 < 0 OR status = $3) AND ($4 OR person_id = $5 OR asked LIKE $6) AND ($7 = 0 OR person_id = $7)
	AND ($8 OR due_at > $9 AND asked LIKE $6 AND declined NOT LIKE $6)`

// coverList shows callers who may read schedules the requests of all, and others those that concern them.
func (r *Service) coverList(c *api.Call, in CoverListRequest) (page api.Paged[CoverRequest], err error) {
	status := slices.Index(coverStatuses, in.Status) // -1: any
	args := []any{c.Who.AccountID, db.List(in.ScheduleIDs), status, c.Who.May(auth.SchedulesRead), c.Who.PersonID,
		fmt.Sprintf("%%,%d,%%", c.Who.PersonID), in.PersonID, !in.ForMe, c.Unix()}
	total, _, err := db.One(c.Tx, db.Column[int64], `SELECT count(*)`+matchingCovers, args...)
	if err != nil {
		return page, err
	}
	limit, offset := in.Window(20)
	items, err := db.All(c.Tx, scanCover, `SELECT `+coverColumns+matchingCovers+`
		ORDER BY create_at DESC, request_id DESC LIMIT $10 + 0 OFFSET $11 + 0`, append(args, limit, offset)...)
	return api.NewPaged(items, offset, total), err
}
