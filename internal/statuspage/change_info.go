package statuspage

import "tocsin/internal/api"

// OneChange names one change of a page.
type OneChange struct {
	PageID   int64 `json:"page_id" minimum:"1" doc:"The page."`
	ChangeID int64 `json:"change_id" minimum:"1" doc:"The change."`
}

// changeInfo answers /status-page/change/info.
func changeInfo(c *api.Call, in OneChange) (Change, error) {
	change, page, err := changeOf(c, in.PageID, in.ChangeID)
	return change.shown(&page, c.Unix()), err
}

// changeOf returns a change with its page, or ResourceNotFound.
func changeOf(c *api.Call, page, number int64) (Change, Page, error) {
	p, err := pageOf(c, page)
	if err != nil {
		return Change{}, Page{}, err
	}
	change, err := findChange(c.Tx, c.Who.AccountID, page, number)
	return change, p, err
}
