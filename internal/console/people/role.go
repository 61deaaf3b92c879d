package people

import (
	"net/url"
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
	{Path: "/roles/{id}/people", Do: saveHolders, Show: showRole, Template: "role", Needs: page.Rights{auth.RolesManage}},
	{Path: "/roles/{id}/enable", Do: enableRole, Show: showRole, Template: "role"},
	{Path: "/roles/{id}/disable", Do: disableRole, Show: showRole, Template: "role"},
	{Path: "/roles/{id}/delete", Do: page.Does[api.Removal]("/role/delete", "/roles?done=deleted", roleToDelete),
		Show: showRole, Template: "role"},
}

// shownRole is a role as the pages show it: the texts of a preset in the visitor's language.
type shownRole struct {
	role.Role
	Preset bool
}

// roles returns all roles: the presets in their order, then the account's own, the oldest first.
func roles(v *page.Visit) ([]shownRole, error) {
	reply, err := page.Call[role.Listed](v, "/role/list", role.ListRequest{OrderBy: "created_at", Asc: true})
	var all []shownRole
	for _, r := range reply.Items {
		all = append(all, shown(v, r))
	}
	order := map[string]int{}
	for i, p := range role.Presets() {
		order[v.T(p.RoleName)] = i - 100
	}
	place := func(r shownRole) int {
		if r.Preset {
			return order[r.RoleName]
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b shownRole) int { return place(a) - place(b) })
	return all, err
}

// shown returns a role with the texts of a preset in the visitor's language.
func shown(v *page.Visit, r role.Role) shownRole {
	if !role.IsPreset(r.RoleName, r.Description) {
		return shownRole{Role: r}
	}
	r.RoleName, r.Description = v.T(r.RoleName), v.T(r.Description)
	return shownRole{r, true}
}

type rolesView struct {
	page.Titled
	Roles  []shownRole
	Rights []right
	people []person.Member
}

// Holders returns how many persons have a role.
func (d rolesView) Holders(role int64) (n int64) {
	for _, p := range d.people {
		if slices.Contains(p.AccountRoleIDs, role) {
			n++
		}
	}
	return n
}

func showRoles(v *page.Visit) (page.View, error) {
	d := rolesView{Titled: page.Titled(v.T("Roles"))}
	var err error
	d.Roles, err = roles(v)
	if err != nil {
		return nil, err
	}
	d.people, err = v.Accounts("")
	if err != nil {
		return nil, err
	}
	d.Rights, err = rightsByID(v, nil)
	return d, err
}

func createRole(v *page.Visit) (string, error) {
	request := role.UpsertRequest{RoleName: v.Field("name"), PermissionIDs: []int64{}}
	made, err := page.Call[role.Upserted](v, "/role/upsert", request)
	return "/roles/" + strconv.FormatInt(made.RoleID, 10), err
}

type roleView struct {
	page.Titled
	Role    shownRole
	Rights  []right
	People  page.Offer
	Holders page.Picker
}

func showRole(v *page.Visit) (page.View, error) {
	stored, err := page.Call[role.Role](v, "/role/info", role.OneRequest{RoleID: v.ID()})
	if err != nil {
		return nil, err
	}
	if v.Failure != nil && v.Request.PostForm.Has("name") {
		stored.RoleName = v.Field("name")
		stored.Description = v.Field("about")
		stored.PermissionIDs = v.Numbers("permission")
	}
	d := roleView{Role: shown(v, stored)}
	d.Titled = page.Titled(d.Role.RoleName)
	d.Rights, err = rightsByID(v, stored.PermissionIDs)
	if err != nil {
		return nil, err
	}
	d.People, err = v.PeopleOffer()
	if err != nil {
		return nil, err
	}
	chosen, err := holders(v, v.ID())
	if err != nil {
		return nil, err
	}
	if v.Request.PostForm.Has("people") {
		chosen, _ = d.People.Read(v, "person") // a name that is not known stays in its input
	}
	d.Holders = d.People.Picker(v, "person", v.T("Who has it"), chosen)
	return d, nil
}

// holders returns the persons who have a role.
func holders(v *page.Visit, role int64) (all []int64, err error) {
	people, err := v.Accounts("")
	for _, p := range people {
		if slices.Contains(p.AccountRoleIDs, role) {
			all = append(all, p.MemberID)
		}
	}
	return all, err
}

// saveHolders grants a role to those who were chosen, and revokes it of all others.
func saveHolders(v *page.Visit) (string, error) {
	people, err := v.PeopleOffer()
	if err != nil {
		return "", err
	}
	chosen, err := people.Read(v, "person")
	if err != nil {
		return "", err
	}
	before, err := holders(v, v.ID())
	if err != nil {
		return "", err
	}
	without := func(all, some []int64) []int64 {
		return slices.DeleteFunc(slices.Clone(all), func(p int64) bool { return slices.Contains(some, p) })
	}
	for some := range slices.Chunk(without(chosen, before), 100) {
		if err := page.Do[api.Empty](v, "/role/member/grant", role.MemberRequest{RoleID: v.ID(), MemberIDs: some}); err != nil {
			return "", err
		}
	}
	for some := range slices.Chunk(without(before, chosen), 100) {
		if err := page.Do[api.Empty](v, "/role/member/revoke", role.MemberRequest{RoleID: v.ID(), MemberIDs: some}); err != nil {
			return "", err
		}
	}
	return rolePath(v), nil
}

func rolePath(v *page.Visit) string {
	return "/roles/" + url.PathEscape(v.Request.PathValue("id")) + "?done=saved"
}

// saveRole stores what was entered. The texts of a preset that were not changed stay as they are stored.
func saveRole(v *page.Visit) (string, error) {
	stored, err := page.Call[role.Role](v, "/role/info", role.OneRequest{RoleID: v.ID()})
	if err != nil {
		return "", err
	}
	request := role.UpsertRequest{
		RoleID: v.ID(), RoleName: v.Field("name"), Description: new(v.Field("about")), PermissionIDs: v.Numbers("permission"),
	}
	if as := shown(v, stored); as.Preset && as.RoleName == request.RoleName && as.Description == *request.Description {
		request.RoleName, request.Description = stored.RoleName, nil
	}
	return "/roles?done=saved", page.Do[role.Upserted](v, "/role/upsert", request)
}

func enableRole(v *page.Visit) (string, error) {
	return rolePath(v), page.Do[api.Empty](v, "/role/enable", role.OneRequest{RoleID: v.ID()})
}

func disableRole(v *page.Visit) (string, error) {
	return rolePath(v), page.Do[api.Empty](v, "/role/disable", role.OneRequest{RoleID: v.ID()})
}

func roleToDelete(v *page.Visit) role.DeleteRequest { return role.DeleteRequest{RoleID: v.ID()} }
