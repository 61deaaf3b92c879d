package role

import (
	"cmp"
	"embed"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

//go:embed testdata/golden/*.json
var golden embed.FS

var manage = []auth.Permission{auth.RolesManage}

// Ops is the room's table of contents.
func Ops() []api.Op {
	const one = `{"role_id": 1}`
	const beyond = "A key cannot give or take away permissions that it does not have itself."
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
			Doc:     "Deletes a role and takes it from everybody who has it.",
			Notes:   beyond,
			Example: `{"role_id": 1, "dry_run": true}`,
			Do:      api.Do(remove),
		},
		{
			Path:    "/role/enable",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "role:write:enable",
			Doc:     "Lets a role give its permissions.",
			Notes:   beyond,
			Example: one,
			Do:      api.Do(switched("")),
		},
		{
			Path:    "/role/disable",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "role:write:disable",
			Doc:     "Keeps a role from giving anything, within a second.",
			Notes:   beyond,
			Example: one,
			Do:      api.Do(switched("disabled")),
		},
		{
			Path:    "/role/member/grant",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "role:write:grant",
			Doc:     "Gives a role to persons: to all of them, or none.",
			Notes:   beyond,
			Example: `{"role_id": 1, "member_ids": [2476123212131]}`,
			Do:      api.Do(memberGrant),
		},
		{
			Path:    "/role/member/revoke",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "role:write:revoke",
			Doc:     "Takes a role from persons.",
			Notes:   beyond,
			Example: `{"role_id": 1, "member_ids": [2476123212131]}`,
			Do:      api.Do(memberRevoke),
		},
		{
			Path:    "/role/permission/list",
			Effect:  api.Snapshot,
			Doc:     "Lists the permissions there are, or those that roles give.",
			Example: `{"role_ids": [1], "with_all": true}`,
			Do:      api.Do(permissionList),
		},
	})
}

// Role is a role as the API shows it.
type Role struct {
	RoleID        int64   `json:"role_id" doc:"The role's identifier."`
	RoleName      string  `json:"role_name" doc:"Its name."`
	Description   string  `json:"description" doc:"What it is for; may be empty."`
	Status        string  `json:"status" enum:"enabled,disabled" doc:"A disabled role gives nothing."`
	PermissionIDs []int64 `json:"permission_ids" doc:"What it gives, as /role/permission/list numbers it."`
	Editable      bool    `json:"editable" doc:"Always true: there are no roles that cannot be changed."`
	CreatedAt     int64   `json:"created_at" doc:"Unix seconds; 0: not known."`
	UpdatedAt     int64   `json:"updated_at" doc:"Unix seconds; 0: not known."`
}

func shown(r Record) Role {
	out := Role{r.RoleID, r.RoleName, r.Description, cmp.Or(r.Status, "enabled"), []int64{}, true, r.CreatedAt, r.UpdatedAt}
	for _, name := range r.Permissions {
		if p, err := auth.Parse(name); err == nil {
			out.PermissionIDs = append(out.PermissionIDs, p.ID())
		}
	}
	return out
}

// OneRequest names a role.
type OneRequest struct {
	RoleID int64 `json:"role_id" minimum:"1" doc:"The role."`
}

func info(c *api.Call, in OneRequest) (Role, error) {
	r, err := get(c.Tx, c.Who.AccountID, in.RoleID)
	return shown(r), err
}

type listRequest struct {
	OrderBy string `json:"orderby,omitzero" enum:"created_at,updated_at" doc:"What to order by; absent: created_at."`
	Asc     bool   `json:"asc,omitzero" doc:"Ascending."`
}

type listed struct {
	Total int64  `json:"total" doc:"How many there are."`
	Items []Role `json:"items" doc:"All of them."`
}

func list(c *api.Call, in listRequest) (listed, error) {
	all, err := Dump(c.Tx, c.Who.AccountID)
	slices.SortStableFunc(all, func(a, b Record) int {
		order := cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.RoleID, b.RoleID))
		if in.OrderBy == "updated_at" {
			order = cmp.Or(cmp.Compare(a.UpdatedAt, b.UpdatedAt), cmp.Compare(a.RoleID, b.RoleID))
		}
		if in.Asc {
			return order
		}
		return -order
	})
	out := listed{int64(len(all)), make([]Role, len(all))}
	for i, r := range all {
		out.Items[i] = shown(r)
	}
	return out, err
}

type upsertRequest struct {
	RoleID        int64   `json:"role_id,omitzero" minimum:"0" doc:"The role to change; absent or 0: a new one."`
	RoleName      string  `json:"role_name" minLength:"1" maxLength:"39" doc:"1 to 39 characters."`
	Description   *string `json:"description,omitzero" maxLength:"499" doc:"At most 499 characters."`
	PermissionIDs []int64 `json:"permission_ids,omitzero" maxItems:"100" doc:"What it gives, as /role/permission/list numbers it; absent: as it is."`
}

type upserted struct {
	RoleID   int64  `json:"role_id" doc:"The role."`
	RoleName string `json:"role_name" doc:"Its name, as it was sent."`
}

