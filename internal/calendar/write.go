package calendar

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/id"
)

// Body is what a caller may say of a calendar.
type Body struct {
	Description *string  `json:"description,omitzero" maxLength:"499" doc:"At most 499 characters."`
	TimeZone    *string  `json:"timezone,omitzero" maxLength:"64" doc:"IANA name such as Europe/Berlin; absent or empty on creation: the account's."`
	TeamID      *int64   `json:"team_id,omitzero" minimum:"0" doc:"Owning team; 0: none."`
	Workdays    []int64  `json:"workdays,omitzero" maxItems:"7" minimum:"0" maximum:"6" doc:"Days of the week that are worked on, 0 is Sunday."`
	ExtraCalIDs []string `json:"extra_cal_ids,omitzero" maxItems:"20" maxLength:"64" doc:"Calendars of the account whose events count here too."`
}

type createRequest struct {
	CalName string `json:"cal_name" minLength:"1" maxLength:"39" doc:"1 to 39 characters."`
	Body
}

type created struct {
	CalID   string `json:"cal_id" doc:"The new calendar."`
	CalName string `json:"cal_name" doc:"Its name."`
}

type updateRequest struct {
	CalID   string  `json:"cal_id" minLength:"1" maxLength:"63" doc:"The calendar to change."`
	CalName *string `json:"cal_name,omitzero" minLength:"1" maxLength:"39" doc:"1 to 39 characters."`
	Body
}

func create(c *api.Call, in createRequest) (created, error) {
	cal := Calendar{
		AccountID: c.Who.AccountID, CalID: "cal." + id.Short(), CalName: in.CalName, TimeZone: c.Who.Zone.String(), Kind: "personal",
		Workdays: []int64{}, ExtraCalIDs: []string{}, CreatedAt: c.Unix(), CreatorID: c.Who.PersonID, Status: "enabled",
	}
	return created{cal.CalID, cal.CalName}, in.onto(c, &cal)
}

func update(c *api.Call, in updateRequest) (api.Empty, error) {
	cal, err := Kind.Get(c.Tx, c.Who.AccountID, in.CalID)
	if err != nil {
		return api.Empty{}, err
	}
	set(&cal.CalName, in.CalName)
	return api.Empty{}, in.onto(c, &cal)
}

// onto puts what was sent into the calendar and stores it.
func (b Body) onto(c *api.Call, cal *Calendar) error {
	set(&cal.Description, b.Description)
	set(&cal.TeamID, b.TeamID)
	if b.TimeZone != nil && *b.TimeZone != "" {
		cal.TimeZone = *b.TimeZone
	}
	if b.Workdays != nil {
		cal.Workdays = b.Workdays
	}
	if b.ExtraCalIDs != nil {
		cal.ExtraCalIDs = b.ExtraCalIDs
	}
	if err := configstore.FirstError(
		checkZone("", cal.TimeZone), checkWorkdays("", cal.Workdays),
		configstore.Need(c.Tx, c.Who.AccountID, "team_id", configstore.RefTo(configstore.Team, cal.TeamID)),
		need(c.Tx, c.Who.AccountID, cal.CalID, b.ExtraCalIDs),
	); err != nil {
		return err
	}
	cal.UpdatedAt, cal.UpdatedBy = c.Unix(), c.Who.PersonID
	c.Touched(Kind.Name, cal.CalID, cal.CalName)
	return Kind.Put(c.Tx, c.Who.AccountID, cal)
}

// set changes a field that was sent.
func set[T any](field *T, sent *T) {
	if sent != nil {
		*field = *sent
	}
}

type deleteRequest struct {
	CalID string `json:"cal_id" minLength:"1" maxLength:"63" doc:"The calendar to delete."`
	api.DryRun
}

func remove(c *api.Call, in deleteRequest) (api.Removal, error) {
	cal, err := Kind.Get(c.Tx, c.Who.AccountID, in.CalID)
	if err != nil {
		return api.Removal{}, err
	}
	c.Removed(Kind.Name, cal.CalID, cal.CalName)
	if err := configstore.RefuseReferenced(c.Tx, c.Who.AccountID, Kind.Name, cal.CalID); err != nil {
		return api.Removal{}, err
	}
	gone, err := EventKind.DeleteOf(c.Tx, c.Who.AccountID, cal.CalID)
	for _, e := range gone {
		c.Removed(e.Kind, e.ID, e.Name)
	}
	if err != nil {
		return api.Removal{}, err
	}
	return api.Removal{}, Kind.Delete(c.Tx, c.Who.AccountID, cal.CalID)
}
