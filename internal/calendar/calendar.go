package calendar

import (
	"slices"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
	"tocsin/internal/team"
)

// Calendar holds the working days of the week; its events are the exceptions.
type Calendar struct {
	AccountID   int64    `json:"account_id" doc:"Owning account."`
	TeamID      int64    `json:"team_id" doc:"Owning team; 0: none."`
	CalID       string   `json:"cal_id" maxLength:"63" doc:"The calendar's identifier."`
	CalName     string   `json:"cal_name" maxLength:"39" doc:"1 to 39 characters."`
	Description string   `json:"description" maxLength:"499" doc:"At most 499 characters."`
	TimeZone    string   `json:"timezone" maxLength:"64" doc:"IANA name of the zone in which its days begin and end."`
	Kind        string   `json:"kind" enum:"personal" doc:"Always personal: the account's own."`
	Workdays    []int64  `json:"workdays" maxItems:"7" minimum:"0" maximum:"6" doc:"Days of the week that are worked on, 0 is Sunday; empty: none."`
	ExtraCalIDs []string `json:"extra_cal_ids" maxItems:"20" maxLength:"64" doc:"Calendars of the account whose events count here too."`
	CreatedAt   int64    `json:"created_at" doc:"Unix seconds."`
	UpdatedAt   int64    `json:"updated_at" doc:"Unix seconds."`
	CreatorID   int64    `json:"creator_id" doc:"The person who made it; 0: not known."`
	UpdatedBy   int64    `json:"updated_by" doc:"The person who changed it last."`
	Status      string   `json:"status" enum:"enabled" doc:"Always enabled."`
}

// Event is a period of days that are exceptions: days off, or working days.
type Event struct {
	AccountID   int64  `json:"account_id" doc:"Owning account."`
	CreatorID   int64  `json:"creator_id" doc:"The person who made it; 0: not known."`
	CalID       string `json:"cal_id" maxLength:"63" doc:"The calendar it belongs to."`
	EventID     string `json:"event_id" maxLength:"63" doc:"Unique in the account."`
	Summary     string `json:"summary" maxLength:"39" doc:"1 to 39 characters."`
	Description string `json:"description" maxLength:"499" doc:"At most 499 characters."`
	StartAt     string `json:"start_at" maxLength:"10" doc:"First day, YYYY-MM-DD."`
	EndAt       string `json:"end_at" maxLength:"10" doc:"The day after the last, YYYY-MM-DD."`
	IsOff       bool   `json:"is_off" doc:"Days off; else days worked on."`
	CreatedAt   int64  `json:"created_at" doc:"Unix seconds."`
	UpdatedAt   int64  `json:"updated_at" doc:"Unix seconds."`
}

// Kind describes how calendars are stored and checked.
var Kind = configstore.Kind[Calendar]{
	Name: configstore.Calendar, Section: "calendars",
	Head: func(c *Calendar) configstore.Head {
		return configstore.Head{
			ID:        c.CalID,
			Name:      c.CalName,
			Team:      c.TeamID,
			Creator:   c.CreatorID,
			CreatedAt: c.CreatedAt,
			UpdatedAt: c.UpdatedAt,
		}
	},
	Refs: func(c *Calendar) []configstore.Target {
		refs := []configstore.Target{configstore.RefTo(configstore.Team, c.TeamID)}
		for _, extra := range c.ExtraCalIDs {
			refs = append(refs, configstore.RefTo(configstore.Calendar, extra))
		}
		return refs
	},
	Check: func(_ *db.Tx, at configstore.RecordPath, account int64, c *Calendar) error {
		if c.Status == "" {
			c.Status = "enabled"
		}
		if c.Kind == "" {
			c.Kind = "personal"
		}
		if err := configstore.FirstError(
			at.Account(c.AccountID, account), at.Length("cal_id", c.CalID, 1, 63), at.Length("cal_name", c.CalName, 1, 39),
			at.Length("description", c.Description, 0, 499), at.AtLeast("team_id", c.TeamID, 0), at.OneOf("kind", c.Kind, "personal"),
			at.OneOf("status", c.Status, "enabled"), checkZone(at, c.TimeZone), checkWorkdays(at, c.Workdays),
		); err != nil {
			return err
		}
		c.AccountID, c.ExtraCalIDs = account, orEmpty(c.ExtraCalIDs)
		return nil
	},
}

