package calendar

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// moves returns the calendar that a request writes: layers of schedules may take its days or leave them out.
func moves[In any](calendar func(In) string) api.Objects {
	return api.ObjectsOf(func(_ *api.Call, in In) ([]configstore.Target, error) {
		return []configstore.Target{configstore.RefTo(configstore.Calendar, calendar(in))}, nil
	})
}

var mayManage = []auth.Permission{auth.CalendarsManage}

// Ops returns the operations of this package.
func Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path: "/calendar/create", Allow: mayManage, Effect: api.Write, Audit: "calendar:write:create",
			Doc:     "Creates a calendar.",
			Notes:   "A calendar without a zone gets the account's.",
			Example: `{"cal_name": "Berlin office", "timezone": "Europe/Berlin", "workdays": [1, 2, 3, 4, 5]}`,
			Do:      api.Do(create),
		},
		{
			Path: "/calendar/update", Allow: mayManage, Effect: api.Write, Audit: "calendar:write:update",
			Doc:     "Changes the fields of a calendar that are sent; the others keep their values.",
			Example: `{"cal_id": "cal.BergfinkOfficeDays0001", "workdays": [1, 2, 3, 4]}`,
			Moves:   moves(func(in UpdateRequest) string { return in.CalID }),
			Do:      api.Do(update),
		},
		{
			Path: "/calendar/delete", Allow: mayManage, Effect: api.Write, Audit: "calendar:write:delete", Danger: true,
			Errors:  api.Referenced,
			Doc:     "Deletes a calendar that no rule uses, with its events.",
			Example: `{"cal_id": "cal.BergfinkOfficeDays0001", "dry_run": true}`,
			Do:      api.Do(remove),
		},
		{
			Path: "/calendar/info", Effect: api.Read,
			Doc:     "Shows one calendar.",
			Example: `{"cal_id": "cal.BergfinkOfficeDays0001"}`,
			Do:      api.Do(info),
		},
		{
			Path: "/calendar/list", Effect: api.Read,
			Doc:     "Lists the calendars of the account, oldest first.",
			Notes:   "Calendars of public holidays are not included: all calendars are of kind personal.",
			Example: `{}`,
			Do:      api.Do(list),
		},
		{
			Path:   "/calendar/event/upsert",
			Allow:  mayManage,
			Effect: api.Write,
			Audit:  "calendar_event:write:upsert",
			Doc:    "Adds exceptions to a calendar, days off or working days, or changes them.",
			Example: `{"cal_id": "cal.BergfinkOfficeDays0001", "summary": "Labour Day", ` +
				`"start_at": "2026-05-01", "end_at": "2026-05-02", "is_off": true}`,
			Moves: moves(func(in EventUpsertRequest) string { return in.CalID }),
			Do:    api.Do(eventUpsert),
		},
		{
			Path: "/calendar/event/delete", Allow: mayManage, Effect: api.Write, Audit: "calendar_event:write:delete", Danger: true,
			Doc:     "Deletes an event of a calendar.",
			Example: `{"cal_id": "cal.BergfinkOfficeDays0001", "event_id": "cale.Bergfink2026Holiday0"}`,
			Moves:   moves(func(in EventDeleteRequest) string { return in.CalID }),
			Do:      api.Do(eventDelete),
		},
		{
			Path: "/calendar/event/list", Effect: api.Read,
			Doc:     "Lists the events of a calendar that overlap a year, a month or a day, by their first day.",
			Notes:   "Without a year the current year in the calendar's zone is used.",
			Example: `{"cal_id": "cal.BergfinkOfficeDays0001", "year": 2026, "month": 5}`,
			Do:      api.Do(eventList),
		},
	})
}
