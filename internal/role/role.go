package role

import (
	"cmp"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// Role is a role as the API shows it.
type Role struct {
	RoleID        int64   `json:"role_id" doc:"The role's identifier."`
	RoleName      string  `json:"role_name" doc:"Its name."`
	Description   string  `json:"description" doc:"What it is for; may be empty."`
	Status        string  `json:"status" enum:"enabled,disabled" doc:"A disabled role grants nothing."`
	PermissionIDs []int64 `json:"permission_ids" doc:"The permissions that it grants, as /role/permission/list numbers them."`
	Editable      bool    `json:"editable" doc:"Always true: there are no roles that cannot be changed."`
	CreatedAt     int64   `json:"created_at" doc:"Unix seconds; 0: not known."`
	UpdatedAt     int64   `json:"updated_at" doc:"Unix seconds; 0: not known."`
}

// show returns a role as the API shows it.
func show(r Record) Role {
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
	return show(r), err
}

// ListRequest asks for all roles.
type ListRequest struct {
	OrderBy string `json:"orderby,omitzero" enum:"created_at,updated_at" doc:"What to order by; absent: created_at."`
	Asc     bool   `json:"asc,omitzero" doc:"Ascending."`
}

// Listed has all roles.
type Listed struct {
	Total int64  `json:"total" doc:"How many there are."`
	Items []Role `json:"items" doc:"All of them."`
}

func list(c *api.Call, in ListRequest) (Listed, error) {
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
	out := Listed{int64(len(all)), make([]Role, len(all))}
	for i, r := range all {
		out.Items[i] = show(r)
	}
	return out, err
}

// UpsertRequest is a role to create or to change. An absent member of a role that is changed stays as it is.
type UpsertRequest struct {
	RoleID        int64   `json:"role_id,omitzero" minimum:"0" doc:"The role to change; absent or 0: a new one."`
	RoleName      string  `json:"role_name" minLength:"1" maxLength:"39" doc:"1 to 39 characters."`
	Description   *string `json:"description,omitzero" maxLength:"499" doc:"At most 499 characters."`
	PermissionIDs []int64 `json:"permission_ids,omitzero" maxItems:"100" doc:"The permissions that it grants, as /role/permission/list numbers them; absent: unchanged."`
}

// Upserted is the role that was created or changed.
type Upserted struct {
	RoleID   int64  `json:"role_id" doc:"The role."`
	RoleName string `json:"role_name" doc:"Its name, as it was sent."`
}

func upsert(c *api.Call, in UpsertRequest) (Upserted, error) {
	r, err := target(c, in.RoleID)
	if err != nil {
		return Upserted{}, err
	}
	if err := Within(c.Who, r.Permissions); err != nil { // also for permissions that the change revokes
		return Upserted{}, err
	}
	before := r.Permissions
	if in.PermissionIDs != nil {
		r.Permissions = []string{}
	}
	for i, n := range in.PermissionIDs {
		p, ok := auth.ByID(n)
		if !ok {
			return Upserted{}, configstore.PathOf("permission_ids", i).Invalid("",
				"there is no permission %d; /role/permission/list shows all permissions", n)
		}
		r.Permissions = append(r.Permissions, p.String())
	}
	if err := Within(c.Who, r.Permissions); err != nil {
		return Upserted{}, err
	}
	r.RoleName, r.UpdatedAt = in.RoleName, c.Unix()
	if in.Description != nil {
		r.Description = *in.Description
	}
	c.Touched(configstore.Role, r.RoleID, r.RoleName)
	if slices.ContainsFunc(r.Permissions, func(p string) bool { return !slices.Contains(before, p) }) {
		if err := gained(c, r.RoleID); err != nil {
			return Upserted{}, err
		}
	}
	return Upserted{r.RoleID, r.RoleName}, r.put(c.Tx, c.Who.AccountID)
}

// gained notes that the persons of a role may do more than before.
func gained(c *api.Call, role int64) error {
	holders, err := db.All(c.Tx, db.Column[int64], `SELECT person_id FROM person_role WHERE account_id = $1 AND role_id = $2`,
		c.Who.AccountID, role)
	c.Gained(holders...)
	return err
}

// target returns the stored role that an upsert changes, or a new one with a new id.
func target(c *api.Call, role int64) (Record, error) {
	if role != 0 {
		return get(c.Tx, c.Who.AccountID, role)
	}
	unused, err := id.Unused(func(n int64) (bool, error) {
		_, found, err := find(c.Tx, c.Who.AccountID, n)
		return found, err
	})
	return Record{RoleID: unused, CreatedAt: c.Unix()}, err
}

// setStatus returns the function of /role/enable or /role/disable.
func setStatus(status string) func(*api.Call, OneRequest) (api.Empty, error) {
	return func(c *api.Call, in OneRequest) (api.Empty, error) {
		r, err := get(c.Tx, c.Who.AccountID, in.RoleID)
		if err != nil {
			return api.Empty{}, err
		}
		if err := Within(c.Who, r.Permissions); err != nil {
			return api.Empty{}, err
		}
		if status != "disabled" {
			if err := gained(c, r.RoleID); err != nil {
				return api.Empty{}, err
			}
		}
		r.Status, r.UpdatedAt = status, c.Unix()
		c.Touched(configstore.Role, r.RoleID, r.RoleName)
		return api.Empty{}, r.put(c.Tx, c.Who.AccountID)
	}
}

// DeleteRequest names a role to delete.
type DeleteRequest struct {
	RoleID int64 `json:"role_id" minimum:"1" doc:"The role to delete."`
	api.DryRun
}

// remove deletes a role and revokes it of its persons.
func remove(c *api.Call, in DeleteRequest) (api.Removal, error) {
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
