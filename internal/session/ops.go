package session

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/module"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Module returns the package's operations and retention.
func Module() module.Module {
	return module.Module{Name: "session", Ops: Ops(), Prune: []module.Retention{{Period: module.Ended, Prune: Prune}}}
}

// Ops returns the operations on sessions.
func Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path:     "/session/list",
			Narrowed: []auth.Permission{auth.MembersRead},
			Effect:   api.Read,
			Doc:      "Lists the sessions in which a person is signed in to the console, the one used last first.",
			Example:  `{}`,
			Do:       api.Do(list),
		},
		{
			Path:     "/session/end",
			Narrowed: []auth.Permission{auth.MembersManage},
			Effect:   api.Write,
			Audit:    "session:write:end",
			Doc:      "Ends sessions of a person, at once: some, or all but the one that the call comes from.",
			Example:  `{"is_all": true}`,
			Do:       api.Do(end),
		},
	})
}
