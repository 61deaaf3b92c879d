package console

import (
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/person"
	"tocsin/internal/role"
)

var rolePages = []page{
	{path: "/roles", template: "roles", tab: "people", show: showRoles},
	{path: "/roles/{id}", template: "role", tab: "people", show: showRole},
}

var roleActions = []action{
	{path: "/roles", do: createRole, show: showRoles, page: "roles"},
	{path: "/roles/{id}", do: saveRole, show: showRole, page: "role"},
	{path: "/roles/{id}/delete", do: deleteRole, show: showRole, page: "role"},
}

// permissions returns all permissions, those of the same part of the product together.
func (v *visit) permissions() ([]role.Permission, error) {
	reply, err := call[api.Items[role.Permission]](v, "/role/permission/list", role.PermissionsRequest{WithAll: true})
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
	titled
	Roles       []role.Role
	Permissions []role.Permission
}

func showRoles(v *visit) (view, error) {
	d := rolesView{titled: titled(v.T("Roles"))}
	var err error
	d.Roles, err = v.roles()
	if err != nil {
		return nil, err
	}
	d.Permissions, err = v.permissions()
	return d, err
}

func createRole(v *visit) (string, error) {
	request := role.UpsertRequest{RoleName: v.field("name"), PermissionIDs: []int64{}}
	made, err := call[role.Upserted](v, "/role/upsert", request)
	return "/roles/" + strconv.FormatInt(made.RoleID, 10), err
}

type roleView struct {
	titled
	Role        role.Role
	Permissions []role.Permission
}

func showRole(v *visit) (view, error) {
	var d roleView
	var err error
	d.Role, err = call[role.Role](v, "/role/info", role.OneRequest{RoleID: v.pathID()})
	if err != nil {
		return nil, err
	}
	d.titled = titled(d.Role.RoleName)
	if v.Failure != nil && v.r.PostForm.Has("name") {
		d.Role.RoleName = v.field("name")
		d.Role.Description = v.field("about")
		d.Role.PermissionIDs = v.numbers("permission")
	}
	d.Permissions, err = v.permissions()
	return d, err
}

func saveRole(v *visit) (string, error) {
	request := role.UpsertRequest{
		RoleID: v.pathID(), RoleName: v.field("name"), Description: new(v.field("about")), PermissionIDs: v.numbers("permission"),
	}
	return "/roles?done=saved", do[role.Upserted](v, "/role/upsert", request)
}

func deleteRole(v *visit) (string, error) {
	return "/roles?done=deleted", do[api.Removal](v, "/role/delete", role.DeleteRequest{RoleID: v.pathID()})
}

var keyPages = []page{{path: "/keys", template: "keys", tab: "people", show: showKeys}}

var keyActions = []action{
	{path: "/keys", do: createKey, show: showKeys, page: "keys"},
	{path: "/keys/{id}/enable", do: enableKey, show: showKeys, page: "keys"},
	{path: "/keys/{id}/disable", do: disableKey, show: showKeys, page: "keys"},
	{path: "/keys/{id}/delete", do: deleteKey, show: showKeys, page: "keys"},
}

type keysView struct {
	titled
	Keys        []person.AppKey
	Permissions []role.Permission
	Secret      string   // shown this once; empty: none was made
	Chosen      []string // permissions of the form
}

// Chose reports whether a permission is chosen in the form.
func (d keysView) Chose(name string) bool { return slices.Contains(d.Chosen, name) }

func showKeys(v *visit) (view, error) {
	d := keysView{titled: titled(v.T("App keys")), Chosen: v.r.PostForm["permission"]}
	d.Secret, _ = v.made.(string)
	for page := int64(1); ; page++ {
		request := person.KeyListRequest{Page: api.Page{P: page, Limit: 100}}
		reply, err := call[api.Paged[person.AppKey]](v, "/person/app-key/list", request)
		if err != nil {
			return nil, err
		}
		d.Keys = append(d.Keys, reply.Items...)
		if !reply.HasNextPage {
			break
		}
	}
	var err error
	d.Permissions, err = v.permissions()
	return d, err
}

// createKey makes a key of the visitor and shows it, this once.
func createKey(v *visit) (string, error) {
	request := person.KeyCreateRequest{KeyName: v.field("name"), Permissions: v.r.PostForm["permission"]}
	if v.field("scripts") != "" {
		request.Wait = new(int64(auth.MaxWait))
	}
	if day := v.field("expires"); day != "" {
		end, err := v.dayOf(day)
		if err != nil {
			return "", err
		}
		request.ExpiresAt = end
	}
	made, err := call[person.KeyCreated](v, "/person/app-key/create", request)
	v.made = made.Key
	return "", err
}

func enableKey(v *visit) (string, error) {
	return "/keys?done=saved", do[api.Empty](v, "/person/app-key/enable", person.KeyRequest{KeyID: v.pathID()})
}

func disableKey(v *visit) (string, error) {
	return "/keys?done=saved", do[api.Empty](v, "/person/app-key/disable", person.KeyRequest{KeyID: v.pathID()})
}

func deleteKey(v *visit) (string, error) {
	request := person.KeyDeleteRequest{KeyRequest: person.KeyRequest{KeyID: v.pathID()}}
	return "/keys?done=deleted", do[api.Removal](v, "/person/app-key/delete", request)
}
