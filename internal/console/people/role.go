package people

import (
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/person"
	"tocsin/internal/role"
)

var rolePages = []page.Page{
	{Path: "/roles", Template: "roles", Tab: "people", Show: showRoles},
	{Path: "/roles/{id}", Template: "role", Tab: "people", Show: showRole},
}

var roleActions = []page.Action{
	{Path: "/roles", Do: createRole, Show: showRoles, Template: "roles"},
	{Path: "/roles/{id}", Do: saveRole, Show: showRole, Template: "role"},
	{Path: "/roles/{id}/delete", Do: page.Does[api.Removal]("/role/delete", "/roles?done=deleted", roleToDelete),
		Show: showRole, Template: "role"},
}

// permissions returns all permissions, those of the same part of the product together.
func permissions(v *page.Visit) ([]role.Permission, error) {
	reply, err := page.Call[api.Items[role.Permission]](v, "/role/permission/list", role.PermissionsRequest{WithAll: true})
	all := slices.Clone(reply.Items)
	first := map[string]int{}
	for i, p := range all {
		if _, seen := first[p.Class]; !seen {
			first[p.Class] = i
		}
	}
	slices.SortStableFunc(all, func(a, b role.Permission) int { return first[a.Class] - first[b.Class] })
	return all, err
}

type rolesView struct {
	page.Titled
	Roles       []role.Role
	Permissions []role.Permission
}

func showRoles(v *page.Visit) (page.View, error) {
	d := rolesView{Titled: page.Titled(v.T("Roles"))}
	var err error
	d.Roles, err = roles(v)
	if err != nil {
		return nil, err
	}
	d.Permissions, err = permissions(v)
	return d, err
}

func createRole(v *page.Visit) (string, error) {
	request := role.UpsertRequest{RoleName: v.Field("name"), PermissionIDs: []int64{}}
	made, err := page.Call[role.Upserted](v, "/role/upsert", request)
	return "/roles/" + strconv.FormatInt(made.RoleID, 10), err
}

type roleView struct {
	page.Titled
	Role        role.Role
	Permissions []role.Permission
}

func showRole(v *page.Visit) (page.View, error) {
	var d roleView
	var err error
	d.Role, err = page.Call[role.Role](v, "/role/info", role.OneRequest{RoleID: v.ID()})
	if err != nil {
		return nil, err
	}
	d.Titled = page.Titled(d.Role.RoleName)
	if v.Failure != nil && v.Request.PostForm.Has("name") {
		d.Role.RoleName = v.Field("name")
		d.Role.Description = v.Field("about")
		d.Role.PermissionIDs = v.Numbers("permission")
	}
	d.Permissions, err = permissions(v)
	return d, err
}

func saveRole(v *page.Visit) (string, error) {
	request := role.UpsertRequest{
		RoleID: v.ID(), RoleName: v.Field("name"), Description: new(v.Field("about")), PermissionIDs: v.Numbers("permission"),
	}
	return "/roles?done=saved", page.Do[role.Upserted](v, "/role/upsert", request)
}

func roleToDelete(v *page.Visit) role.DeleteRequest { return role.DeleteRequest{RoleID: v.ID()} }

var keyPages = []page.Page{{Path: "/keys", Template: "keys", Tab: "me", Show: showKeys}}

var keyActions = []page.Action{
	{Path: "/keys", Do: createKey, Show: showKeys, Template: "keys"},
	{Path: "/keys/{id}/enable", Do: page.Does[api.Empty]("/person/app-key/enable", "/keys?done=saved", keyOf),
		Show: showKeys, Template: "keys"},
	{Path: "/keys/{id}/disable", Do: page.Does[api.Empty]("/person/app-key/disable", "/keys?done=saved", keyOf),
		Show: showKeys, Template: "keys"},
	{Path: "/keys/{id}/delete", Do: page.Does[api.Removal]("/person/app-key/delete", "/keys?done=deleted", keyToDelete),
		Show: showKeys, Template: "keys"},
}

type keysView struct {
	page.Titled
	Keys        []person.AppKey
	Permissions []role.Permission
	Secret      string   // shown this once; empty: none was made
	Chosen      []string // permissions of the form
}

// Chose reports whether a permission is chosen in the form.
func (d keysView) Chose(name string) bool { return slices.Contains(d.Chosen, name) }

func showKeys(v *page.Visit) (page.View, error) {
	d := keysView{Titled: page.Titled(v.T("App keys")), Chosen: v.Request.PostForm["permission"]}
	d.Secret, _ = v.Made.(string)
	for at := int64(1); ; at++ {
		request := person.KeyListRequest{Page: api.Page{P: at, Limit: 100}}
		reply, err := page.Call[api.Paged[person.AppKey]](v, "/person/app-key/list", request)
		if err != nil {
			return nil, err
		}
		d.Keys = append(d.Keys, reply.Items...)
		if !reply.HasNextPage {
			break
		}
	}
	var err error
	d.Permissions, err = permissions(v)
	return d, err
}

// createKey makes a key of the visitor and shows it, this once.
func createKey(v *page.Visit) (string, error) {
	request := person.KeyCreateRequest{KeyName: v.Field("name"), Permissions: v.Request.PostForm["permission"]}
	if v.Field("scripts") != "" {
		request.Wait = new(int64(auth.MaxWait))
	}
	if day := v.Field("expires"); day != "" {
		end, err := dayOf(v, day)
		if err != nil {
			return "", err
		}
		request.ExpiresAt = end
	}
	made, err := page.Call[person.KeyCreated](v, "/person/app-key/create", request)
	v.Made = made.Key
	return "", err
}

// keyOf is the key of the address.
func keyOf(v *page.Visit) person.KeyRequest { return person.KeyRequest{KeyID: v.ID()} }

func keyToDelete(v *page.Visit) person.KeyDeleteRequest {
	return person.KeyDeleteRequest{KeyRequest: keyOf(v)}
}
