package console

import (
	"net/url"
	"slices"
	"strconv"

	"tocsin/internal/auth"
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

type permission struct {
	ID    int64  `json:"id"`
	Name  string `json:"permission_name"`
	About string `json:"description"`
	Class string `json:"class"`
}

// permissions returns all permissions, those of the same part of the product together.
func (v *visit) permissions() ([]permission, error) {
	var reply struct {
		Items []permission `json:"items"`
	}
	err := v.call("/role/permission/list", map[string]any{"with_all": true}, &reply)
	first := map[string]int{}
	for i, p := range reply.Items {
		if _, seen := first[p.Class]; !seen {
			first[p.Class] = i
		}
	}
	slices.SortStableFunc(reply.Items, func(a, b permission) int { return first[a.Class] - first[b.Class] })
	return reply.Items, err
}

type rolesView struct {
	titled
	Roles       []roleRow
	Permissions []permission
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
	var made roleRow
	err := v.call("/role/upsert", map[string]any{"role_name": v.field("name"), "permission_ids": []int64{}}, &made)
	return "/roles/" + strconv.FormatInt(made.ID, 10), err
}

type roleView struct {
	titled
	Role        roleRow
	Permissions []permission
}

func showRole(v *visit) (view, error) {
	var d roleView
	if err := v.call("/role/info", map[string]any{"role_id": v.pathID()}, &d.Role); err != nil {
		return nil, err
	}
	d.titled = titled(d.Role.Name)
	if v.Failure != nil && v.r.PostForm.Has("name") {
		d.Role.Name = v.field("name")
		d.Role.About = v.field("about")
		d.Role.Permissions = v.numbers("permission")
	}
	var err error
	d.Permissions, err = v.permissions()
	return d, err
}

func saveRole(v *visit) (string, error) {
	return "/roles?done=saved", v.call("/role/upsert", map[string]any{
		"role_id": v.pathID(), "role_name": v.field("name"), "description": v.field("about"), "permission_ids": v.numbers("permission")}, nil)
}

func deleteRole(v *visit) (string, error) {
	return "/roles?done=deleted", v.call("/role/delete", map[string]any{"role_id": v.pathID()}, nil)
}

var keyPages = []page{{path: "/keys", template: "keys", tab: "people", show: showKeys}}

var keyActions = []action{
	{path: "/keys", do: createKey, show: showKeys, page: "keys"},
	{path: "/keys/{id}/enable", do: onKey("/person/app-key/enable"), show: showKeys, page: "keys"},
	{path: "/keys/{id}/disable", do: onKey("/person/app-key/disable"), show: showKeys, page: "keys"},
	{path: "/keys/{id}/delete", do: onKey("/person/app-key/delete"), show: showKeys, page: "keys"},
}

type keyRow struct {
	ID          int64     `json:"key_id"`
	Name        string    `json:"key_name"`
	Permissions *[]string `json:"permissions"` // nil: all of the person
	Status      string    `json:"status"`
	ExpiresAt   int64     `json:"expires_at"`
	CreatedAt   int64     `json:"created_at"`
	UsedAt      int64     `json:"last_used_at"`
	Wait        *int64    `json:"wait"` // nil: as the server is set
}

// WaitSeconds returns how long the calls of the key wait.
func (k keyRow) WaitSeconds() int64 { return *k.Wait }

type keysView struct {
	titled
	Keys        []keyRow
	Permissions []permission
	Secret      string   // shown this once; empty: none was made
	Chosen      []string // permissions of the form
}

// Chose reports whether a permission is chosen in the form.
func (d keysView) Chose(name string) bool { return slices.Contains(d.Chosen, name) }

func showKeys(v *visit) (view, error) {
	d := keysView{titled: titled(v.T("App keys")), Chosen: v.r.PostForm["permission"]}
	d.Secret, _ = v.made.(string)
	for page := 1; ; page++ {
		var reply struct {
			Items []keyRow `json:"items"`
			More  bool     `json:"has_next_page"`
		}
		if err := v.call("/person/app-key/list", map[string]any{"p": page, "limit": 100}, &reply); err != nil {
			return nil, err
		}
		d.Keys = append(d.Keys, reply.Items...)
		if !reply.More {
			break
		}
	}
	var err error
	d.Permissions, err = v.permissions()
	return d, err
}

// createKey makes a key of the visitor and shows it, this once.
func createKey(v *visit) (string, error) {
	request := map[string]any{"key_name": v.field("name")}
	if chosen := v.r.PostForm["permission"]; len(chosen) > 0 {
		request["permissions"] = chosen
	}
	if v.field("scripts") != "" {
		request["wait"] = auth.MaxWait
	}
	if day := v.field("expires"); day != "" {
		end, err := v.dayOf(day)
		if err != nil {
			return "", err
		}
		request["expires_at"] = end
	}
	var made struct {
		Key string `json:"key"`
	}
	err := v.call("/person/app-key/create", request, &made)
	v.made = made.Key
	return "", err
}

func onKey(path string) func(*visit) (string, error) {
	return func(v *visit) (string, error) {
		done := url.Values{"done": {map[bool]string{true: "deleted", false: "saved"}[path == "/person/app-key/delete"]}}
		return "/keys?" + done.Encode(), v.call(path, map[string]any{"key_id": v.pathID()}, nil)
	}
}
