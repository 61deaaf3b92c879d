package role

import (
	"tocsin/internal/api"
	"tocsin/internal/auth"
)

// PermissionsRequest asks for permissions.
type PermissionsRequest struct {
	RoleIDs []int64 `json:"role_ids,omitzero" maxItems:"100" doc:"Only the permissions that these roles grant."`
	WithAll bool    `json:"with_all,omitzero" doc:"All permissions, and for each whether these roles grant it."`
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
	IsGranted      *bool  `json:"is_granted,omitzero" doc:"With with_all: whether one of the roles grants it."`
}

func permissionList(c *api.Call, in PermissionsRequest) (api.Items[Permission], error) {
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
