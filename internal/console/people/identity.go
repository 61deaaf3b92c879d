package people

import (
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/person"
	"tocsin/internal/signin"
)

// signInLink is a link with which a person sets a password. It is shown this once.
type signInLink struct {
	signin.LinkCreated
	URL string
}

// mayLink reports whether the visitor may make a link for a person, as far as the page knows: the account's owner for
// any other, and those who invite for persons who have not signed in yet.
func mayLink(v *page.Visit, m person.Member) bool {
	return m.MemberID != v.Who.PersonID && (v.Who.Owner || m.Status == "pending") && v.Who.May(auth.MembersManage)
}

// removeIdentity removes who a person is at the provider, which ends the sessions that began there.
func removeIdentity(v *page.Visit) (string, error) {
	return personPath(v), page.Do[api.Empty](v, "/person/identity/remove", signin.IdentityRequest{PersonID: v.ID()})
}

// linkPerson makes a link with which a person sets a password.
func linkPerson(v *page.Visit) (string, error) {
	link, err := page.Call[signin.LinkCreated](v, "/person/link/create", signin.LinkRequest{PersonID: v.ID(), IsMailed: v.Field("mail") != ""})
	if err != nil {
		return "", err
	}
	v.Made = &signInLink{link, v.Origin() + link.LinkPath}
	return "", nil
}

// removeTheirSecond removes the second factor of a person, for which the account's owner enters the own password.
func removeTheirSecond(v *page.Visit) (string, error) {
	request := signin.RemovalRequest{PersonID: v.ID(), OwnPassword: signin.OwnPassword{Password: v.Request.PostFormValue("password")}}
	return personPath(v), page.Do[api.Empty](v, "/person/second-factor/remove", request)
}