// EventKind describes how events of calendars are stored and checked.
var EventKind = configstore.Kind[Event]{
	Name: "calendar_event", Section: "calendar_events",
	Head: func(e *Event) configstore.Head {
		return configstore.Head{
			ID:        e.EventID,
			Parent:    e.CalID,
			Name:      e.Summary,
			Creator:   e.CreatorID,
			CreatedAt: e.CreatedAt,
			UpdatedAt: e.UpdatedAt,
		}
	},
	Check: func(tx *db.Tx, at configstore.RecordPath, account int64, e *Event) error {
		if err := configstore.FirstError(
			at.Account(e.AccountID, account), at.Length("event_id", e.EventID, 1, 63), at.Length("summary", e.Summary, 1, 39),
			at.Length("description", e.Description, 0, 499), checkDays(at, e.StartAt, e.EndAt),
		); err != nil {
			return err
		}
		known, err := Kind.Exists(tx, account, e.CalID)
		if err == nil && !known {
			err = at.Invalid("cal_id", "calendar %s does not exist", e.CalID)
		}
		e.AccountID = account
		return err
	},
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func checkZone(at configstore.RecordPath, zone string) error {
	if _, err := time.LoadLocation(zone); err != nil || zone == "" || zone == "Local" {
		return at.Invalid("timezone", "must be an IANA zone such as Europe/Berlin, got %.60q", zone)
	}
	return nil
}

func checkWorkdays(at configstore.RecordPath, days []int64) error {
	for i, day := range days {
		if day < 0 || day > 6 {
			return at.Element("workdays", i).Invalid("", "must be from 0 (Sunday) to 6, got %d", day)
		}
		if slices.Contains(days[:i], day) {
			return at.Element("workdays", i).Twice("", day)
		}
	}
	return nil
}

// longestEvent is the highest number of days of an event.
const longestEvent = 366

func checkDays(at configstore.RecordPath, start, end string) error {
	first, err := time.Parse(time.DateOnly, start)
	if err != nil {
		return at.Invalid("start_at", "must be a day as YYYY-MM-DD, got %.40q", start)
	}
	after, err := time.Parse(time.DateOnly, end)
	if err != nil {
		return at.Invalid("end_at", "must be a day as YYYY-MM-DD, got %.40q", end)
	}
	if days := int(after.Sub(first).Hours() / 24); days < 1 || days > longestEvent {
		return at.Invalid("end_at", "must be 1 to %d days after start_at %s, got %s", longestEvent, start, end)
	}
	return nil
}

// need returns a fault for an extra calendar that does not exist, and for a calendar that names itself.
func need(tx *db.Tx, account int64, self string, extra []string) error {
	for i, id := range extra {
		path := string(configstore.RecordPath("").Element("extra_cal_ids", i))
		if id == self {
			return fault.Invalid(path, "is the calendar itself")
		}
		if err := configstore.Need(tx, account, path, configstore.RefTo(configstore.Calendar, id)); err != nil {
			return err
		}
	}
	return nil
}

// Body holds the members of a calendar that a caller may set.
type Body struct {
	Description *string  `json:"description,omitzero" maxLength:"499" doc:"At most 499 characters."`
	TimeZone    *string  `json:"timezone,omitzero" maxLength:"64" doc:"IANA name such as Europe/Berlin; absent or empty on creation: the account's."`
	TeamID      *int64   `json:"team_id,omitzero" minimum:"0" doc:"Owning team; 0: none."`
	Workdays    []int64  `json:"workdays,omitzero" maxItems:"7" minimum:"0" maximum:"6" doc:"Days of the week that are worked on, 0 is Sunday."`
	ExtraCalIDs []string `json:"extra_cal_ids,omitzero" maxItems:"20" maxLength:"64" doc:"Calendars of the account whose events count here too."`
}

// CreateRequest is a calendar to create.
type CreateRequest struct {
	CalName string `json:"cal_name" minLength:"1" maxLength:"39" doc:"1 to 39 characters."`
	Body
}

// Created is the calendar that was created.
type Created struct {
	CalID   string `json:"cal_id" doc:"The new calendar."`
	CalName string `json:"cal_name" doc:"Its name."`
}

// UpdateRequest is what changes of a calendar. An absent member stays as it is.
type UpdateRequest struct {
	CalID   string  `json:"cal_id" minLength:"1" maxLength:"63" doc:"The calendar to change."`
	CalName *string `json:"cal_name,omitzero" minLength:"1" maxLength:"39" doc:"1 to 39 characters."`
	Body
}

func create(c *api.Call, in CreateRequest) (Created, error) {
	cal := Calendar{
		AccountID: c.Who.AccountID, CalID: "cal." + id.Short(), CalName: in.CalName, TimeZone: c.Who.Zone.String(), Kind: "personal",
		Workdays: []int64{}, ExtraCalIDs: []string{}, CreatedAt: c.Unix(), CreatorID: c.Who.PersonID, Status: "enabled",
	}
	return Created{cal.CalID, cal.CalName}, in.apply(c, &cal)
}

func update(c *api.Call, in UpdateRequest) (api.Empty, error) {
	cal, err := Kind.Get(c.Tx, c.Who.AccountID, in.CalID)
	if err != nil {
		return api.Empty{}, err
	}
	configstore.SetIfSent(&cal.CalName, in.CalName)
	return api.Empty{}, in.apply(c, &cal)
}

// apply sets the members that were sent in the calendar and stores it.
func (b Body) apply(c *api.Call, cal *Calendar) error {
	configstore.SetIfSent(&cal.Description, b.Description)
	configstore.SetIfSent(&cal.TeamID, b.TeamID)
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
		team.Table.Need(c.Tx, c.Who.AccountID, "team_id", cal.TeamID),
		need(c.Tx, c.Who.AccountID, cal.CalID, b.ExtraCalIDs),
	); err != nil {
		return err
	}
	cal.UpdatedAt, cal.UpdatedBy = c.Unix(), c.Who.PersonID
	c.Touched(Kind.Name, cal.CalID, cal.CalName)
	return Kind.Put(c.Tx, c.Who.AccountID, cal)
}

