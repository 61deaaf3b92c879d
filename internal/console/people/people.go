package people

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/person"
	"tocsin/internal/signin"
	"tocsin/internal/team"
)

var peoplePages = []page.Page{
	{Path: "/people", Template: "people", Tab: "people", Show: showPeople},
	{Path: "/people/{id}", Template: "person", Tab: "people", Show: showPerson},
}

var peopleActions = []page.Action{
	{Path: "/people", Do: invitePerson, Show: showPeople, Template: "people", Needs: page.Rights{auth.MembersManage}},
	{Path: "/people/{id}", Do: savePerson, Show: showPerson, Template: "person"},
	{Path: "/people/{id}/roles", Do: saveRoles, Show: showPerson, Template: "person"},
	{Path: "/people/{id}/link", Do: linkPerson, Show: showPerson, Template: "person", Needs: page.Rights{auth.MembersManage}},
	{Path: "/people/{id}/second-factor/remove", Do: removeTheirSecond, Show: showPerson, Template: "person"},
	{Path: "/people/{id}/identity/remove", Do: removeIdentity, Show: showPerson, Template: "person", Needs: page.Rights{auth.MembersManage}},
	{Path: "/people/{id}/delete", Do: deletePerson, Show: showPerson, Template: "person", Needs: page.Rights{auth.MembersManage}},
}

// teamsOf returns the teams of a person; 0: all teams.
func teamsOf(v *page.Visit, person int64) (all []team.Team, err error) {
	request := team.ListRequest{OrderBy: "team_name", Asc: true, PersonID: person}
	err = page.ByPage[team.Listed](v, "/team/list", request, func(items []team.Team) bool {
		all = append(all, items...)
		return true
	})
	return all, err
}

type peopleView struct {
	page.Titled
	People  []person.Member
	Roles   []shownRole
	Offered []shownRole // that the visitor may grant
	Zones   []string
	onCall  map[int64][]string
	chosen  int64 // the role of the form; 0: none
}

// Chose reports whether a role is chosen in the form.
func (d peopleView) Chose(role int64) bool { return d.chosen == role }

// OnCall returns the schedules in which a person is on call now.
func (d peopleView) OnCall(person int64) string { return strings.Join(d.onCall[person], ", ") }

// RolesOf returns the names of a person's roles.
func (d peopleView) RolesOf(m person.Member) (names []string) {
	for _, r := range d.Roles {
		if slices.Contains(m.AccountRoleIDs, r.RoleID) {
			names = append(names, r.RoleName)
		}
	}
	return names
}

func showPeople(v *page.Visit) (page.View, error) {
	d := peopleView{Titled: page.Titled(v.T("People")), Zones: zones}
	var err error
	d.People, err = v.Accounts(v.Query("q"))
	if err != nil {
		return nil, err
	}
	d.onCall = map[int64][]string{}
	onCall, err := v.OnCallNow()
	if err != nil {
		return nil, err
	}
	for _, s := range onCall {
		for _, p := range s.Persons {
			d.onCall[p.ID] = append(d.onCall[p.ID], s.Schedule)
		}
	}
	d.Roles, err = roles(v)
	for _, r := range d.Roles {
		if r.Status != "disabled" && mayGrant(v, r) {
			d.Offered = append(d.Offered, r)
		}
		if r.Preset && r.RoleName == v.T("Responder") {
			d.chosen = r.RoleID
		}
	}
	if v.Request.PostForm.Has("email") {
		d.chosen = v.Number("role")
	}
	return d, err
}

// mayGrant reports whether the visitor has all permissions of a role.
func mayGrant(v *page.Visit, r shownRole) bool {
	return !slices.ContainsFunc(r.PermissionIDs, func(id int64) bool {
		p, known := auth.ByID(id)
		return known && !v.Who.May(p)
	})
}

// invitePerson adds persons, who are pending until there is a way to sign in.
func invitePerson(v *page.Visit) (string, error) {
	emails := page.Values(v.Field("email"))
	if len(emails) > 1 && v.Field("name")+v.Field("phone")+v.Field("ref") != "" {
		return "", page.Wrong(v.T("A name, a phone number or an id is for one person: invite them one by one, or without it."))
	}
	if len(emails) == 0 && v.Field("phone") != "" {
		emails = []string{""} // the number is enough
	}
	var request person.InviteRequest
	for _, email := range emails {
		request.Members = append(request.Members, person.Invited{
			Email: strings.TrimSpace(email), MemberName: v.Field("name"), Phone: v.Field("phone"), CountryCode: v.Field("country"),
			Locale: v.Field("locale"), TimeZone: v.Field("zone"), RefID: v.Field("ref"), RoleIDs: v.Numbers("role"),
		})
	}
	if len(request.Members) == 0 {
		return "", page.Wrong(v.T("Enter an e-mail address or a phone number."))
	}
	reply, err := page.Call[api.Items[person.InvitedItem]](v, "/member/invite", request)
	if err != nil || len(reply.Items) != 1 {
		return "/people?done=invited-all", err
	}
	return "/people/" + strconv.FormatInt(reply.Items[0].MemberID, 10) + "?done=invited", nil
}

