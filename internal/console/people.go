package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
)

var peoplePages = []page{
	{path: "/people", template: "people", tab: "people", show: showPeople},
	{path: "/people/{id}", template: "person", tab: "people", show: showPerson},
}

var peopleActions = []action{
	{path: "/people", do: invitePerson, show: showPeople, page: "people"},
	{path: "/people/{id}", do: savePerson, show: showPerson, page: "person"},
	{path: "/people/{id}/roles", do: saveRoles, show: showPerson, page: "person"},
	{path: "/people/{id}/link", do: linkPerson, show: showPerson, page: "person", needs: rights{auth.MembersManage}},
	{path: "/people/{id}/identity/remove", do: removeIdentity, show: showPerson, page: "person", needs: rights{auth.MembersManage}},
	{path: "/people/{id}/delete", do: deletePerson, show: showPerson, page: "person"},
}

// account is a person of the account with how they are reached.
type account struct {
	ID            int64   `json:"member_id"`
	Name          string  `json:"member_name"`
	Email         string  `json:"email"`
	EmailVerified bool    `json:"email_verified"`
	Phone         string  `json:"phone"`
	Country       string  `json:"country_code"`
	PhoneVerified bool    `json:"phone_verified"`
	Locale        string  `json:"locale"`
	TimeZone      string  `json:"time_zone"`
	Status        string  `json:"status"`
	RoleIDs       []int64 `json:"account_role_ids"`
}

// Initials returns what stands in the person's mark.
func (a account) Initials() string {
	words := strings.Fields(a.Name)
	letters := ""
	for _, word := range words[:min(2, len(words))] {
		letters += string([]rune(word)[0])
	}
	return strings.ToUpper(letters)
}

// Colour returns the number of the person's colour. Identifiers end alike, so their digits are mixed.
func (a account) Colour() uint64 { return uint64(a.ID) * 0x9e3779b97f4a7c15 >> 61 }

// Has reports whether the person has a role.
func (a account) Has(role int64) bool { return slices.Contains(a.RoleIDs, role) }

// maxPeople is how many persons a page with all of them reads.
const maxPeople = 2000

// accounts returns the persons whose name or e-mail address contains a text, by name.
func (v *visit) accounts(part string) (all []account, err error) {
	err = eachPage(v, "/member/list", map[string]any{"query": part}, func(items []account) bool {
		all = append(all, items...)
		return len(all) < maxPeople
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b account) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return all, nil
}

type roleRow struct {
	ID          int64   `json:"role_id"`
	Name        string  `json:"role_name"`
	About       string  `json:"description"`
	Status      string  `json:"status"`
	Permissions []int64 `json:"permission_ids"`
}

// Grants reports whether the role has a permission.
func (r roleRow) Grants(permission int64) bool { return slices.Contains(r.Permissions, permission) }

func (v *visit) roles() ([]roleRow, error) {
	var reply struct {
		Items []roleRow `json:"items"`
	}
	return reply.Items, v.call("/role/list", map[string]any{"orderby": "created_at", "asc": true}, &reply)
}

type teamRow struct {
	ID      int64   `json:"team_id"`
	Name    string  `json:"team_name"`
	About   string  `json:"description"`
	Persons []int64 `json:"person_ids"`
}

// Has reports whether a person is in the team.
func (t teamRow) Has(person int64) bool { return slices.Contains(t.Persons, person) }

// teamsOf returns the teams of a person; 0: all teams.
func (v *visit) teamsOf(person int64) (all []teamRow, err error) {
	request := map[string]any{"orderby": "team_name", "asc": true, "person_id": person}
	err = eachPage(v, "/team/list", request, func(items []teamRow) bool {
		all = append(all, items...)
		return true
	})
	return all, err
}

type peopleView struct {
	titled
	People []account
	Roles  []roleRow
	Zones  []string
}

// RolesOf returns the names of a person's roles.
func (d peopleView) RolesOf(a account) (names []string) {
	for _, r := range d.Roles {
		if a.Has(r.ID) {
			names = append(names, r.Name)
		}
	}
	return names
}

func showPeople(v *visit) (view, error) {
	d := peopleView{titled: titled(v.T("People")), Zones: zones}
	var err error
	d.People, err = v.accounts(v.query("q"))
	if err != nil {
		return nil, err
	}
	d.Roles, err = v.roles()
	return d, err
}

// invitePerson adds a person, who is pending until there is a way to sign in.
func invitePerson(v *visit) (string, error) {
	one := map[string]any{"email": v.field("email")}
	for field, member := range map[string]string{"name": "member_name", "zone": "time_zone"} {
		if value := v.field(field); value != "" {
			one[member] = value
		}
	}
	var reply struct {
		Items []account `json:"items"`
	}
	if err := v.call("/member/invite", map[string]any{"members": []any{one}}, &reply); err != nil || len(reply.Items) == 0 {
		return "/people", err
	}
	return "/people/" + strconv.FormatInt(reply.Items[0].ID, 10) + "?done=invited", nil
}

type personView struct {
	titled
	Person     account
	Self       bool
	May        bool // change the profile
	Teams      []teamRow
	Roles      []roleRow
	Preference *preference // nil: the visitor may not see it
	Zones      []string
	Identity   bool        // the provider knows the person, and the visitor may remove that
	MayLink    bool        // make a link to set a password
	Link       *signInLink // made just now; nil: none was
}

func showPerson(v *visit) (view, error) {
	d := personView{Self: v.pathID() == v.who.PersonID, Zones: zones}
	all, err := v.accounts("")
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(a account) bool { return a.ID == v.pathID() })
	if at < 0 {
		return nil, &api.Refusal{Status: http.StatusNotFound, Code: "ResourceNotFound", Message: v.T("There is no such person.")}
	}
	d.Person = all[at]
	d.titled = titled(d.Person.Name)
	d.May = d.Self || v.who.May(auth.MembersManage)
	d.MayLink = v.mayLink(d.Person)
	d.Link, _ = v.made.(*signInLink)
	d.Teams, err = v.teamsOf(d.Person.ID)
	if err != nil {
		return nil, err
	}
	d.Roles, err = v.roles()
	if err != nil {
		return nil, err
	}
	if d.Self || v.who.Owner {
		p, err := v.preference(d.Person.ID)
		if err != nil {
			return nil, err
		}
		d.Preference = &p
	}
	if v.who.Owner {
		var has struct {
			Identity bool `json:"has_identity"`
		}
		if err := v.call("/person/security/info", map[string]any{"person_id": d.Person.ID}, &has); err != nil {
			return nil, err
		}
		d.Identity = has.Identity
	}
	if v.Failure != nil && v.r.PostForm.Has("name") { // the form stays as it was filled in
		d.Person.Name = v.field("name")
		d.Person.Email = v.field("email")
		d.Person.Locale = v.field("locale")
		d.Person.TimeZone = v.field("zone")
	}
	return d, nil
}

