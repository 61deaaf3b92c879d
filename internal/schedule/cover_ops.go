package schedule

import "tocsin/internal/api"

// coverOps returns the operations by which persons of a schedule change their shifts themselves.
func (r *Service) coverOps() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path: "/schedule/shift/take", Narrowed: narrowedSelf, Effect: api.Write, Audit: "shift:write:take",
			Doc: "Puts the caller on call in place of another person of the schedule, or of everyone with a role, for a shift or a part of it.",
			Notes: "The caller must be in the schedule. It becomes an override, and those who are replaced are notified. " +
				"A person without Schedules Manage makes at most 50 overrides of a schedule that are not past or in 24 hours. " + planned,
			Example: `{"schedule_id": 3846027354131, "person_id": 3846027201131, "start": 1809936000, "end": 1809964800, "dry_run": true}`,
			Do:      api.Do(r.shiftTake),
		},
		{
			Path: "/schedule/shift/hand-over", Narrowed: narrowedSelf, Effect: api.Write, Audit: "shift:write:hand-over",
			Doc: "Hands the caller's own shift, or a part of it, to a named person of the schedule.",
			Notes: "The other is asked as by /schedule/cover/request, and the caller stays on call until the other accepts. If the caller has " +
				"Schedules Manage it is an override at once, and the other is notified.",
			Example: `{"schedule_id": 3846027354131, "to": 3846027201131, "start": 1810022400, "end": 1810051200, "reason": "dentist"}`,
			Do:      api.Do(r.shiftHandOver),
		},
		{
			Path: "/schedule/cover/request", Narrowed: narrowedSelf, Effect: api.Write, Audit: "cover_request:write:create",
			Doc: "Asks persons of the schedule to be on call in the caller's place, for a shift or a part of it.",
			Notes: "They are notified with a link by which they accept or decline. The first who accepts is on call, by an override; the others " +
				"are notified. Until then the caller stays on call. The request ends when the shift begins or, if it has begun, when it ends; " +
				"then the caller is notified that no one accepted. At most 20 requests of a person in 24 hours.",
			Example: `{"schedule_id": 3846027354131, "person_ids": [3846027201131], "start": 1810108800, "end": 1810137600, "reason": "dentist"}`,
			Do:      api.Do(r.coverRequest),
		},
		{
			Path: "/schedule/cover/accept", Narrowed: narrowedSelf, Effect: api.Write, Audit: "cover_request:write:accept",
			Doc: "Accepts a request for cover that the caller was asked by: the caller is on call, by an override.",
			Notes: "Only the first who accepts is. The override lasts as long as the person who asked would still be on call: the schedule may " +
				"have changed since.",
			Example: `{"request_id": 5789640530777}`,
			Do:      api.Do(r.coverAccept),
		},
		{
			Path: "/schedule/cover/decline", Narrowed: narrowedSelf, Effect: api.Write, Audit: "cover_request:write:decline",
			Doc:     "Declines a request for cover that the caller was asked by.",
			Notes:   "When all have declined, the person who asked is notified.",
			Example: `{"request_id": 5789640530778}`,
			Do:      api.Do(r.coverDecline),
		},
		{
			Path: "/schedule/cover/cancel", Narrowed: narrowedSelf, Effect: api.Write, Audit: "cover_request:write:cancel",
			Doc:     "Cancels an open request for cover of the caller or, with Schedules Manage, of anyone.",
			Notes:   "Those who were asked and have not declined are notified.",
			Example: `{"request_id": 5789640530779}`,
			Do:      api.Do(r.coverCancel),
		},
		{
			Path: "/schedule/cover/list", Narrowed: mayRead, Effect: api.Snapshot,
			Doc:     "Lists requests for cover page by page, newest first.",
			Notes:   "A caller without Schedules Read sees those that concern the caller. A request is kept for 30 days after its end.",
			Example: `{"schedule_ids": [3846027350131], "status": "open", "p": 1, "limit": 20}`,
			Do:      api.Do(r.coverList),
		},
	})
}
