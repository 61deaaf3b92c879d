package statuspage

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
)

// TimelineCreateRequest is an update to add to a change.
type TimelineCreateRequest struct {
	PageID      int64             `json:"page_id" minimum:"1" doc:"The page."`
	ChangeID    int64             `json:"change_id" minimum:"1" doc:"The change."`
	At          int64             `json:"at_seconds,omitzero" minimum:"1" maximum:"9999999999" doc:"When, Unix seconds; absent: now."`
	Status      string            `json:"status" enum:"investigating,identified,monitoring,resolved,scheduled,ongoing,completed" doc:"The status of the change from then on."`
	Description string            `json:"description" maxLength:"10000" doc:"Markdown, stored as it is sent."`
	Components  []ComponentChange `json:"component_changes,omitzero" maxItems:"200" doc:"The components whose status it changes, each once."`
}

// TimelineCreated is the update that was added.
type TimelineCreated struct {
	UpdateID string `json:"update_id" doc:"The new update."`
}

// timelineCreate answers /status-page/change/timeline/create.
func timelineCreate(c *api.Call, in TimelineCreateRequest) (TimelineCreated, error) {
	change, page, err := changeOf(c, in.PageID, in.ChangeID)
	if err != nil {
		return TimelineCreated{}, err
	}
	u := Update{At: in.At, Status: in.Status, Description: in.Description, Components: in.Components}
	if err := u.complete(c, &page, ""); err != nil {
		return TimelineCreated{}, err
	}
	if err := u.check("", change.Type); err != nil {
		return TimelineCreated{}, err
	}
	if before := change.statusAt(c.Unix()); u.At == c.Unix() && !mayFollow(change.Type, before, u.Status) {
		return TimelineCreated{}, fault.Invalid("status", "must not be %s after %s", u.Status, before)
	}
	change.add(u)
	return TimelineCreated{u.UpdateID}, change.store(c)
}

// TimelineUpdateRequest changes the members of an update that are sent.
type TimelineUpdateRequest struct {
	PageID      int64   `json:"page_id" minimum:"1" doc:"The page."`
	ChangeID    int64   `json:"change_id" minimum:"1" doc:"The change."`
	UpdateID    string  `json:"update_id" minLength:"1" maxLength:"64" doc:"The update."`
	At          *int64  `json:"at_seconds,omitzero" minimum:"1" maximum:"9999999999" doc:"When, Unix seconds."`
	Description *string `json:"description,omitzero" maxLength:"10000" doc:"Markdown, stored as it is sent."`
}

// timelineUpdate answers /status-page/change/timeline/update. Absent members keep their values.
func timelineUpdate(c *api.Call, in TimelineUpdateRequest) (api.Empty, error) {
	change, i, err := updateOf(c, in.PageID, in.ChangeID, in.UpdateID)
	if err != nil {
		return api.Empty{}, err
	}
	u := &change.Updates[i]
	configstore.SetIfSent(&u.Description, in.Description)
	if in.At != nil {
		if now := c.Unix(); *in.At > now+ahead {
			return api.Empty{}, fault.Invalid("at_seconds", "must not be in the future, got %d at %d", *in.At, now)
		}
		u.At = min(*in.At, c.Unix())
		change.order()
	}
	return api.Empty{}, change.store(c)
}

// TimelineDeleteRequest names an update to delete.
type TimelineDeleteRequest struct {
	PageID   int64  `json:"page_id" minimum:"1" doc:"The page."`
	ChangeID int64  `json:"change_id" minimum:"1" doc:"The change."`
	UpdateID string `json:"update_id" minLength:"1" maxLength:"64" doc:"The update to delete."`
	api.DryRun
}

// timelineDelete answers /status-page/change/timeline/delete. Without the update that ended it a change is open again.
func timelineDelete(c *api.Call, in TimelineDeleteRequest) (api.Removal, error) {
	change, i, err := updateOf(c, in.PageID, in.ChangeID, in.UpdateID)
	if err != nil {
		return api.Removal{}, err
	}
	change.Updates = slices.Delete(change.Updates, i, i+1)
	return api.Removal{}, change.store(c)
}

// updateOf returns a change and the index of one of its updates, or ResourceNotFound.
func updateOf(c *api.Call, page, number int64, id string) (Change, int, error) {
	change, _, err := changeOf(c, page, number)
	if err != nil {
		return Change{}, 0, err
	}
	i := slices.IndexFunc(change.Updates, func(u Update) bool { return u.UpdateID == id })
	if i < 0 {
		err = fault.Missing("status_page_update", id)
	}
	return change, i, err
}