// DeleteRequest names a calendar to delete.
type DeleteRequest struct {
	CalID string `json:"cal_id" minLength:"1" maxLength:"63" doc:"The calendar to delete."`
	api.DryRun
}

func remove(c *api.Call, in DeleteRequest) (api.Removal, error) {
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

// InfoRequest names a calendar.
type InfoRequest struct {
	CalID string `json:"cal_id" minLength:"1" maxLength:"63" doc:"The calendar."`
}

func info(c *api.Call, in InfoRequest) (Calendar, error) {
	return Kind.Get(c.Tx, c.Who.AccountID, in.CalID)
}

// ListRequest asks for all calendars.
type ListRequest struct {
	Kind     string `json:"kind,omitzero" enum:"personal,region.official.holiday" doc:"Absent: personal."`
	NoLocale bool   `json:"no_locale,omitzero" doc:"Makes no difference: there are no calendars that depend on a language."`
}

// Listed is the reply of the lists that have no pages.
type Listed[T any] struct {
	Items []T   `json:"items" doc:"All of them."`
	Total int64 `json:"total" doc:"The number of items."`
}

// maxListed is the highest number of calendars in a list, and of events with which a calendar is read.
const maxListed = 10_000

func list(c *api.Call, in ListRequest) (Listed[Calendar], error) {
	if in.Kind != "" && in.Kind != "personal" {
		return Listed[Calendar]{Items: []Calendar{}}, nil
	}
	items, total, err := Kind.Page(c.Tx, c.Who.AccountID, configstore.Query{Ascending: true, Limit: maxListed})
	return Listed[Calendar]{items, total}, err
}