type personView struct {
	page.Titled
	Person     person.Member
	Self       bool
	May        bool // change the profile
	Teams      []team.Team
	Roles      []shownRole
	Preference *notifying // nil: the visitor may not see it
	Zones      []string
	Owns       bool         // the visitor owns the account
	Second     bool         // the person signs in with a code of an app, and the visitor may remove that
	Identity   bool         // the provider knows the person, and the visitor may remove that
	MayLink    bool         // make a link to set a password
	Link       *signInLink  // made just now; nil: none was
	Leaves     *api.Removal // what the deletion would change; nil: it was not asked for
}

func showPerson(v *page.Visit) (page.View, error) {
	d := personView{Self: v.ID() == v.Who.PersonID, Zones: zones}
	all, err := v.Accounts("")
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(m person.Member) bool { return m.MemberID == v.ID() })
	if at < 0 {
		return nil, &api.Refusal{Status: http.StatusNotFound, Code: "ResourceNotFound", Message: v.T("There is no such person.")}
	}
	d.Person = all[at]
	d.Titled = page.Titled(d.Person.MemberName)
	d.May = d.Self || v.Who.May(auth.MembersManage)
	d.MayLink = mayLink(v, d.Person)
	d.Link, _ = v.Made.(*signInLink)
	d.Leaves, _ = v.Made.(*api.Removal)
	d.Teams, err = teamsOf(v, d.Person.MemberID)
	if err != nil {
		return nil, err
	}
	d.Roles, err = roles(v)
	if err != nil {
		return nil, err
	}
	if d.Self || v.Who.Owner {
		p, err := readPreference(v, d.Person.MemberID)
		if err != nil {
			return nil, err
		}
		d.Preference = &p
	}
	if v.Who.Owner {
		has, err := page.Call[signin.Security](v, "/person/security/info", signin.SecurityRequest{PersonID: d.Person.MemberID})
		if err != nil {
			return nil, err
		}
		d.Owns = true
		d.Second = has.HasSecondFactor
		d.Identity = has.HasIdentity
	}
	if v.Failure != nil && v.Request.PostForm.Has("name") { // the form stays as it was filled in
		d.Person.MemberName = v.Field("name")
		d.Person.Email = v.Field("email")
		d.Person.CountryCode = v.Field("country")
		d.Person.Avatar = v.Field("avatar")
		d.Person.RefID = v.Field("ref")
		d.Person.Locale = v.Field("locale")
		d.Person.TimeZone = v.Field("zone")
	}
	return d, nil
}

func personPath(v *page.Visit) string {
	return "/people/" + url.PathEscape(v.Request.PathValue("id")) + "?done=saved"
}

// savePerson changes what was sent of a profile; a phone number is sent only to change it, because it is shown in part.
func savePerson(v *page.Visit) (string, error) {
	return personPath(v), saveProfile(v, v.ID())
}

func saveProfile(v *page.Visit, id int64) error {
	request := person.MemberResetRequest{MemberID: id, MemberUpdates: person.MemberUpdates{
		MemberName: sent(v, "name"), Email: sent(v, "email"), TimeZone: sent(v, "zone"),
		Locale: filled(v, "locale"), Phone: filled(v, "phone"), CountryCode: sent(v, "country"), Avatar: sent(v, "avatar"), RefID: sent(v, "ref"),
	}}
	return page.Do[api.Empty](v, "/member/info/reset", request)
}

// sent returns what a form holds in a field; nil: the form has no such field.
func sent(v *page.Visit, name string) *string {
	if !v.Request.PostForm.Has(name) {
		return nil
	}
	return new(v.Field(name))
}

// filled returns what a form holds in a field; nil: nothing was entered.
func filled(v *page.Visit, name string) *string {
	if v.Field(name) == "" {
		return nil
	}
	return new(v.Field(name))
}

func saveRoles(v *page.Visit) (string, error) {
	request := person.MemberRoleRequest{MemberID: v.ID(), RoleIDs: v.Numbers("role")}
	return personPath(v), page.Do[api.Empty](v, "/member/role/update", request)
}

// deletePerson deletes a person, or shows what that would change.
func deletePerson(v *page.Visit) (string, error) {
	request := person.MemberDeleteRequest{MemberNames: person.MemberNames{MemberID: v.ID()}, IsForce: v.Field("force") != ""}
	if v.Field("do") == "review" {
		request.DryRun = page.DryRun
	}
	reply, err := page.Call[api.Removal](v, "/member/delete", request)
	if err != nil || !request.Only {
		return "/people?done=deleted", err
	}
	v.Made = &reply
	return "", nil
}

// zones are offered where a time zone is entered; any other IANA name can be typed.
var zones = []string{
	"UTC", "Africa/Cairo", "Africa/Johannesburg", "Africa/Lagos", "America/Chicago", "America/Denver", "America/Los_Angeles",
	"America/New_York", "America/Sao_Paulo", "Asia/Dubai", "Asia/Kolkata", "Asia/Shanghai", "Asia/Singapore", "Asia/Tokyo",
	"Australia/Sydney", "Europe/Berlin", "Europe/London", "Europe/Madrid", "Europe/Moscow", "Europe/Paris", "Pacific/Auckland",
}

// dayOf returns the beginning of a day that was entered, in the visitor's time zone, in Unix seconds.
func dayOf(v *page.Visit, text string) (int64, error) {
	t, err := time.ParseInLocation(time.DateOnly, text, v.Zone)
	if err != nil {
		return 0, page.Wrong(v.T("Enter a date."))
	}
	return t.Unix(), nil
}