func (v *visit) personPath(done string) string {
	return "/people/" + url.PathEscape(v.r.PathValue("id")) + "?done=" + done
}

// savePerson changes what was sent of a profile; a phone number is sent only to change it, because it is shown in part.
func savePerson(v *visit) (string, error) {
	return v.personPath("saved"), v.saveProfile(v.pathID())
}

func (v *visit) saveProfile(person int64) error {
	request := map[string]any{"member_id": person}
	for field, member := range map[string]string{"name": "member_name", "email": "email", "zone": "time_zone"} {
		if v.r.PostForm.Has(field) {
			request[member] = v.field(field)
		}
	}
	for field, member := range map[string]string{"locale": "locale", "phone": "phone", "country": "country_code"} {
		if value := v.field(field); value != "" {
			request[member] = value
		}
	}
	return v.call("/member/info/reset", request, nil)
}

func saveRoles(v *visit) (string, error) {
	return v.personPath("saved"), v.call("/member/role/update", map[string]any{"member_id": v.pathID(), "role_ids": v.numbers("role")}, nil)
}

func deletePerson(v *visit) (string, error) {
	return "/people?done=deleted", v.call("/member/delete", map[string]any{"member_id": v.pathID()}, nil)
}

// numbers returns the numbers that a form holds in a field; others are left out.
func (v *visit) numbers(name string) []int64 {
	all := []int64{}
	for _, text := range v.r.PostForm[name] {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			all = append(all, n)
		}
	}
	return all
}

// zones are offered where a time zone is entered; any other IANA name can be typed.
var zones = []string{
	"UTC", "Africa/Cairo", "Africa/Johannesburg", "Africa/Lagos", "America/Chicago", "America/Denver", "America/Los_Angeles",
	"America/New_York", "America/Sao_Paulo", "Asia/Dubai", "Asia/Kolkata", "Asia/Shanghai", "Asia/Singapore", "Asia/Tokyo",
	"Australia/Sydney", "Europe/Berlin", "Europe/London", "Europe/Madrid", "Europe/Moscow", "Europe/Paris", "Pacific/Auckland",
}

// dayOf returns the beginning of a day that was entered, in the visitor's time zone, in Unix seconds.
func (v *visit) dayOf(text string) (int64, error) {
	t, err := time.ParseInLocation(time.DateOnly, text, v.Zone)
	if err != nil {
		return 0, refused(v.T("Enter a date."))
	}
	return t.Unix(), nil
}