func upsert(c *api.Call, in upsertRequest) (upserted, error) {
	r := Record{RoleID: id.Number(), CreatedAt: c.Unix()}
	if in.RoleID != 0 {
		var err error
		if r, err = get(c.Tx, c.Who.AccountID, in.RoleID); err != nil {
			return upserted{}, err
		}
	}
	if err := Within(c.Who, r.Permissions); err != nil { // also what is taken away
		return upserted{}, err
	}
	if in.PermissionIDs != nil {
		r.Permissions = []string{}
	}
	for i, n := range in.PermissionIDs {
		p, ok := auth.ByID(n)
		if !ok {
			return upserted{}, configstore.PathOf("permission_ids", i).Invalid("",
				"there is no permission %d; /role/permission/list shows those there are", n)
		}
		r.Permissions = append(r.Permissions, p.String())
	}
	if err := Within(c.Who, r.Permissions); err != nil {
		return upserted{}, err
	}
	r.RoleName, r.UpdatedAt = in.RoleName, c.Unix()
	if in.Description != nil {
		r.Description = *in.Description
	}
	c.Touched(configstore.Role, r.RoleID, r.RoleName)
	return upserted{r.RoleID, r.RoleName}, r.put(c.Tx, c.Who.AccountID)
}

// switched is the function of /role/enable and /role/disable.
func switched(status string) func(*api.Call, OneRequest) (api.Empty, error) {
	return func(c *api.Call, in OneRequest) (api.Empty, error) {
		r, err := get(c.Tx, c.Who.AccountID, in.RoleID)
		if err != nil {
			return api.Empty{}, err
		}
		if err := Within(c.Who, r.Permissions); err != nil {
			return api.Empty{}, err
		}
		r.Status, r.UpdatedAt = status, c.Unix()
		c.Touched(configstore.Role, r.RoleID, r.RoleName)
		return api.Empty{}, r.put(c.Tx, c.Who.AccountID)
	}
}

type deleteRequest struct {
	RoleID int64 `json:"role_id" minimum:"1" doc:"The role to delete."`
	api.DryRun
}

func remove(c *api.Call, in deleteRequest) (api.Removal, error) {
	r, err := get(c.Tx, c.Who.AccountID, in.RoleID)
	if err != nil {
		return api.Removal{}, err
	}
	if err := Within(c.Who, r.Permissions); err != nil {
		return api.Removal{}, err
	}
	c.Removed(configstore.Role, r.RoleID, r.RoleName)
	holders, err := db.All(c.Tx, func(scan db.Scan) (p fault.Ref, err error) { return p, scan(&p.ID, &p.Name) },
		`DELETE FROM person_role WHERE account_id = $1 AND role_id = $2 RETURNING CAST(person_id AS TEXT), ''`, c.Who.AccountID, r.RoleID)
	if err != nil {
		return api.Removal{}, err
	}
	for _, p := range holders {
		c.Touched(configstore.Person, p.ID, p.Name)
	}
	return api.Removal{}, Erase(c.Tx, c.Who.AccountID, r.RoleID)
}

type memberRequest struct {
	RoleID    int64   `json:"role_id" minimum:"1" doc:"The role."`
	MemberIDs []int64 `json:"member_ids" minItems:"1" maxItems:"100" doc:"The persons, 1 to 100."`
}

func memberGrant(c *api.Call, in memberRequest) (api.Empty, error) {
	return api.Empty{}, Grant(c, in.RoleID, in.MemberIDs)
}

func memberRevoke(c *api.Call, in memberRequest) (api.Empty, error) {
	return api.Empty{}, Revoke(c, in.RoleID, in.MemberIDs)
}

type permissionsRequest struct {
	RoleIDs []int64 `json:"role_ids,omitzero" maxItems:"100" doc:"Only what these roles give."`
	WithAll bool    `json:"with_all,omitzero" doc:"All there are, and for each whether these roles give it."`
}

// Permission is a permission as the API shows it.
type Permission struct {
	ID             int64  `json:"id" doc:"Its number; it never changes."`
	PermissionName string `json:"permission_name" doc:"Its name, such as Schedules Read (on-call)."`
	PermissionType string `json:"permission_type" enum:"read,manage" doc:"Whether it is for reading or for changing."`
	Description    string `json:"description" doc:"What it allows, in words."`
	Class          string `json:"class" doc:"The part of the product it is about."`
	Scope          string `json:"scope" doc:"The same as in its name: on-call, monit, rum or org."`
	Status         string `json:"status" enum:"enabled" doc:"Always enabled."`
	IsGranted      *bool  `json:"is_granted,omitzero" doc:"With with_all: whether one of the roles gives it."`
}

func permissionList(c *api.Call, in permissionsRequest) (api.Items[Permission], error) {
	var granted auth.Permissions
	for _, role := range in.RoleIDs {
		r, err := get(c.Tx, c.Who.AccountID, role)
		if err != nil {
			return api.Items[Permission]{}, err
		}
		set, err := auth.SetOf(r.Permissions)
		if err != nil {
			return api.Items[Permission]{}, err
		}
		granted |= set.Closed()
	}
	items := []Permission{}
	for _, name := range auth.Names(auth.All) {
		p, err := auth.Parse(name)
		if err != nil {
			return api.Items[Permission]{}, err
		}
		has := granted.Has(p)
		item := Permission{ID: p.ID(), PermissionName: name, PermissionType: p.Type(), Description: p.Words(), Class: p.Class(),
			Scope: p.Scope(), Status: "enabled"}
		switch {
		case in.WithAll:
			item.IsGranted = &has
		case len(in.RoleIDs) > 0 && !has:
			continue
		}
		items = append(items, item)
	}
	return api.Items[Permission]{Items: items}, nil
}
