package absence

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
)

//go:embed testdata/golden/*.json
var golden embed.FS

var (
	narrowedRead  = []auth.Permission{auth.SchedulesRead, auth.MembersManage}
	narrowedWrite = []auth.Permission{auth.SchedulesManage, auth.MembersManage}
)

// Ops returns the operations on absences.
func (r *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path: "/person/absence/create", Narrowed: narrowedWrite, Effect: api.Write, Audit: "absence:write:create",
			Doc: "Records when a person cannot be on call, and shows what that changes in each schedule.",
			Notes: "A person writes their own absences; those of others need Schedules Manage (on-call) or Members Manage (org). " +
				"In rotations the person is left out; an override to the person still holds. The reply shows the shifts that the person " +
				"loses, who gains them, and the gaps that open, in the first 45 days of the absence.",
			Example: `{"start": 1810512000, "end": 1810944000, "note": "holiday"}`,
			Do:      api.DoComputed(computed(r, toCreate), r.create),
		},
		{
			Path: "/person/absence/list", Narrowed: narrowedRead, Effect: api.Snapshot,
			Doc: "Lists absences page by page, the latest start first.",
			Notes: "A caller without Schedules Read (on-call) sees their own. The notes of others need Schedules Manage (on-call) or " +
				"Members Manage (org). An absence is kept for 400 days after its end.",
			Example: `{"start": 1776009600, "end": 1776614400, "p": 1, "limit": 20}`,
			Do:      api.Do(r.list),
		},
		{
			Path: "/person/absence/update", Narrowed: narrowedWrite, Effect: api.Write, Audit: "absence:write:update",
			Doc:     "Changes the fields of an absence that are sent, and shows what that changes in each schedule.",
			Example: `{"absence_id": 3846027370131, "note": "Holiday by the sea"}`,
			Do:      api.DoComputed(computed(r, toUpdate), r.update),
		},
		{
			Path: "/person/absence/delete", Narrowed: narrowedWrite, Effect: api.Write, Audit: "absence:write:delete", Danger: true,
			Doc:     "Deletes an absence, and shows what that changes in each schedule.",
			Example: `{"absence_id": 3846027370131, "dry_run": true}`,
			Do:      api.DoComputed(computed(r, toDelete), r.delete),
		},
	})
}
