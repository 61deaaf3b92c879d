package schedule

import "tocsin/internal/api"

// overrideOps returns the operations on overrides.
func (r *Service) overrideOps() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path:   "/schedule/override/create",
			Allow:  mayManage,
			Effect: api.Write,
			Audit:  "schedule_override:write:create",
			Doc:    "Puts a person on call in place of another, or of everyone who holds a role, for a time.",
			Notes: "Only the person or role is replaced: the others of the group stay, and the layers are not changed. Overrides take " +
				"effect in the order in which they were made, so a shift that was handed over can be handed on. The person who " +
				"takes over and those who are replaced are notified. A person or role that has no shifts is accepted and named in warnings. " + planned,
			Example: exampleOverride,
			Do:      api.Do(r.overrideCreate),
		},
		{
			Path:    "/schedule/override/list",
			Allow:   mayRead,
			Effect:  api.Snapshot,
			Doc:     "Lists overrides page by page, the latest start first.",
			Notes:   "An override is kept for 400 days after its end.",
			Example: `{"schedule_ids": [3846027350131], "start": 1776009600, "end": 1776614400, "p": 1, "limit": 20}`,
			Do:      api.Do(r.overrideList),
		},
		{
			Path:    "/schedule/override/update",
			Allow:   mayManage,
			Effect:  api.Write,
			Audit:   "schedule_override:write:update",
			Doc:     "Changes the fields of an override that are sent and leaves the others alone.",
			Notes:   "The persons concerned before or after it are notified. " + planned,
			Example: `{"override_id": 3846027360131, "reason": "dentist"}`,
			Do:      api.Do(r.overrideUpdate),
		},
		{
			Path:    "/schedule/override/delete",
			Allow:   mayManage,
			Effect:  api.Write,
			Audit:   "schedule_override:write:delete",
			Danger:  true,
			Doc:     "Deletes overrides: all of those named, or none.",
			Notes:   "The persons concerned are notified. " + planned,
			Example: `{"override_ids": [3846027360131], "dry_run": true}`,
			Do:      api.Do(r.overrideDelete),
		},
	})
}

const (
	planned         = "With dry_run nothing is changed, and plan shows who would gain and lose which shifts while it lasts."
	exampleOverride = `{"schedule_id": 3846027354131, "person_id": 3846027200131, "by": 3846027201131, "start": 1809936000, ` +
		`"end": 1809964800, "reason": "dentist"}`
)
