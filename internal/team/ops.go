package team

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
)

//go:embed testdata/golden/*.json
var golden embed.FS

var manage = []auth.Permission{auth.TeamsManage}

// Service holds what the operations need of the persons, whose package stands above this one.
type Service struct {
	// Invite adds a person with an e-mail address that no member has; nil: no one can be invited. at is the address's place
	// in the request.
	Invite func(c *api.Call, at configstore.RecordPath, email string) (person int64, name string, err error)
}

// Ops returns the operations of this package.
func (s *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path:   "/team/upsert",
			Errors: api.Missing("team"),
			Allow:  manage,
			Effect: api.Write,
			Audit:  "team:write:upsert",
			Doc:    "Creates a team, or changes the one that team_id names.",
			Notes: "The members are replaced as a whole when person_ids, emails or phones are sent: those by id come first, and an " +
				"address must be that of one person of the account. A caller with Members Manage (org) may send up to 20 e-mail addresses " +
				"that no member has: these persons are added as /member/invite adds them, and listed in invited. A name that another team has is " +
				"rejected, unless reset_if_name_exist is set: then that team is changed. A person who does not exist is accepted and named " +
				"in warnings.",
			Example: `{"team_name": "Backend SRE", "description": "Backend reliability", "person_ids": [3846027200131]}`,
			Do:      api.Do(s.upsert),
		},
		{
			Path:    "/team/info",
			Errors:  api.Missing("team"),
			Effect:  api.Snapshot,
			Doc:     "Shows one team, by its id, name or external reference.",
			Example: `{"team_id": 3846027250131}`,
			Do:      api.Do(info),
		},
		{
			Path:    "/team/infos",
			Effect:  api.Snapshot,
			Doc:     "Shows several teams in the order of the request, each once; unknown ones are left out.",
			Example: `{"team_ids": [3846027250131]}`,
			Do:      api.Do(infos),
		},
		{
			Path:    "/team/list",
			Effect:  api.Snapshot,
			Doc:     "Lists the teams of the account page by page, newest first.",
			Example: `{"p": 1, "limit": 20, "query": "sre"}`,
			Do:      api.Do(list),
		},
		{
			Path:    "/team/delete",
			Errors:  api.Missing("team").And(api.Referenced),
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "team:write:delete",
			Danger:  true,
			Doc:     "Deletes a team that nothing belongs to, by its id, name or external reference.",
			Example: `{"team_id": 3846027250131, "dry_run": true}`,
			Do:      api.Do(remove),
		},
	})
}
