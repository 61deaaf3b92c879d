package statuspage

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
)

// ChangeUpdateRequest changes the members of a change that are sent.
type ChangeUpdateRequest struct {
	PageID          int64    `json:"page_id" minimum:"1" doc:"The page."`
	ChangeID        int64    `json:"change_id" minimum:"1" doc:"The change."`
	Title           *string  `json:"title,omitzero" minLength:"1" maxLength:"255" doc:"What readers see first."`
	Description     *string  `json:"description,omitzero" maxLength:"10000" doc:"Markdown, stored as it is sent."`
	CloseAt         *int64   `json:"close_at_seconds,omitzero" minimum:"0" maximum:"9999999999" doc:"When a maintenance is to end; 0: not known."`
	ResponderIDs    []int64  `json:"responders,omitzero" maxItems:"100" doc:"The persons who work on it; the whole list."`
	LinkedChangeIDs []string `json:"linked_changes,omitzero" maxItems:"100" maxLength:"64" doc:"Identifiers of what it has to do with; the whole list."`
}

// changeUpdate answers /status-page/change/update. Absent members keep their values.
func changeUpdate(c *api.Call, in ChangeUpdateRequest) (api.Empty, error) {
	change, _, err := changeOf(c, in.PageID, in.ChangeID)
	if err != nil {
		return api.Empty{}, err
	}
	configstore.SetIfSent(&change.Title, in.Title)
	configstore.SetIfSent(&change.Description, in.Description)
	configstore.SetIfSent(&change.CloseAt, in.CloseAt)
	if in.ResponderIDs != nil {
		change.ResponderIDs = in.ResponderIDs
	}
	if in.LinkedChangeIDs != nil {
		change.LinkedChangeIDs = in.LinkedChangeIDs
	}
	if err := configstore.FirstError(change.checkTimes(c.Unix()), needPersons(c, in.ResponderIDs)); err != nil {
		return api.Empty{}, err
	}
	return api.Empty{}, change.store(c)
}

// store checks a change that a call has changed, and stores it.
func (c *Change) store(call *api.Call) error {
	if err := c.check(""); err != nil {
		return err
	}
	if err := c.checkOpen(call.Tx, call.Who.AccountID, call.Unix()); err != nil {
		return err
	}
	c.UpdatedAt = call.Unix()
	call.Touched(changeKind, c.ChangeID, c.Title)
	return c.update(call.Tx, call.Who.AccountID)
}
