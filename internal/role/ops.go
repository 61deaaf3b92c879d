package role

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
)

//go:embed testdata/golden/*.json
var golden embed.FS

var manage = []auth.Permission{auth.RolesManage}

// Ops returns the operations of this package.
func Ops() []api.Op {
	const one = `{"role_id": 1}`
	const beyond = "A key cannot grant or revoke permissions that it does not have itself."
	return api.WithReplies(golden, []api.Op{
		{
			Path:    "/role/list",
			Effect:  api.Read,
			Doc:     "Lists the roles of the account.",
			Example: `{"orderby": "created_at", "asc": true}`,
			Do:      api.Do(list),
		},
		{
			Path:    "/role/info",
			Effect:  api.Read,
			Doc:     "Shows one role.",
			Example: one,
			Do:      api.Do(info),
		},
		{
			Path:    "/role/upsert",
			Errors:  api.Missing("role"),
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "role:write:upsert",
			Doc:     "Creates a role, or changes the one that role_id names.",
			Notes:   "permission_ids replaces all permissions of the role when it is sent. " + beyond,
			Example: `{"role_name": "On-call manager", "permission_ids": [7, 8]}`,
			Do:      api.Do(upsert),
		},
		{
			Path:    "/role/delete",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "role:write:delete",
			Danger:  true,
			Doc:     "Deletes a role and revokes it of all persons who have it.",
			Notes:   beyond,
			Example: `{"role_id": 1, "dry_run": true}`,
			Do:      api.Do(remove),
		},
		{
			Path:    "/role/enable",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "role:write:enable",
			Doc:     "Enables a role: it grants its permissions.",
			Notes:   beyond,
			Example: one,
			Do:      api.Do(setStatus("")),
		},
		{
			Path:    "/role/disable",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "role:write:disable",
			Doc:     "Disables a role: it grants nothing, within a second.",
			Notes:   beyond,
			Example: one,
			Do:      api.Do(setStatus("disabled")),
		},
		{
			Path:    "/role/member/grant",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "role:write:grant",
			Doc:     "Grants a role to persons: to all of them or none.",
			Notes:   beyond,
			Example: `{"role_id": 1, "member_ids": [3846027200131]}`,
			Do:      api.Do(memberGrant),
		},
		{
			Path:    "/role/member/revoke",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "role:write:revoke",
			Doc:     "Revokes a role of persons.",
			Notes:   beyond,
			Example: `{"role_id": 1, "member_ids": [3846027200131]}`,
			Do:      api.Do(memberRevoke),
		},
		{
			Path:    "/role/permission/list",
			Errors:  api.Missing("role"),
			Effect:  api.Snapshot,
			Doc:     "Lists all permissions, or those that roles grant.",
			Example: `{"role_ids": [1], "with_all": true}`,
			Do:      api.Do(permissionList),
		},
		{
			Path:    "/role/permission/factor/list",
			Effect:  api.Read,
			Doc:     "Lists the factors that permissions are made of: for each permission one of type api.",
			Notes:   "Factors of other types belong to web pages, of which there are none. Asking for them returns an empty list.",
			Example: `{"factor_types": ["api"]}`,
			Do:      api.Do(factorList),
		},
	})
}
