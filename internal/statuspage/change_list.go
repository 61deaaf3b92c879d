package statuspage

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
)

// defaultLimit is the number of elements of a page of a list without a limit.
const defaultLimit = 100

// ChangeListRequest selects changes of a page.
type ChangeListRequest struct {
	PageID int64  `json:"page_id" minimum:"1" doc:"The page."`
	Type   string `json:"type,omitzero" enum:",incident,maintenance" doc:"Only changes of this type; absent or empty: of both."`
	Status string `json:"status,omitzero" enum:",investigating,identified,monitoring,resolved,scheduled,ongoing,completed" doc:"Only changes with this status now; absent or empty: with any."`
	From   int64  `json:"start_at_seconds,omitzero" minimum:"0" maximum:"9999999999" doc:"Only changes that start at this moment or later, Unix seconds."`
	To     int64  `json:"end_at_seconds,omitzero" minimum:"0" maximum:"9999999999" doc:"Only changes that start at this moment or before, Unix seconds; absent or 0: without end."`
	api.Page
}

// Check refuses a status that changes of the type cannot have, and a window that ends before it starts.
func (in ChangeListRequest) Check() error {
	if in.Type != "" && in.Status != "" && !slices.Contains(statuses[in.Type], in.Status) {
		return configstore.RecordPath("").OneOf("status", in.Status, statuses[in.Type]...)
	}
	if in.To != 0 && in.To < in.From {
		return fault.Invalid("end_at_seconds", "must not be before start_at_seconds %d, got %d", in.From, in.To)
	}
	return in.Page.Check()
}

// changeList answers /status-page/change/list: newest first.
func changeList(c *api.Call, in ChangeListRequest) (api.Paged[Change], error) {
	page, err := pageOf(c, in.PageID)
	if err != nil {
		return api.Paged[Change]{}, err
	}
	s := selection{page: in.PageID, kind: in.Type, status: in.Status, from: in.From, to: in.To}
	if s.to == 0 {
		s.to = maxTime
	}
	s.limit, s.offset = in.Window(defaultLimit)
	items, total, err := changesOf(c.Tx, c.Who.AccountID, s, c.Unix())
	for i := range items {
		items[i] = items[i].shown(&page, c.Unix())
	}
	return api.NewPaged(items, s.offset, total), err
}
