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
	"tocsin/internal/person"
	"tocsin/internal/role"
	"tocsin/internal/signin"
	"tocsin/internal/team"
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

// Initials returns what stands in the mark of a person with a name.
func (v *visit) Initials(name string) string {
	words := strings.Fields(name)
	letters := ""
	for _, word := range words[:min(2, len(words))] {
		letters += string([]rune(word)[0])
	}
	return strings.ToUpper(letters)
}

// Colour returns the number of a person's colour. Identifiers end alike, so their digits are mixed.
func (v *visit) Colour(person int64) uint64 { return uint64(person) * 0x9e3779b97f4a7c15 >> 61 }

// maxPeople is how many persons a page with all of them reads.
const maxPeople = 2000

// accounts returns the persons whose name or e-mail address contains a text, by name.
func (v *visit) accounts(part string) (all []person.Member, err error) {
	err = pageByPage[person.MemberListed](v, "/member/list", person.MemberListRequest{Query: part}, func(items []person.Member) bool {
		all = append(all, items...)
		return len(all) < maxPeople
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b person.Member) int {
		return strings.Compare(strings.ToLower(a.MemberName), strings.ToLower(b.MemberName))
	})
	return all, nil
}

func (v *visit) roles() ([]role.Role, error) {
	reply, err := call[role.Listed](v, "/role/list", role.ListRequest{OrderBy: "created_at", Asc: true})
	return reply.Items, err
}

// teamsOf returns the teams of a person; 0: all teams.
func (v *visit) teamsOf(person int64) (all []team.Team, err error) {
	request := team.ListRequest{OrderBy: "team_name", Asc: true, PersonID: person}
	err = pageByPage[team.Listed](v, "/team/list", request, func(items []team.Team) bool {
		all = append(all, items...)
		return true
	})
	return all, err
}

type peopleView struct {
	titled
	People []person.Member
	Roles  []role.Role
	Zones  []string
}

// RolesOf returns the names of a person's roles.
func (d peopleView) RolesOf(m person.Member) (names []string) {
	for _, r := range d.Roles {
		if slices.Contains(m.AccountRoleIDs, r.RoleID) {
			names = append(names, r.RoleName)
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
	one := person.Invited{Email: v.field("email"), MemberName: v.field("name"), TimeZone: v.field("zone")}
	request := person.InviteRequest{Members: []person.Invited{one}}
	reply, err := call[api.Items[person.InvitedItem]](v, "/member/invite", request)
	if err != nil || len(reply.Items) == 0 {
		return "/people", err
	}
	return "/people/" + strconv.FormatInt(reply.Items[0].MemberID, 10) + "?done=invited", nil
}

type personView struct {
	titled
	Person     person.Member
	Self       bool
	May        bool // change the profile
	Teams      []team.Team
	Roles      []role.Role
	Preference *notifying // nil: the visitor may not see it
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
	at := slices.IndexFunc(all, func(m person.Member) bool { return m.MemberID == v.pathID() })
	if at < 0 {
		return nil, &api.Refusal{Status: http.StatusNotFound, Code: "ResourceNotFound", Message: v.T("There is no such person.")}
	}
	d.Person = all[at]
	d.titled = titled(d.Person.MemberName)
	d.May = d.Self || v.who.May(auth.MembersManage)
	d.MayLink = v.mayLink(d.Person)
	d.Link, _ = v.made.(*signInLink)
	d.Teams, err = v.teamsOf(d.Person.MemberID)
	if err != nil {
		return nil, err
	}
	d.Roles, err = v.roles()
	if err != nil {
		return nil, err
	}
	if d.Self || v.who.Owner {
		p, err := v.preference(d.Person.MemberID)
		if err != nil {
			return nil, err
		}
		d.Preference = &p
	}
	if v.who.Owner {
		has, err := call[signin.Security](v, "/person/security/info", signin.SecurityRequest{PersonID: d.Person.MemberID})
		if err != nil {
			return nil, err
		}
		d.Identity = has.HasIdentity
	}
	if v.Failure != nil && v.r.PostForm.Has("name") { // the form stays as it was filled in
		d.Person.MemberName = v.field("name")
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

func (v *visit) saveProfile(id int64) error {
	request := person.MemberResetRequest{MemberID: id, MemberUpdates: person.MemberUpdates{
		MemberName: v.sent("name"), Email: v.sent("email"), TimeZone: v.sent("zone"),
		Locale: v.filled("locale"), Phone: v.filled("phone"), CountryCode: v.filled("country"),
	}}
	return do[api.Empty](v, "/member/info/reset", request)
}

// sent returns what a form holds in a field; nil: the form has no such field.
func (v *visit) sent(name string) *string {
	if !v.r.PostForm.Has(name) {
		return nil
	}
	return new(v.field(name))
}

// filled returns what a form holds in a field; nil: nothing was entered.
func (v *visit) filled(name string) *string {
	if v.field(name) == "" {
		return nil
	}
	return new(v.field(name))
}

func saveRoles(v *visit) (string, error) {
	request := person.MemberRoleRequest{MemberID: v.pathID(), RoleIDs: v.numbers("role")}
	return v.personPath("saved"), do[api.Empty](v, "/member/role/update", request)
}

func deletePerson(v *visit) (string, error) {
	request := person.MemberDeleteRequest{MemberNames: person.MemberNames{MemberID: v.pathID()}}
	return "/people?done=deleted", do[api.Removal](v, "/member/delete", request)
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
