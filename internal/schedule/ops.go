package schedule

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/ratelimit"
)

//go:embed testdata/golden/*.json
var golden embed.FS

var (
	mayRead   = []auth.Permission{auth.SchedulesRead, auth.SchedulesManage}
	mayManage = []auth.Permission{auth.SchedulesManage}
)

// Ops returns the operations on schedules (specification 4.2 and docs/api.md).
func (r *Service) Ops() []api.Op {
	return append(api.WithReplies(golden, []api.Op{
		{
			Path:   "/schedule/info",
			Allow:  mayRead,
			Effect: api.Read,
			Doc:    "Shows one schedule with who is on call in a window of time.",
			Notes: "Without start and end the window is the next seven days. cur_oncall and next_oncall are for the time of the call, " +
				"whatever the window.",
			Example: `{"schedule_id": 3846027350131, "start": 1776009600, "end": 1776614400}`,
			Do:      api.Do(r.info),
		},
		{
			Path:    "/schedule/explain",
			Allow:   mayRead,
			Effect:  api.Snapshot,
			Doc:     "Explains who is on call at a moment: by which layer, turn, restriction or override, and when it changes next.",
			Notes:   "In words and in data. Who is on call agrees with final_schedule of /schedule/info.",
			Example: `{"schedule_id": 3846027350131, "at": 1776096000}`,
			Do:      api.Do(r.explain),
		},
		{
			Path:   "/schedule/create",
			Allow:  mayManage,
			Effect: api.Write,
			Audit:  "schedule:write:create",
			Doc:    "Creates a schedule.",
			Notes: "A team or a person that does not exist is accepted and named in warnings: people are often created later, or elsewhere. " +
				"With dry_run nothing is created, and plan shows for each person which shifts of the next 45 days the schedule would give.",
			Example: exampleBody,
			Do:      api.Do(r.create),
		},
		{
			Path:   "/schedule/update",
			Allow:  mayManage,
			Effect: api.Write,
			Audit:  "schedule:write:update",
			Doc:    "Changes the fields of a schedule that are sent and leaves the others alone.",
			Notes: "Layers, and notify, are replaced as a whole when they are sent. An empty list of layers removes them all; an empty " +
				"description, time_zone or team 0 clears it. " +
				"With dry_run nothing is changed, and plan shows for each person which shifts of the next 45 days would be gained and " +
				"lost, computed as every timeline is.",
			Example: `{"schedule_id": 3846027350131, "schedule_name": "Production On-Call", "description": "Primary rotation", ` +
				`"team_id": 3846027250131}`,
			Do: api.Do(r.update),
		},
		{
			Path:    "/schedule/preview",
			Allow:   mayRead,
			Effect:  api.Snapshot,
			Rate:    ratelimit.Rate{PerMinute: 60, PerSecond: 10},
			Doc:     "Shows who would be on call under a configuration, without storing it.",
			Example: examplePreview,
			Do:      api.Do(r.preview),
		},
		{
			Path:   "/schedule/list",
			Effect: api.Snapshot,
			Doc:    "Lists schedules page by page, newest first.",
			Notes: "Newest first means by create_at, and by schedule_id where that is equal. With start and end each schedule is shown as " +
				"/schedule/info shows it; without them its layers and everything computed are null.",
			Example: `{"p": 1, "limit": 20, "query": "production", "is_my_team": true}`,
			Do:      api.Do(r.list),
		},
		{
			Path:   "/schedule/self",
			Allow:  mayRead,
			Effect: api.Read,
			Doc:    "Lists the schedules in which the caller, or the person named, takes shifts.",
			Notes: "The caller is the person whose app key it is. Without start and end these are the schedules that name the person in " +
				"any group of any layer; with them, those in whose final timeline the person is on call at some time in the window. " +
				"Newest first. Layers are shown, nothing computed is.",
			Example: `{"start": 1776009600, "end": 1776614400}`,
			Do:      api.Do(r.self),
		},
		{
			Path:   "/schedule/by-person",
			Allow:  mayRead,
			Effect: api.Snapshot,
			Rate:   ratelimit.Rate{PerMinute: 60, PerSecond: 10},
			Doc:    "Lists when persons are on call in a window of time, by schedule.",
			Notes: "By the final timelines of /schedule/info, so with overrides and absences. Times of one person in one schedule that touch are " +
				"one item, in whatever role. Sorted by person, then by start. Disabled schedules are left out: no person is paged from them. " +
				"The persons may be named by at most 200 schedules.",
			Example: `{"person_ids": [2476123212131], "start": 1776009600, "end": 1776614400}`,
			Do:      api.Do(r.byPerson),
		},
		{
			Path:   "/schedule/gap/list",
			Allow:  mayRead,
			Effect: api.Snapshot,
			Doc:    "Lists when no one is on call within the next 14 days, the earliest first.",
			Notes: "Of enabled schedules that an escalation rule names: a schedule that pages no one has no gap that matters. " +
				"Gaps that begin later are not listed.",
			Example: `{"limit": 20}`,
			Do:      api.Do(r.gapList),
		},
		{
			Path:    "/schedule/infos",
			Allow:   mayRead,
			Effect:  api.Snapshot,
			Doc:     "Shows several schedules without their layers and timelines.",
			Notes:   "In the order asked for, each once; identifiers that do not exist are left out.",
			Example: `{"schedule_ids": [3846027350131, 3846027351131]}`,
			Do:      api.Do(r.infos),
		},
		{
			Path:   "/schedule/uses",
			Allow:  mayRead,
			Effect: api.Snapshot,
			Doc:    "Counts the escalation rules that use schedules.",
			Notes: "In the order asked for, each once; identifiers that do not exist are left out. No person is paged from a schedule " +
				"without rules.",
			Example: `{"schedule_ids": [3846027350131, 3846027351131]}`,
			Do:      api.Do(r.uses),
		},
		{
			Path:   "/schedule/lint",
			Errors: api.Missing("schedule"),
			Allow:  mayRead,
			Effect: api.Snapshot,
			Rate:   ratelimit.Rate{PerMinute: 30, PerSecond: 2}, // it may compute all schedules
			Doc:    "Lists what is wrong with schedules: holes of the next 90 days, layers that are never on call, persons on call twice at once.",
			Notes: "The codes are in docs/lint.md. Holes are named of schedules that are enabled and used by an escalation rule. Times are in " +
				"the schedule's time zone.",
			Example: `{"schedule_ids": [3846027350131]}`,
			Do:      api.Do(r.lint),
		},
		{
			Path:   "/schedule/stats",
			Errors: api.Missing("schedule"),
			Allow:  mayRead,
			Effect: api.Snapshot,
			Rate:   ratelimit.Rate{PerMinute: 30, PerSecond: 2}, // it may compute a year of many schedules
			Doc:    "Counts how long each person is on call in a window of up to a year, at night, at weekends and on holidays.",
			Notes: "Of one schedule, several, or those of teams. The final timelines are counted, as /schedule/info shows them; the window may " +
				"lie in the past or ahead. The past is computed from the schedules as they are now.",
			Example: `{"schedule_ids": [3846027350131], "start": 1767225600, "end": 1776614400}`,
			Do:      api.Do(r.stats),
		},
		{
			Path:    "/schedule/delete",
			Errors:  api.Referenced,
			Allow:   mayManage,
			Effect:  api.Write,
			Audit:   "schedule:write:delete",
			Danger:  true,
			Doc:     "Deletes schedules: all of those named, or none.",
			Notes:   "A schedule that something refers to is not deleted. With dry_run none is, and the reply shows whether all could be.",
			Example: `{"schedule_ids": [3846027350131], "dry_run": true}`,
			Moves:   api.ObjectsOf(toDelete),
			Do:      api.Do(r.delete),
		},
	}), append(r.overrideOps(), r.coverOps()...)...)
}

const exampleLayers = `[{"layer_name": "Weekdays", "mode": 0, "rotation_unit": "day", "rotation_value": 1, "layer_start": 1776009600, ` +
	`"day_mask": {"repeat": [1, 2, 3, 4, 5]}, "groups": [` +
	`{"group_name": "A", "members": [{"role_id": 0, "person_ids": [3846027200131]}]}, ` +
	`{"group_name": "B", "members": [{"role_id": 0, "person_ids": [3846027201131]}]}]}]`

const exampleBody = `{"schedule_name": "Production On-Call", "description": "Primary rotation", "team_id": 3846027250131, "layers": ` +
	exampleLayers +
	`, "notify": {"advance_in_time": 300, "by": {"follow_preference": true, "personal_channels": null}}}`

const examplePreview = `{"start": 1776009600, "end": 1776268800, "layers": ` + exampleLayers + `}`
