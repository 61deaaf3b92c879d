package statuspage

import "tocsin/internal/api"

// ChangeDeleteRequest names a change to delete.
type ChangeDeleteRequest struct {
	PageID   int64 `json:"page_id" minimum:"1" doc:"The page."`
	ChangeID int64 `json:"change_id" minimum:"1" doc:"The change to delete."`
	api.DryRun
}

// changeDelete answers /status-page/change/delete.
func changeDelete(c *api.Call, in ChangeDeleteRequest) (api.Removal, error) {
	change, _, err := changeOf(c, in.PageID, in.ChangeID)
	if err != nil {
		return api.Removal{}, err
	}
	c.Removed(changeKind, change.ChangeID, change.Title)
	return api.Removal{}, remove(c.Tx, c.Who.AccountID, change.ChangeID)
}
