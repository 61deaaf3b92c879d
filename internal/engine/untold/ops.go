package untold

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops returns the operations of the package.
func (r *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path:   "/account/fallback/info",
			Effect: api.Read,
			Doc:    "Shows who is notified of incidents and events that reach no one else.",
			Notes: "Without persons, teams and a rule it is the account's owner. A rule of a private channel that the caller may not read is " +
				"left out.",
			Example: `{}`,
			Do:      api.Do(r.info),
		},
		{
			Path:   "/account/fallback/update",
			Allow:  []auth.Permission{auth.MembersManage},
			Effect: api.Write,
			Audit:  "account:write:fallback",
			Doc:    "Replaces who is notified of incidents and events that reach no one else.",
			Notes: "Members that are left out are empty; when all are, it is the account's owner. A rule of a private channel that the caller " +
				"may not read stays. Persons who may not read a private channel are " +
				"not notified of its incidents. The owner is notified when no person of the fallback can be reached.",
			Example: `{"person_ids": [3846027200131]}`,
			Do:      api.Do(r.update),
		},
		{
			Path:   "/incident/untold/list",
			Allow:  []auth.Permission{auth.IncidentsRead},
			Effect: api.Snapshot,
			Doc:    "Lists open incidents, muted alerts, and events of the last day that no channel took, of which no rule notified a person.",
			Notes: "Incidents and events come first, the newest first, then muted alerts. Incidents leave the list when a person acknowledges " +
				"them or answers for them, when a rule reaches a person, and when they are over.",
			Example: `{"p": 1, "limit": 20}`,
			Do:      api.Do(r.list),
		},
	})
}
