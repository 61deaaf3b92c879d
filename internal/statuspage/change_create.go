package statuspage

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/person"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// ChangeCreateRequest is a change to create.
type ChangeCreateRequest struct {
	PageID            int64    `json:"page_id" minimum:"1" doc:"The page that is to show it."`
	Type              string   `json:"type" enum:"incident,maintenance" doc:"What it is; never changes."`
	Title             string   `json:"title" minLength:"1" maxLength:"255" doc:"What readers see first."`
	Description       string   `json:"description,omitzero" maxLength:"10000" doc:"Markdown, stored as it is sent."`
	Status            string   `json:"status" enum:"investigating,identified,monitoring,resolved,scheduled,ongoing,completed" doc:"The status of the first or of the last update; the status of the first, if none has one."`
	StartAt           int64    `json:"start_at_seconds,omitzero" minimum:"1" maximum:"9999999999" doc:"When it began or begins, Unix seconds; absent: now. Only a maintenance may begin later."`
	CloseAt           int64    `json:"close_at_seconds,omitzero" minimum:"0" maximum:"9999999999" doc:"When it ended or is to end, after its start: of a maintenance or of what is over; absent or 0: not known."`
	ResponderIDs      []int64  `json:"responders,omitzero" maxItems:"100" doc:"The persons who work on it."`
	LinkedChangeIDs   []string `json:"linked_changes,omitzero" maxItems:"100" maxLength:"64" doc:"Identifiers of what it has to do with."`
	Updates           []Update `json:"updates" minItems:"1" maxItems:"100" doc:"Its timeline, in any order. The first one by time names the components that are affected."`
	NotifySubscribers bool     `json:"notify_subscribers,omitzero" doc:"Subscribers are to be notified of it and of its updates."`
	AutoUpdate        bool     `json:"auto_update_by_schedule,omitzero" doc:"A maintenance becomes ongoing at its start and completed at its end by itself; needs close_at_seconds."`
	IsRetrospective   bool     `json:"is_retrospective,omitzero" doc:"It is over: it has close_at_seconds and at least two updates with their times, the last of which ends it."`
}

// ChangeCreated is the change that was created.
type ChangeCreated struct {
	ChangeID int64  `json:"change_id" doc:"The new change."`
	Name     string `json:"change_name" doc:"Its title."`
}

// changeCreate answers /status-page/change/create.
func changeCreate(c *api.Call, in ChangeCreateRequest) (ChangeCreated, error) {
	page, err := pageOf(c, in.PageID)
	if err != nil {
		return ChangeCreated{}, err
	}
	account, now := c.Who.AccountID, c.Unix()
	number, err := id.Unused(func(n int64) (bool, error) { return taken(c.Tx, account, n) })
	if err != nil {
		return ChangeCreated{}, err
	}
	change := Change{
		ChangeID: number, PageID: in.PageID, Type: in.Type, Title: in.Title, Description: in.Description,
		ResponderIDs: orEmpty(in.ResponderIDs), LinkedChangeIDs: orEmpty(in.LinkedChangeIDs), StartAt: in.StartAt, CloseAt: in.CloseAt,
		IsRetrospective: in.IsRetrospective, NotifySubscribers: in.NotifySubscribers, AutoUpdate: in.AutoUpdate,
		CreatorID: c.Who.PersonID, CreatedAt: now,
	}
	if change.StartAt == 0 {
		change.StartAt = now
	}
	err = configstore.FirstError(change.begin(c, &page, in.Updates, in.Status), change.checkTimes(now), needPersons(c, in.ResponderIDs))
	if err != nil {
		return ChangeCreated{}, err
	}
	change.UpdatedAt = now
	if err := change.check(""); err != nil {
		return ChangeCreated{}, err
	}
	if err := change.checkOpen(c.Tx, account, now); err != nil {
		return ChangeCreated{}, err
	}
	c.Touched(Pages.Name, page.PageID, page.Name)
	c.Touched(changeKind, number, change.Title)
	_, err = change.insert(c.Tx, account)
	return ChangeCreated{number, change.Title}, err
}

// begin sets the timeline of a new change from the updates and the status of its request.
func (c *Change) begin(call *api.Call, page *Page, updates []Update, status string) error {
	for i, u := range updates {
		if c.IsRetrospective && u.At == 0 {
			return fault.Invalid(string(configstore.PathOf("updates", i).Member("at_seconds")), "must be set for a retrospective change")
		}
		if err := u.complete(call, page, configstore.PathOf("updates", i)); err != nil {
			return err
		}
		c.add(u)
	}
	first := &c.Updates[0]
	if written, _ := c.written(); written == "" {
		first.Status = status
	}
	if written, _ := c.written(); status != first.Status && status != written {
		return fault.Invalid("status", "must be that of the first or of the last update, %s or %s, got %s", first.Status, written, status)
	}
	if len(first.Components) == 0 {
		return fault.Invalid("updates", "must begin with one whose component_changes name the affected components")
	}
	return nil
}

// ahead is how far the clock of a caller may be ahead of ours, in seconds. Such a moment counts as now.
const ahead = 300

// checkTimes returns a fault for a start or an end in the future that only a maintenance may have.
func (c *Change) checkTimes(now int64) error {
	switch {
	case c.Type == incident && c.StartAt > now+ahead:
		return fault.Invalid("start_at_seconds", "must not be in the future for an incident, got %d at %d", c.StartAt, now)
	case c.Type == incident && !c.IsRetrospective && c.CloseAt != 0:
		return fault.Invalid("close_at_seconds", "must be absent for an incident that is not over: the update that resolves it ends it")
	case c.IsRetrospective && c.CloseAt > now+ahead:
		return fault.Invalid("close_at_seconds", "must not be in the future for a retrospective change, got %d at %d", c.CloseAt, now)
	}
	return nil
}

// complete sets what an update may leave out, and the names of its components, which must be components of the page.
func (u *Update) complete(c *api.Call, page *Page, at configstore.RecordPath) error {
	now := c.Unix()
	if u.At > now+ahead {
		return at.Invalid("at_seconds", "must not be in the future, got %d at %d", u.At, now)
	}
	if u.At == 0 || u.At > now {
		u.At = now
	}
	if u.UpdateID == "" {
		u.UpdateID = id.ULID(c.Now)
	}
	u.Components = orEmpty(u.Components)
	for i := range u.Components {
		component := page.component(u.Components[i].ComponentID)
		if component == nil {
			return at.Element("component_changes", i).Invalid("component_id", "must be a component of page %d, got %.80q", page.PageID,
				u.Components[i].ComponentID)
		}
		u.Components[i].Name = component.Name
	}
	return nil
}

// needPersons returns a fault unless all persons exist.
func needPersons(c *api.Call, ids []int64) error {
	for i, number := range ids {
		at := string(configstore.PathOf("responders", i))
		if number < 1 {
			return fault.Invalid(at, "must be at least 1, got %d", number)
		}
		if err := person.Table.Need(c.Tx, c.Who.AccountID, at, number); err != nil {
			return err
		}
	}
	return nil
}
