package statuspage

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
)

type activeListRequest struct {
	PageID int64  `json:"page_id,omitzero" minimum:"0" doc:"Only changes of this page; absent or 0: of all pages."`
	Type   string `json:"type,omitzero" enum:",incident,maintenance" doc:"Only changes of this type; absent or empty: of both."`
	api.Page
}

// activeList answers /status-page/change/active/list.
func activeList(c *api.Call, in activeListRequest) (api.Paged[Change], error) {
	if in.PageID != 0 {
		if _, err := pageOf(c, in.PageID); err != nil {
			return api.Paged[Change]{}, err
		}
	}
	pages, _, err := Pages.Page(c.Tx, c.Who.AccountID, configstore.Query{Limit: maxPages})
	if err != nil {
		return api.Paged[Change]{}, err
	}
	s := selection{page: in.PageID, kind: in.Type}
	s.limit, s.offset = in.Window(defaultLimit)
	items, total, err := openChanges(c.Tx, c.Who.AccountID, s, c.Unix())
	for i := range items {
		page := slices.IndexFunc(pages, func(p Page) bool { return p.PageID == items[i].PageID })
		if page < 0 { // it cannot be decoded: the names are those that the updates hold
			items[i] = items[i].shown(&Page{}, c.Unix())
			continue
		}
		items[i] = items[i].shown(&pages[page], c.Unix())
	}
	return api.NewPaged(items, s.offset, total), err
}
